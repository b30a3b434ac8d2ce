package chol

import "math/bits"

// leaf is how many nodes a part may have for minimum degree to order it at once.
const (
	leaf       = 256
	fringeMost = 256 // nodes round a part that are looked at
	rowWords   = (leaf + fringeMost) / 64
)

// elimination orders the nodes of a small part by minimum degree: as every node is eliminated its neighbours become
// neighbours of each other. The fringe, nodes round the part that are eliminated later, counts as neighbours, because each
// of them is an entry of the factor. Rows of bits are sets of neighbours.
type elimination struct {
	row    [leaf][rowWords]uint64
	degree [leaf]int32
	left   [leaf]int32
	local  []int32 // number of a node of the whole graph within part and fringe, −1 elsewhere
	fringe []int32
}

// order appends the nodes of a part of g to out, in the order of their elimination.
func (e *elimination) order(g *adjacency, part, out []int32) []int32 {
	e.load(g, part)
	words := (len(part) + len(e.fringe) + 63) / 64
	left := e.left[:len(part)]
	for i := range left {
		left[i] = int32(i)
	}
	for len(left) > 0 {
		best := 0
		for k, i := range left {
			if e.degree[i] < e.degree[left[best]] {
				best = k
			}
		}
		v := left[best]
		copy(left[best:], left[best+1:])
		left = left[:len(left)-1]
		out = append(out, part[v])
		e.eliminate(v, int32(len(part)), words)
	}
	for _, v := range part {
		e.local[v] = -1
	}
	for _, v := range e.fringe {
		e.local[v] = -1
	}
	return out
}

// load sets the rows of all nodes of a part.
func (e *elimination) load(g *adjacency, part []int32) {
	e.fringe = e.fringe[:0]
	for i, v := range part {
		e.local[v] = int32(i)
		clear(e.row[i][:])
	}
	for i, v := range part {
		row := &e.row[i]
		for _, u := range g.around(v) {
			at := e.local[u]
			if at < 0 {
				if len(e.fringe) == fringeMost {
					continue
				}
				at = int32(len(part) + len(e.fringe))
				e.local[u] = at
				e.fringe = append(e.fringe, u)
			}
			row[at/64] |= 1 << (at % 64)
		}
		e.degree[i] = 0
		for _, word := range row {
			e.degree[i] += int32(bits.OnesCount64(word))
		}
	}
}

// eliminate joins the neighbours of v, which are below part if they are nodes of the part.
func (e *elimination) eliminate(v, part int32, words int) {
	from := e.row[v][:words]
	for k := range (part + 63) / 64 {
		for set := from[k]; set != 0; set &= set - 1 {
			u := k*64 + int32(bits.TrailingZeros64(set))
			if u >= part {
				return
			}
			row := e.row[u][:len(from)]
			degree := 0
			for w, x := range from {
				row[w] |= x
			}
			row[v/64] &^= 1 << (v % 64)
			row[u/64] &^= 1 << (u % 64)
			for _, x := range row {
				degree += bits.OnesCount64(x)
			}
			e.degree[u] = int32(degree)
		}
	}
}
