package solve

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/internal/ranks"
)

// columnSums is AᵀW with a diagonal W. Products are added up by blocks of rows and, per column of A, by the tree
// of ranks.TreeSum, in which a block that does not meet the column has no part. So the bits
// do not depend on how many ranks share the rows.
type columnSums struct {
	group  *ranks.Group
	parts  multiplier // a row for each block and each column that it meets
	count  int        // of these rows
	merges plan       // of the parts
	left   []int      // the parts that are then sums of whole subtrees of this rank
	starts []int      // where the left ones of each rank begin, among those of all
	final  plan       // of these
	root   []int      // per column: its sum among them; −1: none, the column is empty
}

// plan is what to add, column by column.
type plan struct {
	merges []merge
	ends   []int // per column
}

// merge adds part from to part to.
type merge struct{ to, from int }

// part is a sum of one column over some blocks, of which first is the first.
type part struct{ first, at int }

// newColumnSums returns AᵀW for the rows of A, and of the diagonal w of W, that this rank has.
func newColumnSums[M Sparse[M]](ctx context.Context, rows *Rows, a M, w []float64) (*columnSums, error) {
	n, columns := a.Dims()
	t, met, starts := a.TransposedBlocks(blockRows)
	c := &columnSums{parts: t.ColumnsScaled(w), count: len(met)}
	sums := newSummation(ctx, rows)
	if !sums.alone() {
		c.group = rows.Group
	}
	all, lo := sums.total(n)
	own := blockRange{lo / blockRows, lo/blockRows + rowBlocks(n), rowBlocks(all)}
	byColumn := make([][]part, columns)
	for b := range len(starts) - 1 {
		for q := starts[b]; q < starts[b+1]; q++ {
			byColumn[met[q]] = append(byColumn[met[q]], part{own.lo + b, q})
		}
	}
	var facts []int // column and first block of what is left
	for j, parts := range byColumn {
		for _, p := range own.sum(parts, 0, own.width(), &c.merges.merges) {
			c.left = append(c.left, p.at)
			facts = append(facts, j, p.first)
		}
		c.merges.ends = append(c.merges.ends, len(c.merges.merges))
	}
	everyone, at, err := ranks.Gather(ctx, c.group, facts)
	if err != nil {
		return nil, err
	}
	for _, start := range at {
		c.starts = append(c.starts, start/2)
	}
	for j := range byColumn {
		byColumn[j] = byColumn[j][:0]
	}
	for q := 0; q < len(everyone); q += 2 { // ranks have their blocks in order
		byColumn[everyone[q]] = append(byColumn[everyone[q]], part{everyone[q+1], q / 2})
	}
	whole := blockRange{0, own.all, own.all}
	c.root = make([]int, columns)
	for j, parts := range byColumn {
		if c.root[j] = -1; len(parts) > 0 {
			c.root[j] = whole.sum(parts, 0, whole.width(), &c.final.merges)[0].at
		}
		c.final.ends = append(c.final.ends, len(c.final.merges))
	}
	return c, nil
}

// blockRange is the blocks [lo, hi) of all.
type blockRange struct{ lo, hi, all int }

// width returns the number of blocks below the root of the tree: a power of two.
func (r blockRange) width() int {
	width := 1
	for width < r.all {
		width *= 2
	}
	return width
}

// sum plans the sum of the parts, which begin in the blocks [first, first+width), and returns
// what is left: one part, if all these blocks are in the range.
func (r blockRange) sum(parts []part, first, width int, plan *[]merge) []part {
	if len(parts) < 2 {
		return parts
	}
	middle := first + width/2
	cut, _ := slices.BinarySearchFunc(parts, middle, func(p part, block int) int { return p.first - block })
	below := r.sum(parts[:cut], first, width/2, plan)
	above := r.sum(parts[cut:], middle, width/2, plan)
	if len(below) == 1 && len(above) == 1 && r.lo <= first && min(first+width, r.all) <= r.hi {
		*plan = append(*plan, merge{below[0].at, above[0].at})
		return below
	}
	return slices.Concat(below, above)
}

// Mul sets dst, which every rank gets all of, to the product with the rows that the ranks
// have of x.
func (c *columnSums) Mul(ctx context.Context, dst, x *mat.Dense) error {
	_, k := dst.Dims()
	data := doubles.Get(max(1, c.count) * k)
	defer doubles.Put(data)
	if c.count > 0 {
		c.parts.Mul(mat.NewDense(c.count, k, data), x)
	}
	c.merges.run(data, k)
	total := data
	if !c.group.Alone() {
		total = doubles.Get(max(1, c.starts[len(c.starts)-1]) * k)
		defer doubles.Put(total)
		bytes := make([]int, len(c.starts))
		for r, start := range c.starts {
			bytes[r] = start * k
		}
		for q, at := range c.left {
			copy(total[bytes[c.group.Rank()]+q*k:][:k], data[at*k:][:k])
		}
		if err := ranks.Complete(ctx, c.group, total[:bytes[len(bytes)-1]], bytes); err != nil {
			return err
		}
		c.final.run(total, k)
	}
	for j, at := range c.root {
		to := dst.RawRowView(j)
		switch {
		case at < 0:
			clear(to)
		case c.group.Alone():
			copy(to, data[c.left[at]*k:])
		default:
			copy(to, total[at*k:])
		}
	}
	return nil
}

