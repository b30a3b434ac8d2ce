package harmonic

import (
	"slices"

	"grfgp/sparse"
)

// elimination takes nodes of at most two live neighbours out of a network, one by
// one. Such a node is a weighted mean of its neighbours and its ground; put into
// their equations, it leaves an edge between the two and adds to their grounds.
// All terms are positive, so nothing cancels.
type elimination struct {
	weights        *sparse.CSR
	live           []bool // unknown, in reach of a known node, and not taken out
	ground, source []float64
	added          [][]edge // that eliminated nodes left behind; there may be several to one neighbour
	degree         []int    // edges to live nodes, those to the same one counted apart
	out            []taken
}

type edge struct {
	to     int
	weight float64
}

// taken is a node that was taken out: x = (source + Σ weight·x_to) / total.
type taken struct {
	node          int
	ends          [2]edge // the first count of them
	count         int
	source, total float64
}

// newElimination returns the network of all nodes that can reach a known one.
// Values are counted from center.
func newElimination(weights *sparse.CSR, known []bool, value []float64, center float64) *elimination {
	n := len(known)
	e := &elimination{weights: weights, live: make([]bool, n), ground: make([]float64, n), source: make([]float64, n),
		added: make([][]edge, n), degree: make([]int, n)}
	var reached []int
	for i, ok := range known {
		if !ok {
			continue
		}
		cols, vals := weights.Row(i)
		for p, j := range cols {
			if known[j] {
				continue
			}
			e.ground[j] += vals[p]
			e.source[j] += vals[p] * (value[i] - center)
			if !e.live[j] {
				e.live[j] = true
				reached = append(reached, int(j))
			}
		}
	}
	for len(reached) > 0 {
		i := reached[len(reached)-1]
		reached = reached[:len(reached)-1]
		cols, _ := weights.Row(i)
		for _, j := range cols {
			if int(j) == i || known[j] {
				continue
			}
			e.degree[i]++
			if !e.live[j] {
				e.live[j] = true
				reached = append(reached, int(j))
			}
		}
	}
	return e
}

// fewEdges is from where on a node is looked at closely: several of its edges may
// lead to the same neighbour.
const fewEdges = 6

// run takes out nodes until all that are left have three neighbours or more.
func (e *elimination) run() {
	var queue []int
	for i, ok := range e.live {
		if ok && e.degree[i] <= fewEdges {
			queue = append(queue, i)
		}
	}
	for len(queue) > 0 {
		i := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if !e.live[i] || e.degree[i] > fewEdges {
			continue
		}
		ends := e.neighbours(i)
		if len(ends) > 2 {
			continue
		}
		t := taken{node: i, count: len(ends), source: e.source[i], total: e.ground[i]}
		for k, b := range ends {
			t.ends[k] = b
			t.total += b.weight
		}
		e.live[i] = false
		e.out = append(e.out, t)
		for k, b := range ends {
			share := b.weight / t.total
			e.ground[b.to] += share * e.ground[i]
			e.source[b.to] += share * e.source[i]
			e.degree[b.to] -= e.parallel(i, b.to)
			if len(ends) == 2 {
				other := ends[1-k]
				e.added[b.to] = append(e.added[b.to], edge{other.to, share * other.weight})
				e.degree[b.to]++
			}
			queue = append(queue, b.to)
		}
		e.added[i] = nil
	}
}

// neighbours returns the live neighbours of node i, each once.
func (e *elimination) neighbours(i int) []edge {
	var ends []edge
	add := func(j int, w float64) {
		if j == i || !e.live[j] {
			return
		}
		if k := slices.IndexFunc(ends, func(b edge) bool { return b.to == j }); k >= 0 {
			ends[k].weight += w
		} else {
			ends = append(ends, edge{j, w})
		}
	}
	cols, vals := e.weights.Row(i)
	for p, j := range cols {
		add(int(j), vals[p])
	}
	for _, b := range e.added[i] {
		add(b.to, b.weight)
	}
	return ends
}

// parallel counts the edges from i to j.
func (e *elimination) parallel(i, j int) int {
	count := 0
	cols, _ := e.weights.Row(i)
	if _, ok := slices.BinarySearch(cols, uint32(j)); ok {
		count++
	}
	for _, b := range e.added[i] {
		if b.to == j {
			count++
		}
	}
	return count
}

// core returns the network of the nodes that are left, and which these are.
func (e *elimination) core() (*network, []int) {
	var nodes []int
	place := make([]int, len(e.live))
	for i, ok := range e.live {
		if ok {
			place[i] = len(nodes)
			nodes = append(nodes, i)
		}
	}
	n := &network{from: make([]int, 1, len(nodes)+1)}
	mark := make([]int, len(nodes)) // 1 + where an edge to a node is, if it is of this row
	for _, i := range nodes {
		start := len(n.to)
		add := func(j int, w float64) {
			if j == i || !e.live[j] {
				return
			}
			at := place[j]
			if p := mark[at] - 1; p >= start {
				n.weight[p] += w
				return
			}
			n.to, n.weight = append(n.to, uint32(at)), append(n.weight, w)
			mark[at] = len(n.to)
		}
		cols, vals := e.weights.Row(i)
		for p, j := range cols {
			add(int(j), vals[p])
		}
		for _, b := range e.added[i] {
			add(b.to, b.weight)
		}
		n.from = append(n.from, len(n.to))
		n.ground, n.source = append(n.ground, e.ground[i]), append(n.source, e.source[i])
	}
	return n, nodes
}

// substitute sets the values of the nodes that were taken out, last first.
func (e *elimination) substitute(value []float64, center float64) {
	for _, t := range slices.Backward(e.out) {
		sum := t.source
		for _, b := range t.ends[:t.count] {
			sum += b.weight * (value[b.to] - center)
		}
		value[t.node] = center + sum/t.total
	}
}
