package kernel

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
)

// Searches measure one node after another. The lists that belong to their measurements then
// grow by a row or a few, which may be anywhere in them, and what was computed of the others is
// copied: it takes a fraction of the time, and the bits are the same.

// grownPlaces cuts the places [lo, hi) of a list into runs that the list before had, from place
// from on, and single places (others, which increase) that it had not: from is then −1.
func grownPlaces(others []int, lo, hi int, do func(lo, hi, from int)) {
	before, _ := slices.BinarySearch(others, lo)
	for lo < hi {
		next := hi
		if before < len(others) {
			next = min(next, others[before])
		}
		if lo < next {
			do(lo, next, lo-before)
			lo = next
			continue
		}
		do(lo, lo+1, -1)
		lo++
		before++
	}
}

// grownEach calls do as grownPlaces does for all n places, in parallel.
func grownEach(n int, others []int, do func(lo, hi, from int)) {
	parallel.Ranges(n, 1024, func(lo, hi int) { grownPlaces(others, lo, hi, do) })
}

// grownPattern sets the columns of a pattern from that of the list without others. It reports
// false where columns have to be numbered anew.
func (k *sampledRows) grownPattern(p, last *pattern, others []int) bool {
	if last.err != nil {
		return false
	}
	labels := func(node uint32) uint32 { return node }
	if p.nodes, p.width = nil, last.width; last.nodes != nil {
		if len(others) > 0 && others[0] < len(last.rows) {
			return false // columns are numbered from the first row to the last
		}
		table := k.labels.Get().(*[]uint32)
		defer k.labels.Put(table)
		p.nodes = slices.Clone(last.nodes)
		for c, node := range p.nodes {
			(*table)[node] = uint32(c + 1)
		}
		defer func(nodes *[]uint32) { unlabel(*table, *nodes) }(&p.nodes)
		for _, a := range others {
			for _, node := range p.own.Reached(a) {
				if (*table)[node] == 0 {
					p.nodes = append(p.nodes, node)
					(*table)[node] = uint32(len(p.nodes))
				}
			}
		}
		if 2*len(p.nodes) > k.Nodes() {
			return false
		}
		p.width = len(p.nodes)
		labels = func(node uint32) uint32 { return (*table)[node] - 1 }
	}
	grownEach(len(p.rows), others, func(lo, hi, from int) {
		if from >= 0 {
			copy(p.col[p.ptr[lo]:p.ptr[hi]], last.col[last.ptr[from]:])
			return
		}
		for e, node := range p.own.Reached(lo) {
			p.col[p.ptr[lo]+e] = labels(node)
		}
	})
	if last.isTransposed.Load() {
		p.before.Store(&transposedBefore{last.ptr, last.transposed, last.from, others})
	}
	p.reach = make([]span, len(p.rows))
	known := last.spans()
	grownEach(len(p.rows), others, func(lo, hi, from int) {
		if from >= 0 {
			copy(p.reach[lo:hi], known[from:])
			return
		}
		p.reach[lo] = spanOf(p.own.Reached(lo))
	})
	return true
}

// grown returns the pattern of a list that has one at hand, or that has grown from one; nil: it
// has not.
func (k *sampledRows) grown(rows []int) *pattern {
	if _, _, near := k.patterns.Near(rows); !near || k.isAll(rows) {
		return nil
	}
	if p := k.pattern(rows); p.err == nil {
		return p
	}
	return nil
}

// values sets val to the entries of Φ[rows, :]. Those of a list used before are copied.
func (c *grfCovariance) values(val []float64, p *pattern) {
	last, others, ok := c.factors.Near(p.rows)
	if !ok || last.err != nil {
		eachPlace(len(p.rows), func(a int) { p.own.CombineRow(val[p.ptr[a]:p.ptr[a+1]], c.coeff, a) })
		return
	}
	_, _, known := last.phi.Raw()
	grownEach(len(p.rows), others, func(lo, hi, from int) {
		if from >= 0 {
			copy(val[p.ptr[lo]:p.ptr[hi]], known[last.ptr[from]:])
			return
		}
		p.own.CombineRow(val[p.ptr[lo]:p.ptr[hi]], c.coeff, lo)
	})
}

