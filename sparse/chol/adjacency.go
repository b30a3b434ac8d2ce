package chol

// adjacency is a graph on its way to an order: neighbours of node v are adj[ptr[v]:ptr[v+1]], without v itself. Coarser
// graphs have weights: nodes are sets of nodes, edges are sets of edges.
type adjacency struct {
	ptr, adj []int32
	node     []int32 // weights of nodes
	edge     []int32 // weights of edges; nil: all are 1
	total    int32   // weight of all nodes
	most     int32   // weight of a side that is tolerated
}

func (g *adjacency) len() int { return len(g.ptr) - 1 }

func (g *adjacency) around(v int32) []int32 { return g.adj[g.ptr[v]:g.ptr[v+1]] }

// arena hands out memory for one piece of work after the other, which give it back in reverse order: a recursion that
// took fresh memory at every level would spend its time on the collector's.
type arena struct {
	block []int32
	used  int
}

// take returns n numbers, whatever they are.
func (a *arena) take(n int) []int32 {
	if a.used+n > len(a.block) {
		return make([]int32, n)
	}
	x := a.block[a.used : a.used+n : a.used+n]
	a.used += n
	return x
}

// room sees to it that as many numbers are at hand, while none are taken.
func (a *arena) room(n int) {
	if a.used == 0 && len(a.block) < n {
		a.block = make([]int32, n)
	}
}

// induced returns the graph of some nodes of g, of which name says the new number, −1 for those that are left out.
func (g *adjacency) induced(nodes, name []int32, mem *arena) adjacency {
	entries := 0
	for _, v := range nodes {
		entries += int(g.ptr[v+1] - g.ptr[v])
	}
	s := adjacency{ptr: mem.take(len(nodes) + 1), adj: mem.take(entries)}
	at := int32(0)
	for i, v := range nodes {
		s.ptr[i] = at
		for _, u := range g.around(v) {
			if to := name[u]; to >= 0 {
				s.adj[at] = to
				at++
			}
		}
	}
	s.ptr[len(nodes)] = at
	s.adj = s.adj[:at]
	return s
}

// components returns the nodes of every connected component, by smallest nodes.
func (g *adjacency) components() [][]int32 {
	n := g.len()
	part, queue := make([]int32, n), make([]int32, 0, n)
	var sizes []int32
	for i := range part {
		part[i] = -1
	}
	for root := range int32(n) {
		if part[root] >= 0 {
			continue
		}
		c := int32(len(sizes))
		part[root] = c
		queue = append(queue[:0], root)
		for head := 0; head < len(queue); head++ {
			for _, u := range g.around(queue[head]) {
				if part[u] < 0 {
					part[u] = c
					queue = append(queue, u)
				}
			}
		}
		sizes = append(sizes, int32(len(queue)))
	}
	lists, room := make([][]int32, len(sizes)), make([]int32, n)
	for c, size := range sizes {
		lists[c], room = room[:0:size], room[size:]
	}
	for v, c := range part {
		lists[c] = append(lists[c], int32(v))
	}
	return lists
}