// run adds rows of k numbers, as planned.
func (p plan) run(data []float64, k int) {
	if len(p.merges) == 0 {
		return
	}
	const size = 64
	parallel.Ranges(len(p.ends), size, func(lo, hi int) {
		first := 0
		if lo > 0 {
			first = p.ends[lo-1]
		}
		for _, m := range p.merges[first:p.ends[hi-1]] {
			to, from := data[m.to*k:][:k], data[m.from*k:][:k]
			for s, v := range from {
				to[s] += v
			}
		}
	})
}

// weightedGram returns Aᵀ·diag(w)·A over the rows of all ranks. It reads A once, row by row:
// the entries of a column may be anywhere. Sums are integers, which have the same bits in
// any order: multiples of 2⁻⁶² of a bound of the largest.
func weightedGram[M Sparse[M]](ctx context.Context, rows *Rows, a M, w []float64) (blas64.General, error) {
	n, m := a.Dims()
	bound, err := rows.Sum(ctx, n, 1, func(lo, hi int, sums []float64) {
		for i := lo; i < hi; i++ {
			_, vals := a.Row(i)
			sum := 0.0
			for _, v := range vals {
				sum += math.Abs(v)
			}
			sums[0] += w[i] * sum * sum
		}
	})
	if err != nil {
		return blas64.General{}, err
	}
	_, exponent := math.Frexp(bound[0])
	scale := math.Ldexp(1, min(1000, 62-exponent))
	// Few parts, whatever n is. Neighbours meet the same columns: most parts have few rows.
	const most = 16
	size := max(4*blockRows, (n+most-1)/most)
	parts := make([]triangle, (n+size-1)/size)
	parallel.Ranges(n, size, func(lo, hi int) {
		part := make(triangle, m)
		for i := lo; i < hi; i++ {
			cols, vals := a.Row(i)
			part.addOuter(cols, vals, w[i]*scale)
		}
		parts[lo/size] = part
	})
	sum := triangle{}
	if len(parts) > 0 {
		sum = parts[0]
		parallel.Ranges(m, 4, func(lo, hi int) {
			for j := lo; j < hi; j++ {
				for _, part := range parts[1:] {
					sum.addRow(j, part[j])
				}
			}
		})
	}
	if !newSummation(ctx, rows).alone() {
		all := make([]int64, m*m)
		for j, row := range sum {
			copy(all[j*m+j:], row)
		}
		if err := rows.Group.SumIntegers(ctx, all); err != nil {
			return blas64.General{}, err
		}
		sum = make(triangle, m)
		for j := range sum {
			sum[j] = all[j*m+j:][:m-j]
		}
	}
	out := blas64.General{Rows: m, Cols: m, Stride: m, Data: doubles.Get(m * m)}
	parallel.Ranges(m, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			above := out.Data[i*m:][:m]
			if len(sum) == 0 || sum[i] == nil {
				clear(above[i:])
				continue
			}
			for j, v := range sum[i] {
				above[i+j] = float64(v) / scale
			}
		}
	})
	parallel.Ranges(m, 16, func(lo, hi int) {
		for j := range hi { // columns lo to hi of the upper triangle become rows
			for i := max(lo, j+1); i < hi; i++ {
				out.Data[i*m+j] = out.Data[j*m+i]
			}
		}
	})
	return out, nil
}

// triangle is the upper triangle of a matrix of integers, by rows from the diagonal on; nil stands for a row of
// zeros.
type triangle [][]int64

// row returns row j, to add to.
func (t triangle) row(j int) []int64 {
	if t[j] == nil {
		t[j] = make([]int64, len(t)-j)
	}
	return t[j]
}

// addRow adds to row j.
func (t triangle) addRow(j int, row []int64) {
	switch {
	case row == nil:
	case t[j] == nil:
		t[j] = row
	default:
		to := t[j]
		for q, v := range row {
			to[q] += v
		}
	}
}

// addOuter adds scale·vvᵀ for v with the given entries.
func (t triangle) addOuter(cols []uint32, vals []float64, scale float64) {
	for p, j := range cols {
		row, v := t.row(int(j)), scale*vals[p]
		for q := p; q < len(cols); q++ {
			l, x := cols[q], int64(float64(v*vals[q])+0.5)
			switch {
			case l > j || q == p:
				row[l-j] += x
			case l == j: // the column comes twice
				row[0] += 2 * x
			default:
				t.row(int(l))[j-l] += x
			}
		}
	}
}
