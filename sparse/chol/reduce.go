package chol

// reduction eliminates nodes of one or two neighbours, which no order does better: a node of two leaves an edge between
// them. It does so in rounds of nodes that are no neighbours, so that a path of n nodes becomes a tree of depth log n
// rather than n: chains and trees vanish, and roads and pipes shrink to their junctions.
type reduction struct {
	g      *adjacency
	degree []int32
	ends   [][2]int32 // of an eliminated node: its neighbours, −1 for none
	gone   []bool
	round  []int32 // the last round in which a neighbour was eliminated
	order  []int32
}

const none = -1

// reduce returns the nodes that it eliminates, in order, and the graph of the others with their numbers in g.
func reduce(g *adjacency) (order []int32, rest adjacency, nodes []int32) {
	n := g.len()
	few := 0
	for v := range n {
		if g.ptr[v+1]-g.ptr[v] <= 2 {
			few++
		}
	}
	if few < n/16 {
		return nil, *g, nil
	}
	r := reduction{g: g, degree: make([]int32, n), ends: make([][2]int32, n), gone: make([]bool, n), round: make([]int32, n)}
	now := make([]int32, 0, few)
	for v := range int32(n) {
		r.degree[v] = g.ptr[v+1] - g.ptr[v]
		if r.degree[v] <= 2 {
			now = append(now, v)
		}
	}
	var later []int32
	for round := int32(1); len(now) > 0; round++ {
		later = later[:0]
		for _, v := range now {
			later = r.eliminate(v, round, later)
		}
		now, later = later, now
	}
	rest, nodes = r.rest()
	return r.order, rest, nodes
}

// eliminate eliminates v if that may be, and appends what may follow in the next round.
func (r *reduction) eliminate(v, round int32, later []int32) []int32 {
	if r.gone[v] {
		return later
	}
	if r.round[v] == round {
		return append(later, v)
	}
	ends, ok := r.neighbours(v)
	if !ok {
		return later
	}
	r.gone[v], r.ends[v] = true, ends
	r.order = append(r.order, v)
	met := ends[0] != none && ends[1] != none && r.adjacent(ends[0], ends[1])
	if met { // the path through v is no new edge
		r.ends[v] = [2]int32{none, none}
	}
	for _, u := range ends {
		if u == none {
			continue
		}
		if ends[1] == none || met {
			r.degree[u]--
		}
		r.round[u] = round
		if r.degree[u] <= 2 {
			later = append(later, u)
		}
	}
	return later
}

// neighbours returns the neighbours of v if there are no more than two.
func (r *reduction) neighbours(v int32) (ends [2]int32, ok bool) {
	ends = [2]int32{none, none}
	count := 0
	for p := r.g.ptr[v]; p < r.g.ptr[v+1]; p++ {
		u := r.follow(v, p)
		if u == none || u == ends[0] || u == ends[1] {
			continue
		}
		if count == 2 {
			return ends, false
		}
		ends[count] = u
		count++
	}
	return ends, true
}

// follow returns the node that entry p of node v leads to by way of eliminated ones; none if nowhere, or back to v.
func (r *reduction) follow(v, p int32) int32 {
	u := r.g.adj[p]
	for from := v; u != none && r.gone[u]; {
		ends := r.ends[u]
		switch from {
		case ends[0]:
			u = ends[1]
		case ends[1]:
			u = ends[0]
		default:
			u = none
		}
	}
	if u == v {
		u = none
	}
	r.g.adj[p] = u
	return u
}

// adjacent tells whether two nodes are known to be neighbours. It looks at short lists only: not to know costs a node of
// two neighbours that is taken to have three.
func (r *reduction) adjacent(a, b int32) bool {
	const short = 16
	if r.g.ptr[a+1]-r.g.ptr[a] > r.g.ptr[b+1]-r.g.ptr[b] {
		a, b = b, a
	}
	if r.g.ptr[a+1]-r.g.ptr[a] > short {
		return false
	}
	for p := r.g.ptr[a]; p < r.g.ptr[a+1]; p++ {
		if u := r.g.adj[p]; u != none && !r.gone[u] && u == b {
			return true
		}
	}
	return false
}

// rest returns the graph of the nodes that are left, and their numbers in g.
func (r *reduction) rest() (adjacency, []int32) {
	n := r.g.len()
	var nodes []int32
	name, seen := make([]int32, n), make([]int32, n)
	for v := range int32(n) {
		seen[v] = none
		if !r.gone[v] {
			name[v] = int32(len(nodes))
			nodes = append(nodes, v)
		}
	}
	rest := adjacency{ptr: make([]int32, 1, len(nodes)+1)}
	for _, v := range nodes {
		for p := r.g.ptr[v]; p < r.g.ptr[v+1]; p++ {
			if u := r.follow(v, p); u != none && seen[u] != v {
				seen[u] = v
				rest.adj = append(rest.adj, name[u])
			}
		}
		rest.ptr = append(rest.ptr, int32(len(rest.adj)))
	}
	return rest, nodes
}