// span is the smallest and the largest column of a row; of a row without entries the
// first is larger.
type span struct{ least, most uint32 }

func spanOf(cols []uint32) span {
	if len(cols) == 0 {
		return span{1, 0}
	}
	s := span{cols[0], cols[0]}
	for _, c := range cols {
		s.least, s.most = min(s.least, c), max(s.most, c)
	}
	return s
}

// misses reports whether no column of the row is in [lo, hi].
func (s span) misses(lo, hi uint32) bool { return s.most < lo || s.least > hi }

// spans returns the spans of the nodes that the rows reach.
func (p *pattern) spans() []span {
	p.spanOnce.Do(func() {
		if p.reach != nil {
			return
		}
		p.reach = make([]span, len(p.rows))
		eachPlace(len(p.rows), func(a int) { p.reach[a] = spanOf(p.own.Reached(a)) })
	})
	return p.reach
}

const (
	// scatterDraws is the most right-hand sides of a product with Φᵀ for which it is not transposed,
	scatterDraws = 4
	// scatterRanges the number of parts of its columns,
	scatterRanges = 32
	// and scatterMost how many of them a row may have entries in, in the mean.
	scatterMost = 8
)

// mulTransposed sets dst = Φᵀx. For a few columns of x, the first time, it adds up rows of Φ, each
// part of the columns by itself: the bits are those of the transpose, which takes longer to
// make than to use.
func (f *factor) mulTransposed(dst, x *mat.Dense) {
	if _, draws := x.Dims(); draws > scatterDraws || f.used.Swap(true) || !f.scatter(dst, x) {
		f.transpose().Mul(dst, x)
	}
}

// scatterRow adds v times the entries of a row in the columns [first, last] to out, whose rows
// begin with the first.
func scatterRow(out []float64, stride int, cols []uint32, vals []float64, first, last uint32, v float64) {
	vals = vals[:len(cols)]
	for q, c := range cols {
		if at := c - first; at <= last-first { // what is before the first wraps around
			out[int(at)*stride] += float64(vals[q] * v)
		}
	}
}

// scatter is mulTransposed by rows. It reports false, and does nothing, where rows have entries
// all over the columns.
func (f *factor) scatter(dst, x *mat.Dense) bool {
	ptr, col, val := f.phi.Raw()
	rows, size := len(ptr)-1, max(256, (f.width+scatterRanges-1)/scatterRanges)
	var spans []span
	if f.nodes == nil && f.own != nil {
		spans = f.spans()
	} else {
		spans = make([]span, rows)
		eachPlace(rows, func(a int) { spans[a] = spanOf(col[ptr[a]:ptr[a+1]]) })
	}
	met := 0
	for a, s := range spans {
		if s.least <= s.most {
			met += (int(s.most)/size - int(s.least)/size + 1) * (ptr[a+1] - ptr[a])
		}
	}
	if met > scatterMost*len(val) {
		return false
	}
	to, from := dst.RawMatrix(), x.RawMatrix()
	parallel.Ranges(f.width, size, func(lo, hi int) {
		first, last := uint32(lo), uint32(hi-1)
		for c := lo; c < hi; c++ {
			clear(to.Data[c*to.Stride:][:to.Cols])
		}
		for a, s := range spans {
			if s.misses(first, last) {
				continue
			}
			u := from.Data[a*from.Stride:][:from.Cols]
			cols, vals := col[ptr[a]:ptr[a+1]], val[ptr[a]:ptr[a+1]]
			if len(u) == 1 {
				scatterRow(to.Data[lo*to.Stride:], to.Stride, cols, vals, first, last, u[0])
				continue
			}
			for q, c := range cols {
				if c < first || c > last {
					continue
				}
				out := to.Data[int(c)*to.Stride:][:len(u)]
				for s, v := range u {
					out[s] += float64(vals[q] * v)
				}
			}
		}
	})
	return true
}
