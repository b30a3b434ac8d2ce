package graph

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"grfgp/internal/parallel"
)

// pairs is a list of edges by smaller end, then by larger end, on its way from
// the given list to the rows of a matrix. Nodes come in ranges of equal size,
// the buckets; a bucket holds the pairs whose smaller end is in its range. What
// one bucket needs fits the cache, and buckets can be worked on side by side.
type pairs struct {
	n, shift int       // node i is in bucket i>>shift
	lo, hi   []int     // bucket b holds the pairs lo[b] to hi[b]
	key      []uint64  // smaller end <<32 | larger end, the latter with a mark until merge
	val      []float64 // nil: all 1
}

const reversed = 1 << 31 // marks an edge that was given as (larger, smaller)

func pairKey(row, col uint32) uint64        { return uint64(row)<<32 | uint64(col) }
func pairEnds(key uint64) (row, col uint32) { return uint32(key >> 32), uint32(key) }

// sortPairs turns each given edge into a pair or counts it as dropped. Repeats
// stay in the order in which they were given.
func sortPairs(n int, e Edges, keepLoops bool) (*pairs, BuildCounts) {
	const chunk = 1 << 17
	m := len(e.U)
	p := &pairs{n: n, shift: max(0, bits.Len(uint(n))-8)}
	buckets := n>>p.shift + 1
	loops, zeros := buckets, buckets+1 // two more buckets for what is dropped
	bucket := func(k int) int {
		u, v := e.U[k], e.V[k]
		switch {
		case u == v && !keepLoops:
			return loops
		case e.W != nil && e.W[k] == 0:
			return zeros
		}
		return int(min(u, v) >> p.shift)
	}
	s := newSplit((m+chunk-1)/chunk, buckets+2, func(c int, count []int) {
		for k := c * chunk; k < min(m, (c+1)*chunk); k++ {
			count[bucket(k)]++
		}
	})
	p.lo, p.hi = s.start[:buckets], s.start[1:buckets+1]
	counts := BuildCounts{
		Loops: s.start[loops+1] - s.start[loops],
		Zero:  s.start[zeros+1] - s.start[zeros],
	}
	p.key = make([]uint64, s.start[buckets])
	if e.W != nil {
		p.val = make([]float64, len(p.key))
	}
	s.place(func(c int, next []int) {
		for k := c * chunk; k < min(m, (c+1)*chunk); k++ {
			b := bucket(k)
			if b >= buckets {
				continue
			}
			u, v := e.U[k], e.V[k]
			mark := uint32((int64(v)-int64(u))>>63) & reversed
			p.key[next[b]] = pairKey(min(u, v), max(u, v)|mark)
			if p.val != nil {
				p.val[next[b]] = e.W[k]
			}
			next[b]++
		}
	})
	p.sort()
	return p, counts
}

// forBuckets calls do for every bucket, side by side; worker numbers scratch.
func (p *pairs) forBuckets(do func(worker, bucket int)) {
	_ = parallel.Blocks(context.Background(), len(p.lo), func(worker, b int) error {
		do(worker, b)
		return nil
	})
}

// rows returns the range of nodes of a bucket.
func (p *pairs) rows(bucket int) (lo, hi int) {
	return bucket << p.shift, min(p.n, (bucket+1)<<p.shift)
}

// sort orders every bucket: first by row, counting, then each row by column.
func (p *pairs) sort() {
	type scratch struct {
		end []int
		col []uint32
		val []float64
		row rowSorter
	}
	work := make([]scratch, parallel.Workers(len(p.lo)))
	p.forBuckets(func(worker, b int) {
		s, key := &work[worker], p.key[p.lo[b]:p.hi[b]]
		first, last := p.rows(b)
		// Row i starts at end[i+1], which the scattering moves to where it ends.
		s.end = grow(s.end, last-first+2)
		clear(s.end)
		for _, k := range key {
			s.end[int(k>>32)-first+2]++
		}
		addUp(s.end)
		s.col = grow(s.col, len(key))
		if p.val != nil {
			s.val = grow(s.val, len(key))
		}
		for x, k := range key {
			row, col := pairEnds(k)
			q := s.end[int(row)-first+1]
			s.end[int(row)-first+1]++
			s.col[q] = col
			if p.val != nil {
				s.val[q] = p.val[p.lo[b]+x]
			}
		}
		for i := range last - first {
			lo, hi := s.end[i], s.end[i+1]
			if p.val == nil {
				s.row.sort(s.col[lo:hi], nil)
			} else {
				s.row.sort(s.col[lo:hi], s.val[lo:hi])
			}
			for q := lo; q < hi; q++ {
				key[q] = pairKey(uint32(first+i), s.col[q])
			}
		}
		if p.val != nil {
			copy(p.val[p.lo[b]:p.hi[b]], s.val)
		}
	})
}

