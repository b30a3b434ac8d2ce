package covariate

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	linalg "grfgp/internal/dense"
	"grfgp/internal/parallel"
)

// operator is a symmetric matrix, known by its products.
type operator interface {
	Dims() (rows, cols int)
	Mul(dst, x *mat.Dense) // dst = a·x, which do not overlap
}

// block is a block of vectors x, one per column, on which a symmetric matrix acts. It
// needs little memory beside x: products are computed for some columns at a
// time, changes of basis for some rows at a time.
type block struct {
	a     operator
	power int // with which a has no negative eigenvalues: 1 or 2
	x     *mat.Dense
}

const (
	slab      = 32   // columns that are multiplied at a time
	slabBytes = 32e6 // about the most memory of a slab of more than 8 columns; four are needed
	panel     = 24   // columns that are made orthonormal at a time
	rowBlock  = 2048 // rows that are worked on as one
)

func newBlock(a operator, nodes []int, width int) *block {
	n, _ := a.Dims()
	return &block{a: a, power: 1, x: startBlock(n, nodes, width)}
}

func (b *block) width() int {
	if b.x == nil {
		return 0
	}
	_, w := b.x.Dims()
	return w
}

// slabs calls do with the columns of x, some at a time.
func (b *block) slabs(do func(lo, hi int)) {
	n, w := b.x.Dims()
	size := min(slab, max(8, int(slabBytes/8)/n))
	for lo := 0; lo < w; lo += size {
		do(lo, min(w, lo+size))
	}
}

// multiply replaces x by a·x.
func (b *block) multiply() {
	n, _ := b.x.Dims()
	b.slabs(func(lo, hi int) {
		x, y := b.x.Slice(0, n, lo, hi).(*mat.Dense), mat.NewDense(n, hi-lo, nil)
		b.a.Mul(y, x)
		x.Copy(y)
	})
}

// filter replaces x by T_degree(y)·x, y = 2·a^power/low² − 1.
func (b *block) filter(ctx context.Context, degree int, low float64) error {
	n, _ := b.x.Dims()
	var buffers [4]*mat.Dense // the last for squares
	b.slabs(func(lo, hi int) {
		if buffers[0] == nil || hi-lo != buffers[0].RawMatrix().Cols {
			for k := range 2 + b.power {
				buffers[k] = mat.NewDense(n, hi-lo, nil)
			}
		}
		x := b.x.Slice(0, n, lo, hi).(*mat.Dense)
		before, now, next, half := buffers[0], buffers[1], buffers[2], buffers[3]
		now.Copy(x)
		for k := range degree {
			if ctx.Err() != nil {
				return
			}
			if b.power == 1 {
				b.a.Mul(next, now)
			} else {
				b.a.Mul(half, now)
				b.a.Mul(next, half)
			}
			chebyshev(next, now, before, k, 2/(low*low), 1)
			before, now, next = now, next, before
		}
		x.Copy(now)
	})
	return ctx.Err()
}

// chebyshev turns next = m·now into the Chebyshev polynomial of degree k+1 of f·m − shift·I, given
// those of degree k (now) and k−1 (before).
func chebyshev(next, now, before *mat.Dense, k int, f, shift float64) {
	all, nows, befores := next.RawMatrix().Data, now.RawMatrix().Data, before.RawMatrix().Data
	parallel.Ranges(len(all), 1<<15, func(lo, hi int) {
		next, now, before := all[lo:hi], nows[lo:hi], befores[lo:hi]
		if k == 0 {
			for i, v := range now {
				next[i] = float64(f*next[i]) - float64(shift*v)
			}
			return
		}
		for i, v := range now {
			next[i] = float64(2*(float64(f*next[i])-float64(shift*v))) - before[i]
		}
	})
}

// orthonormalize replaces the columns of x by an orthonormal basis of their span,
// with fewer columns where they are dependent. Panels of columns lose their part
// in the span of the panels before, and are made orthonormal within: twice, which
// is enough.
func (b *block) orthonormalize() {
	w := b.width()
	x := linalg.View(b.x)
	drop := make([]bool, w)
	for lo := 0; lo < w; lo += panel {
		hi := min(w, lo+panel)
		p := x.Block(0, x.Rows, lo, hi)
		size := columnNorms(p)
		for range 2 {
			project(p, x.Block(0, x.Rows, 0, lo))
			for c, after := range columnNorms(p) {
				// What is left of a dependent column is rounding.
				if !drop[lo+c] && !(after > 1e-12*size[c]) {
					drop[lo+c] = true
					clearColumn(p, c)
				}
			}
			within(p, drop[lo:hi])
			for c := range size {
				size[c] = 0 // the columns that are left have norm 1
			}
		}
	}
	b.keep(drop)
}

