package geometry

import (
	"cmp"
	"slices"
)

// Network is a graph of junctions.
type Network struct {
	Nodes []int32 // vertices that are junctions or ends, in the order of their numbers
	Edges []Edge  // sorted by their ends

	Loops    int // edges from a junction to itself, left out
	Parallel int // longer ones of several edges between two junctions, left out
	Pieces   int // connected components
	Largest  int // junctions of the largest
}

// Edge joins two vertices that are nodes.
type Edge struct {
	U, V         int32 // U < V
	Length       float64
	Road         int32 // of most of its length
	RoadU, RoadV int32 // at its ends
}

// Contract makes a network of paths over vertices: vertices that exactly two others follow
// are not nodes, and the chain over them is one edge. The number of a vertex decides
// between equal choices, and so does that of a road.
func Contract(paths []Path, vertices int, length func(u, v int32) float64) *Network {
	c := newChains(paths, vertices, length)
	n := &Network{}
	for v := range int32(vertices) {
		if c.isNode(v) {
			n.Nodes = append(n.Nodes, v)
		}
	}
	for _, v := range n.Nodes {
		c.follow(v)
	}
	n.Nodes = append(n.Nodes, c.rings(paths)...)
	slices.Sort(n.Nodes)
	n.take(c.edges)
	n.count()
	return n
}

// chains are the steps of paths, each once, as adjacency lists.
type chains struct {
	start []int32 // of the neighbours of a vertex
	next  []step
	keep  map[int32]bool // vertices of rings that are nodes
	edges []Edge
}

// step leads to a neighbour.
type step struct {
	to     int32
	road   int32
	length float64
	back   int32 // number of the opposite step
	done   bool
}

func newChains(paths []Path, vertices int, length func(u, v int32) float64) *chains {
	type pair struct{ u, v, road int32 }
	var pairs []pair
	for _, p := range paths {
		for k := 1; k < len(p.Vertices); k++ {
			if u, v := p.Vertices[k-1], p.Vertices[k]; u != v {
				pairs = append(pairs, pair{min(u, v), max(u, v), p.Road})
			}
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.u, b.u), cmp.Compare(a.v, b.v), cmp.Compare(a.road, b.road))
	})
	pairs = slices.CompactFunc(pairs, func(a, b pair) bool { return a.u == b.u && a.v == b.v })
	c := &chains{start: make([]int32, vertices+1), next: make([]step, 2*len(pairs)), keep: map[int32]bool{}}
	for _, p := range pairs {
		c.start[p.u+1]++
		c.start[p.v+1]++
	}
	for v := range vertices {
		c.start[v+1] += c.start[v]
	}
	fill := slices.Clone(c.start)
	for _, p := range pairs {
		d := length(p.u, p.v)
		i, j := fill[p.u], fill[p.v]
		c.next[i], c.next[j] = step{to: p.v, road: p.road, length: d, back: j}, step{to: p.u, road: p.road, length: d, back: i}
		fill[p.u]++
		fill[p.v]++
	}
	return c
}

func (c *chains) degree(v int32) int32 { return c.start[v+1] - c.start[v] }

func (c *chains) isNode(v int32) bool { return c.degree(v) > 0 && c.degree(v) != 2 || c.keep[v] }

// follow makes edges of the chains that begin at a node.
func (c *chains) follow(from int32) {
	for i := c.start[from]; i < c.start[from+1]; i++ {
		if c.next[i].done {
			continue
		}
		e, at := Edge{U: from, RoadU: c.next[i].road}, i
		var parts []part
		for {
			s := &c.next[at]
			s.done, c.next[s.back].done = true, true
			e.Length += s.length
			parts = addPart(parts, s.road, s.length)
			e.V, e.RoadV = s.to, s.road
			if c.isNode(s.to) {
				break
			}
			first := c.start[s.to] // of two
			if at = first; first == s.back {
				at++
			}
		}
		e.Road = longest(parts)
		if e.U > e.V {
			e.U, e.V, e.RoadU, e.RoadV = e.V, e.U, e.RoadV, e.RoadU
		}
		c.edges = append(c.edges, e)
	}
}

// part is the length of a road within an edge.
type part struct {
	road   int32
	length float64
}

func addPart(parts []part, road int32, length float64) []part {
	for k := range parts {
		if parts[k].road == road {
			parts[k].length += length
			return parts
		}
	}
	return append(parts, part{road, length})
}

func longest(parts []part) int32 {
	return slices.MinFunc(parts, func(a, b part) int { return cmp.Or(cmp.Compare(b.length, a.length), cmp.Compare(a.road, b.road)) }).road
}

// rings makes edges of rings without a junction. Their nodes are the vertices at which
// paths end, but at least the one with the smallest number.
func (c *chains) rings(paths []Path) (nodes []int32) {
	isEnd := map[int32]bool{}
	for _, p := range paths {
		isEnd[p.Vertices[0]], isEnd[p.Vertices[len(p.Vertices)-1]] = true, true
	}
	for v := range int32(len(c.start) - 1) {
		if c.degree(v) != 2 || c.next[c.start[v]].done && c.next[c.start[v]+1].done || c.keep[v] {
			continue
		}
		ring := c.ring(v)
		ends := slices.DeleteFunc(slices.Clone(ring), func(u int32) bool { return !isEnd[u] })
		if len(ends) < 2 {
			ends = ring[:1]
		}
		for _, u := range ends {
			c.keep[u] = true
		}
		for _, u := range ends {
			c.follow(u)
		}
		nodes = append(nodes, ends...)
	}
	return nodes
}

// ring returns the vertices of the ring through v, from v on.
func (c *chains) ring(v int32) []int32 {
	ring := []int32{v}
	for at := c.start[v]; ; {
		s := c.next[at]
		if s.to == v {
			return ring
		}
		ring = append(ring, s.to)
		if at = c.start[s.to]; at == s.back {
			at++
		}
	}
}

// take keeps the shortest edge between two nodes, and no loops.
func (n *Network) take(edges []Edge) {
	slices.SortFunc(edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.U, b.U), cmp.Compare(a.V, b.V), cmp.Compare(a.Length, b.Length), cmp.Compare(a.Road, b.Road))
	})
	for k, e := range edges {
		switch {
		case e.U == e.V:
			n.Loops++
		case k > 0 && edges[k-1].U == e.U && edges[k-1].V == e.V:
			n.Parallel++
		default:
			n.Edges = append(n.Edges, e)
		}
	}
}

// count counts the connected components.
func (n *Network) count() {
	place := make(map[int32]int32, len(n.Nodes))
	for k, v := range n.Nodes {
		place[v] = int32(k)
	}
	s := newSets(len(n.Nodes))
	for _, e := range n.Edges {
		s.join(place[e.U], place[e.V])
	}
	sizes := map[int32]int{}
	for k := range n.Nodes {
		sizes[s.find(int32(k))]++
	}
	n.Pieces = len(sizes)
	for _, size := range sizes {
		n.Largest = max(n.Largest, size)
	}
}