// merge makes one pair of all repeats, at the front of its bucket.
func (p *pairs) merge(rule Parallel, c *BuildCounts) {
	c.BothWays = p.bothWays()
	once := rule == ParallelOnce || rule == ParallelAuto && p.val == nil
	bothWays := rule == ParallelAuto && c.BothWays
	if rule == ParallelSum && p.val == nil {
		p.val = make([]float64, len(p.key))
		for x := range p.val {
			p.val[x] = 1
		}
	}
	hi := make([]int, len(p.hi))
	parts := make([]BuildCounts, len(p.hi))
	p.forBuckets(func(_, b int) {
		out, c := p.lo[b], &parts[b]
		for x := p.lo[b]; x < p.hi[b]; {
			y := p.repeats(x, p.hi[b])
			if first := p.key[x] & reversed; slices.ContainsFunc(p.key[x+1:y], func(key uint64) bool { return key&reversed != first }) {
				c.Reversed++
			}
			if p.val != nil {
				w := p.val[x]
				if !once && y-x > 1 {
					w = p.sum(x, y, bothWays, c)
				}
				p.val[out] = w
			}
			p.key[out] = p.key[x] &^ reversed
			if u, v := pairEnds(p.key[out]); u == v {
				c.KeptLoops++
			}
			c.Repeats += y - x - 1
			out++
			x = y
		}
		hi[b], c.Edges = out, out-p.lo[b]
	})
	p.hi = hi
	for _, part := range parts {
		c.Edges += part.Edges
		c.Repeats += part.Repeats
		c.Reversed += part.Reversed
		c.KeptLoops += part.KeptLoops
		c.WeightsAdd = c.WeightsAdd || part.WeightsAdd
	}
}

// repeats returns where the pairs with the same ends as pair x end.
func (p *pairs) repeats(x, hi int) int {
	y := x + 1
	for y < hi && (p.key[y]^p.key[x])&^reversed == 0 {
		y++
	}
	return y
}

// sum adds up the weights of pairs x to y; where all edges are listed in both
// directions, half of each. It sorts the weights first, so that the order of the
// list does not show in the last digit.
func (p *pairs) sum(x, y int, bothWays bool, c *BuildCounts) float64 {
	share, edges := 1.0, y-x
	if u, v := pairEnds(p.key[x] &^ reversed); bothWays && u != v {
		share, edges = 0.5, edges/2
	}
	if edges > 1 {
		c.WeightsAdd = true
	}
	slices.Sort(p.val[x:y])
	sum := 0.0
	for _, w := range p.val[x:y] {
		sum += share * w
	}
	return sum
}

// bothWays reports whether each pair is listed equally often, and with the same
// total weight but for rounding, in both directions. Self loops have no
// direction and do not matter.
func (p *pairs) bothWays() bool {
	found := false
	for b := range p.lo {
		for x := p.lo[b]; x < p.hi[b]; {
			y := p.repeats(x, p.hi[b])
			if u, v := pairEnds(p.key[x] &^ reversed); u == v {
				x = y
				continue
			}
			size, count, forward, back := y-x, 0, 0.0, 0.0
			for ; x < y; x++ {
				w := 1.0
				if p.val != nil {
					w = p.val[x]
				}
				if p.key[x]&reversed == 0 {
					count++
					forward += w
				} else {
					count--
					back += w
				}
			}
			const ulp = 0x1p-52
			if count != 0 || !(math.Abs(forward-back) <= float64(size)*ulp*forward) {
				return false
			}
			found = true
		}
	}
	return found
}

// symmetric returns the rows of the matrix that has each pair twice, self loops
// once. The pairs are mirrored first: in a row they come before the others.
func (p *pairs) symmetric() (rowPtr []int, col []uint32, val []float64) {
	mirror := p.mirror()
	base := make([]int, len(p.lo)+1) // where the rows of a bucket start
	for b := range p.lo {
		base[b+1] = base[b] + p.hi[b] - p.lo[b] + mirror.hi[b] - mirror.lo[b]
	}
	total := base[len(p.lo)]
	rowPtr, col, val = make([]int, p.n+1), make([]uint32, total), make([]float64, total)
	work := make([][]int, parallel.Workers(len(p.lo)))
	p.forBuckets(func(worker, b int) {
		first, last := p.rows(b)
		next := grow(work[worker], last-first+1)
		work[worker] = next
		clear(next)
		for _, from := range []*pairs{mirror, p} {
			for _, k := range from.key[from.lo[b]:from.hi[b]] {
				next[int(k>>32)-first+1]++
			}
		}
		next[0] = base[b]
		addUp(next)
		copy(rowPtr[first+1:last+1], next[1:])
		for _, from := range []*pairs{mirror, p} {
			for x := from.lo[b]; x < from.hi[b]; x++ {
				i, j := pairEnds(from.key[x])
				q := next[int(i)-first]
				next[int(i)-first]++
				col[q], val[q] = j, 1
				if from.val != nil {
					val[q] = from.val[x]
				}
			}
		}
	})
	return rowPtr, col, val
}

// mirror returns the pairs of different nodes the other way round, in buckets
// by their larger end; those with the same larger end by the smaller.
func (p *pairs) mirror() *pairs {
	buckets := len(p.lo)
	s := newSplit(buckets, buckets, func(c int, count []int) {
		for _, k := range p.key[p.lo[c]:p.hi[c]] {
			if i, j := pairEnds(k); i != j {
				count[j>>p.shift]++
			}
		}
	})
	m := &pairs{n: p.n, shift: p.shift, lo: s.start[:buckets], hi: s.start[1:]}
	m.key = make([]uint64, s.start[buckets])
	if p.val != nil {
		m.val = make([]float64, len(m.key))
	}
	s.place(func(c int, next []int) {
		for x := p.lo[c]; x < p.hi[c]; x++ {
			i, j := pairEnds(p.key[x])
			if i == j {
				continue
			}
			q := next[j>>p.shift]
			next[j>>p.shift]++
			m.key[q] = pairKey(j, i)
			if p.val != nil {
				m.val[q] = p.val[x]
			}
		}
	})
	return m
}