// project subtracts from p its part in the span of the orthonormal columns of q.
func project(p, q linalg.Matrix) {
	if q.Cols == 0 {
		return
	}
	linalg.Add(p, -1, q, inner(q, p))
}

// inner returns qᵀ·p, the sum over blocks of rows in their order.
func inner(q, p linalg.Matrix) linalg.Matrix {
	parts := make([]linalg.Matrix, (p.Rows+rowBlock-1)/rowBlock)
	parallel.Ranges(p.Rows, rowBlock, func(lo, hi int) {
		part := zeros(q.Cols, p.Cols)
		linalg.Mul(part, q.Block(lo, hi, 0, q.Cols).T(), p.Block(lo, hi, 0, p.Cols))
		parts[lo/rowBlock] = part
	})
	sum := parts[0]
	for _, part := range parts[1:] {
		for k, v := range part.Data {
			sum.Data[k] += v
		}
	}
	return sum
}

func zeros(rows, cols int) linalg.Matrix {
	return linalg.Matrix{Rows: rows, Cols: cols, RowStep: cols, ColStep: 1, Data: make([]float64, rows*cols)}
}

// within makes the columns of p orthonormal, except for dropped ones, which are zero:
// by the Cholesky factor of their products if these are far from singular, else column by
// column. It drops columns that depend on those before.
func within(p linalg.Matrix, drop []bool) {
	if t, ok := inverseFactor(inner(p, p), drop); ok {
		rotate(p, t)
		return
	}
	for c := range p.Cols {
		size := columnNorms(p.Block(0, p.Rows, c, c+1))[0]
		for range 2 {
			if drop[c] {
				break
			}
			project(p.Block(0, p.Rows, c, c+1), p.Block(0, p.Rows, 0, c))
			after := columnNorms(p.Block(0, p.Rows, c, c+1))[0]
			if !(after > 1e-12*size) {
				drop[c] = true
				clearColumn(p, c)
				break
			}
			for i := range p.Rows {
				*p.At(i, c) /= after
			}
			size = 1
		}
	}
}

// inverseFactor returns the upper triangle t with (p·t)ᵀ(p·t) = I, given gram = pᵀp; dropped
// columns stay zero. It reports false if a column is nearly in the span of others.
func inverseFactor(gram linalg.Matrix, drop []bool) (t linalg.Matrix, ok bool) {
	const leastPivot = 1e-6 // of columns of norm 1
	n := gram.Cols
	scale, l := make([]float64, n), zeros(n, n)
	for c := range n {
		if !drop[c] {
			scale[c] = 1 / math.Sqrt(*gram.At(c, c))
		}
	}
	for i := range n {
		if drop[i] {
			*l.At(i, i) = 1
			continue
		}
		for j := range i + 1 {
			s := *gram.At(i, j) * scale[i] * scale[j]
			for k := range j {
				s -= float64(*l.At(i, k) * *l.At(j, k))
			}
			switch {
			case i != j:
				*l.At(i, j) = s / *l.At(j, j)
			case !(s > leastPivot):
				return t, false
			default:
				*l.At(i, i) = math.Sqrt(s)
			}
		}
	}
	// t = S·L⁻ᵀ, column by column: L·u = e_c gives row c of L⁻ᵀ.
	t = zeros(n, n)
	for c := range n {
		if drop[c] {
			continue
		}
		u := make([]float64, n)
		for i := c; i < n; i++ {
			if i == c {
				u[i] = 1
			}
			for k := c; k < i; k++ {
				u[i] -= float64(*l.At(i, k) * u[k])
			}
			u[i] /= *l.At(i, i)
		}
		for i := c; i < n; i++ {
			if !drop[i] {
				*t.At(c, i) = scale[c] * u[i]
			}
		}
	}
	return t, true
}

