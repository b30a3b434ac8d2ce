package graph

// CoreNumbers returns the core number of every node: the largest k such that the node
// belongs to a set of nodes with at least k neighbours each within the set. Self
// loops and weights have no effect. It takes time in proportion to the edges
// (Batagelj and Zaveršnik, 2003).
func (g *Graph) CoreNumbers() []int {
	n := g.Len()
	left := make([]int, n) // neighbours that have not been removed
	most := 0
	for i, d := range g.Degrees() {
		if g.loop(i) != 0 {
			d--
		}
		left[i] = d
		most = max(most, d)
	}
	first := make([]int, most+2) // of each number of neighbours, the first place in order
	for _, d := range left {
		first[d+1]++
	}
	for d := range most + 1 {
		first[d+1] += first[d]
	}
	next, order, place := append([]int(nil), first...), make([]int, n), make([]int, n)
	for i, d := range left {
		order[next[d]], place[i] = i, next[d]
		next[d]++
	}
	// Nodes are removed in order. A neighbour with more neighbours left than the
	// removed node loses one: it changes places with the first of its bucket, and the
	// bucket below grows by that place.
	for _, i := range order { // order changes only behind the current place
		cols, _ := g.adj.Row(i)
		for _, c := range cols {
			j := int(c)
			if left[j] <= left[i] {
				continue
			}
			d := left[j]
			other := order[first[d]]
			order[place[j]], order[first[d]] = other, j
			place[j], place[other] = first[d], place[j]
			first[d]++
			left[j]--
		}
	}
	return left
}
