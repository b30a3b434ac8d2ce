package kernel

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/sparse"
)

// recurrence runs columns through T_k(W/ρ), ρ ≥ ‖W‖:
// T_0 = I, T_1 = W/ρ, T_{k+1} = 2(W/ρ)·T_k − T_{k−1}.
type recurrence struct {
	norm   float64     // ρ
	twice  *sparse.CSR // 2W/ρ
	blocks sync.Pool   // of *[]float64, for columns under way

	leading func() *leading      // eigenpairs at the upper end, computed when first used; nil: there are none
	whole   func() *leading      // all of them; nil: there are too many
	caches  shared[*seriesCache] // of kernels on this W
	mirror  *recurrence          // of −W, whose caches serve this one too: T_k(−x) = (−1)^k·T_k(x); nil: none
}

func newRecurrence(w *sparse.CSR, bound []float64) (*recurrence, error) {
	if err := checkSymmetric(w); err != nil {
		return nil, err
	}
	norm := normBound(w, bound)
	rowPtr, col, val := w.Raw()
	twice := slices.Clone(val)
	for p := range twice {
		twice[p] *= 2 / norm
	}
	n, _ := w.Dims()
	t, err := sparse.NewCSR(n, n, rowPtr, col, twice)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMatrix, err)
	}
	r := &recurrence{norm: norm, twice: t}
	r.findLeading()
	return r, nil
}

// findLeading makes eigenpairs be computed when first used.
func (r *recurrence) findLeading() {
	if r.leading == nil {
		r.leading = sync.OnceValue(func() *leading { return newLeading(r, leadingPairs, leadingGuard) })
		r.whole = sync.OnceValue(func() *leading { return newWhole(r) })
	}
}

// Nodes returns the number of rows of W.
func (r *recurrence) Nodes() int {
	n, _ := r.twice.Dims()
	return n
}

// width returns the number of columns that share a recurrence: 32, where
// products are fastest, or as many as keep the three blocks within 64 MiB, at
// least 8.
func (r *recurrence) width() int {
	return max(8, min(32, (64<<20)/(3*8*r.Nodes())&^7))
}

// columns cuts n columns into blocks and calls do(block, lo, hi) for each, on
// all processors.
func (r *recurrence) columns(ctx context.Context, n int, do func(block, lo, hi int) error) error {
	width := r.width()
	return parallel.Blocks(ctx, (n+width-1)/width, func(_, b int) error {
		return do(b, b*width, min(n, (b+1)*width))
	})
}

// recur calls visit with T_k(W/ρ)·X for k = 0 … terms−1, where start writes the
// columns of X onto zeros.
func (r *recurrence) recur(ctx context.Context, columns, terms int, start func(x blas64.General),
	visit func(k int, t blas64.General)) error {
	size := r.Nodes() * columns
	buffer, _ := r.blocks.Get().(*[]float64)
	if buffer == nil || len(*buffer) < 3*size {
		fresh := make([]float64, 3*size)
		buffer = &fresh
	}
	defer r.blocks.Put(buffer)
	block := func(k int) *mat.Dense { return mat.NewDense(r.Nodes(), columns, (*buffer)[k*size:(k+1)*size]) }
	p := progress{t: block(0), before: block(1)}
	clear(p.t.RawMatrix().Data)
	return r.advance(ctx, &p, block(2), terms, start, visit)
}

// next sets dst to T_k·X, given T_{k−1}·X and, from k = 2 on, T_{k−2}·X.
func (r *recurrence) next(k int, dst, t, before *mat.Dense) {
	r.twice.Mul(dst, t)
	out, old := dst.RawMatrix().Data, before.RawMatrix().Data
	parallel.Ranges(len(out), 1<<16, func(lo, hi int) {
		out, old := out[lo:hi], old[lo:hi]
		if k == 1 {
			for i := range out {
				out[i] /= 2
			}
			return
		}
		for i, v := range old {
			out[i] -= v
		}
	})
}

// progress is a block of columns under way: T_{k−1}·X and T_{k−2}·X, of k terms.
type progress struct {
	terms     int
	t, before *mat.Dense
}

// resume is recur from where an earlier call ended; p holds where this one ends.
func (r *recurrence) resume(ctx context.Context, p *progress, columns, terms int, start func(x blas64.General),
	visit func(k int, t blas64.General)) error {
	if p.terms == 0 {
		p.t, p.before = mat.NewDense(r.Nodes(), columns, nil), mat.NewDense(r.Nodes(), columns, nil)
	}
	return r.advance(ctx, p, mat.NewDense(r.Nodes(), columns, nil), terms, start, visit)
}

// advance goes on to so many terms, with a block of memory for the next one.
func (r *recurrence) advance(ctx context.Context, p *progress, next *mat.Dense, terms int, start func(x blas64.General),
	visit func(k int, t blas64.General)) error {
	if p.terms == 0 {
		start(p.t.RawMatrix())
		visit(0, p.t.RawMatrix())
		p.terms = 1
	}
	for ; p.terms < terms; p.terms++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.next(p.terms, next, p.t, p.before)
		p.before, p.t, next = p.t, next, p.before
		visit(p.terms, p.t.RawMatrix())
	}
	return nil
}

// units writes the unit vectors of the given nodes.
func units(nodes []int) func(x blas64.General) {
	return func(x blas64.General) {
		for c, i := range nodes {
			x.Data[i*x.Stride+c] = 1
		}
	}
}

// apply sets columns lo to hi of dst to rows of p(W)·X.
func (r *recurrence) apply(ctx context.Context, dst blas64.General, lo, hi int, rows []int, p polynomial,
	start func(x blas64.General)) error {
	return r.recur(ctx, hi-lo, len(p), start, func(k int, t blas64.General) {
		everyRow(len(rows), 1<<12, func(a int) {
			out := dst.Data[a*dst.Stride+lo : a*dst.Stride+hi]
			in := t.Data[rows[a]*t.Stride:][:len(out)]
			if k == 0 {
				clear(out)
			}
			for c, v := range in {
				out[c] += p[k] * v
			}
		})
	})
}

// scatter adds row b of src, from column lo on, to row nodes[b] of x.
func scatter(x blas64.General, nodes []int, src blas64.General, lo int) {
	for b, j := range nodes {
		out := x.Data[j*x.Stride:][:x.Cols]
		for c, v := range src.Data[b*src.Stride+lo:][:x.Cols] {
			out[c] += v
		}
	}
}