// rotate replaces x by x·t, some rows at a time.
func rotate(x, t linalg.Matrix) {
	parallel.Ranges(x.Rows, rowBlock, func(lo, hi int) {
		rows, out := x.Block(lo, hi, 0, x.Cols), zeros(hi-lo, t.Cols)
		linalg.Mul(out, rows, t)
		for i := range hi - lo {
			copy(rows.Data[i*rows.RowStep:][:t.Cols], out.Data[i*out.RowStep:])
		}
	})
}

// keep removes dropped columns from x.
func (b *block) keep(drop []bool) {
	var from []int
	for c, d := range drop {
		if !d {
			from = append(from, c)
		}
	}
	if len(from) == len(drop) {
		return
	}
	if len(from) == 0 {
		b.x = nil
		return
	}
	n, _ := b.x.Dims()
	x := mat.NewDense(n, len(from), nil)
	for i := range n {
		old, row := b.x.RawRowView(i), x.RawRowView(i)
		for to, c := range from {
			row[to] = old[c]
		}
	}
	b.x = x
}

// ritz turns the orthonormal columns of x into approximate eigenvectors of a^power,
// falling by the magnitude of their eigenvalues, which it returns.
func (b *block) ritz(power int) ([]float64, error) {
	n, w := b.x.Dims()
	x, h := linalg.View(b.x), zeros(w, w)
	b.slabs(func(lo, hi int) {
		y := b.x.Slice(0, n, lo, hi).(*mat.Dense)
		for range power {
			next := mat.NewDense(n, hi-lo, nil)
			b.a.Mul(next, y)
			y = next
		}
		part := inner(x, linalg.View(y))
		for r := range w {
			copy(h.Data[r*h.RowStep+lo:], part.Data[r*part.RowStep:][:hi-lo])
		}
	})
	sym := mat.NewSymDense(w, nil)
	for i := range w {
		for j := range i + 1 {
			sym.SetSym(j, i, (*h.At(i, j)+*h.At(j, i))/2)
		}
	}
	var e mat.EigenSym
	if !e.Factorize(sym, true) {
		return nil, errors.New("singular vectors: eigenvalues within a block of vectors do not converge")
	}
	var u mat.Dense
	e.VectorsTo(&u)
	unordered, values := e.Values(nil), make([]float64, w)
	for to, from := range byMagnitude(unordered) {
		values[to] = unordered[from]
		for r := range w {
			*h.At(r, to) = u.At(r, from)
		}
	}
	rotate(x, h)
	return values, nil
}

// pairs returns the approximate eigenpairs of a within the block, which shares memory with
// them.
func (b *block) pairs() (*pairs, error) {
	values, err := b.ritz(1)
	if err != nil {
		return nil, err
	}
	n, _ := b.x.Dims()
	p := &pairs{values: values, v: b.x}
	b.slabs(func(lo, hi int) {
		y := mat.NewDense(n, hi-lo, nil)
		b.a.Mul(y, b.x.Slice(0, n, lo, hi).(*mat.Dense))
		out := y.RawMatrix()
		parallel.Ranges(n, rowBlock, func(r0, r1 int) {
			for i := r0; i < r1; i++ {
				for c, v := range b.x.RawRowView(i)[lo:hi] {
					out.Data[i*out.Stride+c] -= float64(values[lo+c] * v)
				}
			}
		})
		for c, r := range columnNorms(linalg.View(y)) {
			p.residuals = append(p.residuals, r/math.Abs(values[lo+c])) // NaN or infinite for a value of 0
		}
	})
	return p, nil
}

// columnNorms returns the norm of every column, summed in an order that depends only on the
// number of rows.
func columnNorms(x linalg.Matrix) []float64 {
	blocks := (x.Rows + rowBlock - 1) / rowBlock
	parts := make([][]float64, blocks)
	parallel.Ranges(blocks, 1, func(block, _ int) {
		sums := make([]float64, x.Cols)
		for i := block * rowBlock; i < min(x.Rows, (block+1)*rowBlock); i++ {
			for c, v := range x.Data[i*x.RowStep:][:x.Cols] {
				sums[c] += float64(v * v)
			}
		}
		parts[block] = sums
	})
	norms := make([]float64, x.Cols)
	for _, sums := range parts {
		for c, s := range sums {
			norms[c] += s
		}
	}
	for c, s := range norms {
		norms[c] = math.Sqrt(s)
	}
	return norms
}

func clearColumn(x linalg.Matrix, c int) {
	for i := range x.Rows {
		*x.At(i, c) = 0
	}
}
