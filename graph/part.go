package graph

import (
	"fmt"
	"slices"

	"grfgp/internal/parallel"
	"grfgp/sparse"
)

// Part is a range of nodes with the nodes around it: what random walks from the range see of the
// graph. It takes memory in proportion to itself, not to the graph, so that a process that
// owns a range of a mapped graph need not hold the rest.
type Part struct {
	lo, hi   int
	first    int // row of the first node of the range
	numbers  []uint32
	local    *Graph    // of the nodes of the part; its ids are not used
	strength []float64 // in the whole graph
}

// Part returns the nodes [lo, hi) and all nodes within some hops of them.
func (g *Graph) Part(lo, hi, hops int) (*Part, error) {
	if lo < 0 || lo > hi || hi > g.Len() || hops < 0 {
		return nil, fmt.Errorf("%w: nodes [%d, %d) of %d, and %d hops round them", ErrInvalid, lo, hi, g.Len(), hops)
	}
	around := g.around(lo, hi, hops)
	first, _ := slices.BinarySearch(around, uint32(lo))
	p := &Part{lo: lo, hi: hi, first: first, numbers: make([]uint32, 0, hi-lo+len(around))}
	p.numbers = append(p.numbers, around[:first]...)
	for i := lo; i < hi; i++ {
		p.numbers = append(p.numbers, uint32(i))
	}
	p.numbers = append(p.numbers, around[first:]...)
	p.strength = make([]float64, len(p.numbers))
	rowPtr := make([]int, len(p.numbers)+1)
	forRows := func(do func(k int, cols []uint32, vals []float64)) {
		parallel.Ranges(len(p.numbers), rowBlock, func(a, b int) {
			for k := a; k < b; k++ {
				cols, vals := g.adj.Row(int(p.numbers[k]))
				do(k, cols, vals)
			}
		})
	}
	forRows(func(k int, cols []uint32, vals []float64) {
		p.strength[k] = sum(vals)
		for _, j := range cols {
			if p.Local(int(j)) >= 0 {
				rowPtr[k+1]++
			}
		}
	})
	total := addUp(rowPtr)
	col, val := make([]uint32, total), make([]float64, total)
	forRows(func(k int, cols []uint32, vals []float64) {
		q := rowPtr[k]
		for e, j := range cols {
			if at := p.Local(int(j)); at >= 0 {
				col[q], val[q] = uint32(at), vals[e]
				q++
			}
		}
	})
	p.local = &Graph{adj: mustCSR(len(p.numbers), rowPtr, col, val), ids: NumberIDs(len(p.numbers))}
	return p, nil
}

// around returns the nodes outside [lo, hi) within some hops of it, in increasing order.
func (g *Graph) around(lo, hi, hops int) []uint32 {
	var all, last, next []uint32
	outside := func(i int) {
		cols, _ := g.adj.Row(i)
		for _, j := range cols {
			if int(j) < lo || int(j) >= hi {
				next = append(next, j)
			}
		}
	}
	for h := range hops {
		next = nil
		if h == 0 {
			for i := lo; i < hi; i++ {
				outside(i)
				if len(next) > 1<<20 && len(next) > 4*len(last) { // hubs repeat
					slices.Sort(next)
					next = slices.Compact(next)
					last = next
				}
			}
		} else {
			for _, i := range last {
				outside(int(i))
			}
		}
		slices.Sort(next)
		next = slices.Compact(next)
		last = without(next, all)
		if len(last) == 0 {
			break
		}
		all = append(all, last...)
		slices.Sort(all)
	}
	return all
}

// without returns what is in a but not in b, both in increasing order.
func without(a, b []uint32) []uint32 {
	var rest []uint32
	for _, x := range a {
		for len(b) > 0 && b[0] < x {
			b = b[1:]
		}
		if len(b) == 0 || b[0] != x {
			rest = append(rest, x)
		}
	}
	return rest
}

// Range returns the range of nodes that the part was made for.
func (p *Part) Range() (lo, hi int) { return p.lo, p.hi }

// Numbers returns the nodes of the part in increasing order, to be read only: row k of its matrices
// is that of node Numbers()[k].
func (p *Part) Numbers() []uint32 { return p.numbers }

// Local returns the row of a node, −1 if it is not in the part.
func (p *Part) Local(node int) int {
	if node >= p.lo && node < p.hi {
		return p.first + node - p.lo
	}
	if k, found := slices.BinarySearch(p.numbers, uint32(node)); found {
		return k
	}
	return -1
}

// Normalized returns W of the part: a square matrix of its nodes. Rows of the range, and of nodes
// nearer to it than the hops of the part, are those of Graph.Normalized to the last bit; those of the
// outermost nodes lack neighbours outside the part.
func (p *Part) Normalized(n Normalization) (*sparse.CSR, error) {
	if n == RawDiffusion {
		return nil, fmt.Errorf("%w: %v needs the largest strength of the whole graph: take another normalisation", ErrInvalid, n)
	}
	return p.local.normalized(n, p.strength), nil
}

// WalkScale returns what Graph.WalkScale has for the nodes of the part.
func (p *Part) WalkScale(n Normalization) []float64 { return walkScale(n, slices.Clone(p.strength)) }

// Nearest returns the nodes of the range within some hops of a node outside, in increasing order:
// all that walks of so many hops can leave the range from. The part must have one hop round it at least.
func (p *Part) Nearest(hops int) []int {
	first, n := p.first, p.hi-p.lo
	met := make([]bool, n)
	var last, all []int
	meet := func(k int) {
		if !met[k] {
			met[k] = true
			last, all = append(last, k), append(all, p.lo+k)
		}
	}
	inside := func(k int) bool { return k >= first && k < first+n }
	if hops > 0 {
		for k := range p.numbers {
			if inside(k) {
				continue
			}
			cols, _ := p.local.adj.Row(k)
			for _, j := range cols {
				if inside(int(j)) {
					meet(int(j) - first)
				}
			}
		}
	}
	for h := 1; h < hops && len(last) > 0; h++ {
		from := last
		last = nil
		for _, k := range from {
			cols, _ := p.local.adj.Row(first + k)
			for _, j := range cols {
				if inside(int(j)) {
					meet(int(j) - first)
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

// Bytes returns the memory of the part with its matrix W.
func (p *Part) Bytes() int64 {
	return int64(len(p.numbers))*(4+8+8+8) + int64(p.local.adj.NNZ())*(4+8+8)
}
