package chol

// Sides of a bisection.
const separator = 2 // neither side 0 nor side 1

const (
	startsLarge = 6       // of the bisection of a large graph
	large       = 1 << 13 // nodes
	passes      = 3       // over the separator of a level, at most
	tolerated   = 0.6     // share of a side in all weight
	overload    = 4       // what a node beyond that costs, in nodes of the separator
)

// bisection cuts a graph into two sides and a separator, which every path from side to side meets.
type bisection struct {
	g      *adjacency
	side   []int32
	weight [3]int32
	nodes  []int32 // of the separator
}

// cost is what a bisection is chosen by: the weight of the separator, balance as a condition that may be bought off.
func (b *bisection) cost() int32 {
	return b.weight[separator] + overload*max(0, max(b.weight[0], b.weight[1])-b.g.most)
}

// uneven is the difference of the sides.
func (b *bisection) uneven() int32 { return max(b.weight[0]-b.weight[1], b.weight[1]-b.weight[0]) }

// better tells whether b is to be preferred to a bisection of the given cost and unevenness.
func (b *bisection) better(cost, uneven int32) bool {
	c := b.cost()
	return c < cost || c == cost && b.uneven() < uneven
}

// bisect cuts g on the coarsest of its levels and refines the cut from level to level. Cuts of a large graph, which decide the
// cost of the factor, compete on a level in between, where several starts cost little.
func (f *mover) bisect(g adjacency, mem *arena) bisection {
	g.node, g.total = mem.take(g.len()), int32(g.len())
	g.most = int32(tolerated * float64(g.total))
	for v := range g.node {
		g.node[v] = 1
	}
	all := levels(g, mem)
	f.reset(g.len(), mem)
	top, final, starts := len(all)-1, len(all)-1, 1
	if g.len() >= large {
		starts = startsLarge
		for final > 0 && 16*all[final-1].len() <= g.len() {
			final--
		}
	}
	best := bisection{g: &all[final].adjacency, side: mem.take(all[final].len())}
	used := mem.used
	for k := range starts {
		mem.used = used
		b := f.descend(f.start(&all[top].adjacency, k, starts, mem), all[final:top], mem)
		if k == 0 || b.better(best.cost(), best.uneven()) {
			copy(best.side, b.side)
			best.weight, best.nodes = b.weight, append(best.nodes[:0], b.nodes...)
		}
	}
	mem.used = used
	return f.descend(best, all[:final], mem)
}

// start cuts a small graph by growth from start k of several: the first is a node far from others.
func (f *mover) start(g *adjacency, k, starts int, mem *arena) bisection {
	b := bisection{g: g, side: mem.take(g.len())}
	queue := mem.take(g.len())
	seed := int32(g.len() * k / starts)
	if k == 0 {
		seed = g.grow(g.grow(0, b.side, queue), b.side, queue)
	}
	g.grow(seed, b.side, queue)
	b.border()
	f.refine(&b)
	return b
}

// descend refines b from level to level, up to the first.
func (f *mover) descend(b bisection, to []level, mem *arena) bisection {
	for k := len(to) - 1; k >= 0; k-- {
		b = b.project(&to[k], mem)
		f.refine(&b)
	}
	return b
}

// grow sets side 0 to the nodes nearest to the seed, of half the weight together, and side 1 to the others. It returns the
// node that is farthest from the seed.
func (g *adjacency) grow(seed int32, side, queue []int32) int32 {
	const unseen = 3
	for v := range side {
		side[v] = unseen
	}
	weight, tail := int32(0), 0
	reach := func(v int32) {
		if side[v] != unseen {
			return
		}
		side[v] = 1
		if 2*weight < g.total {
			side[v] = 0
		}
		weight += g.node[v]
		queue[tail] = v
		tail++
	}
	reach(seed)
	next := int32(0) // where another component may begin
	for head := 0; head < len(queue); head++ {
		for ; head == tail; next++ {
			reach(next)
		}
		for _, u := range g.around(queue[head]) {
			reach(u)
		}
	}
	return queue[len(queue)-1]
}

// border makes a separator of the nodes of one side that touch the other, whichever weigh less.
func (b *bisection) border() {
	var touching [2]int32
	b.weight = [3]int32{}
	touches := func(v int32) bool {
		for _, u := range b.g.around(v) {
			if b.side[u] == 1-b.side[v] {
				return true
			}
		}
		return false
	}
	for v, s := range b.side {
		b.weight[s] += b.g.node[v]
		if touches(int32(v)) {
			touching[s] += b.g.node[v]
		}
	}
	from := int32(0)
	if touching[1] < touching[0] {
		from = 1
	}
	b.nodes = b.nodes[:0]
	for v, s := range b.side {
		if s == from && touches(int32(v)) {
			b.nodes = append(b.nodes, int32(v))
		}
	}
	for _, v := range b.nodes {
		b.side[v] = separator
	}
	b.weight[from] -= touching[from]
	b.weight[separator] = touching[from]
}

// project is the bisection of the finer graph whose cells are the nodes of b.
func (b *bisection) project(fine *level, mem *arena) bisection {
	out := bisection{g: &fine.adjacency, side: mem.take(fine.len()), weight: b.weight, nodes: mem.take(2 * len(b.nodes))[:0]}
	for v, c := range fine.cell {
		s := b.side[c]
		out.side[v] = s
		if s == separator {
			out.nodes = append(out.nodes, int32(v))
		}
	}
	return out
}
