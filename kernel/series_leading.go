package kernel

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
	"grfgp/internal/parallel"
	"grfgp/internal/rng"
)

// leading are the eigenpairs of W at the upper end of its spectrum, where kernels
// of long reach are steep.
type leading struct {
	values []float64  // of v, falling; then those of the fragments
	v      *mat.Dense // a row per node, an eigenvector per column
	small  *fragments
	below  float64 // no other eigenvalue is larger; −∞ where there is no other
}

const (
	leadingAll     = 400     // nodes up to which all eigenvectors are taken
	wholeNodes     = 1500    // nodes up to which all are taken if the leading ones are not enough
	leadingPairs   = 96      // eigenpairs sought on larger graphs,
	leadingGuard   = 32      // additional vectors, which make these converge,
	leadingLeast   = 12      // and the fewest worth seeking
	leadingNodes   = 200_000 // most nodes of a graph: three blocks of vectors take 0.6 GB
	leadingNumbers = 1 << 26 // most numbers in eigenvectors if all are taken
	leadingFlops   = 6e10    // of products with W
	leadingError   = 1e-11   // residual of a pair, relative to the norm of W
	filterGain     = 1e7     // by which one filter may raise one eigenvector above another
)

// newLeading finds the leading eigenpairs of a recurrence's matrix: by dense
// matrices on small graphs and in small components, else by subspace iteration
// with Chebyshev filters. It returns nil where none is found within leadingFlops.
func newLeading(r *recurrence, pairs, guard int) *leading {
	n := r.nodes()
	if n > leadingNodes {
		return nil
	}
	small, large := r.components()
	if len(large) <= max(leadingAll, 2*(pairs+guard)) && n*len(large) <= leadingNumbers {
		return r.allPairs(small, large)
	}
	return r.joined(r.somePairs(context.Background(), large, pairs, guard, leadingError), small)
}

// newWhole finds all eigenpairs if few nodes are in large components: some graphs
// have more eigenvalues near the upper end of the spectrum than newLeading
// computes.
func newWhole(r *recurrence) *leading {
	small, large := r.components()
	if len(large) > wholeNodes || r.nodes()*len(large) > leadingNumbers {
		return nil
	}
	return r.allPairs(small, large)
}

// joined adds the eigenpairs of small components.
func (r *recurrence) joined(l *leading, small [][]int) *leading {
	if l == nil {
		return nil
	}
	var err error
	if l.small, err = r.fragments(small, l.below); err != nil {
		return nil // QL did not converge: there are no leading eigenvectors
	}
	l.values = append(l.values, l.small.values...)
	return l
}

// decompose returns all eigenpairs of the part of W over some nodes, falling.
func (r *recurrence) decompose(nodes []int) (values []float64, u *mat.Dense, err error) {
	n := len(nodes)
	place := make(map[uint32]int, n)
	for a, i := range nodes {
		place[uint32(i)] = a
	}
	a := make([]float64, n*n)
	for at, i := range nodes {
		cols, vals := r.twice.Row(i)
		for p, j := range cols {
			a[at*n+place[j]] += vals[p] * r.norm / 2
		}
	}
	if values, err = eigen(a, n); err != nil {
		return nil, nil, err
	}
	values, u = falling(values, mat.NewDense(n, n, a))
	return values, u, nil
}

// allPairs decomposes all of W.
func (r *recurrence) allPairs(small [][]int, large []int) *leading {
	l := &leading{below: math.Inf(-1)}
	if len(large) > 0 {
		values, u, err := r.decompose(large)
		if err != nil {
			return nil
		}
		l.values, l.v = values, mat.NewDense(r.nodes(), len(large), nil)
		for a, i := range large {
			copy(l.v.RawRowView(i), u.RawRowView(a))
		}
	}
	return r.joined(l, small)
}

// somePairs iterates a block of vectors that are zero outside some components.
// Each round applies a Chebyshev polynomial that is at most 1 on [−ρ, the least
// Ritz value so far] and grows beyond, makes the block orthonormal, and solves
// the eigenproblem within it. Those at the lower end of the block converge last;
// pairs are as many as have a small residual, counted from the top.
func (r *recurrence) somePairs(ctx context.Context, nodes []int, want, guard int, tol float64) *leading {
	n, width := r.nodes(), want+guard
	x, y, z := mat.NewDense(n, width, nil), mat.NewDense(n, width, nil), mat.NewDense(n, width, nil)
	random := rand.New(rng.New(0, "leading eigenvectors"))
	for _, i := range nodes {
		row := x.RawRowView(i)
		for c := range row {
			row[c] = random.NormFloat64()
		}
	}
	most, low := 1.0, 0.0 // Ritz values, in units of ρ
	step := 2 * float64(r.twice.NNZ()) * float64(width)
	left := leadingFlops
	var values, residuals []float64
	for degree, goal := 8, want; goal >= leadingLeast; {
		if ctx.Err() != nil {
			return nil
		}
		x, y, z = r.filter(x, y, z, degree, low)
		for range 2 {
			if !orthonormal(x, y) || ctx.Err() != nil {
				return nil
			}
		}
		values, residuals = r.ritz(x, y, z)
		if slices.Max(residuals[:goal]) <= tol*r.norm {
			break
		}
		left -= step * float64(degree)
		most, low = values[0]/r.norm, max(-0.9, values[width-1]/r.norm)
		degree = max(4, int(min(math.Acosh(filterGain)/rate(most, low), 400)))
		for ; goal >= leadingLeast; goal -= 4 { // as many as the remaining operations allow
			steps := math.Log(residuals[goal-1]/(tol*r.norm)) / rate(values[goal-1]/r.norm, low)
			if max(steps, float64(degree))*step <= left {
				break
			}
		}
	}
	found := 0
	for found < width && residuals[found] <= tol*r.norm {
		found++
	}
	if found == 0 {
		return nil
	}
	return &leading{values: values[:found:found], v: mat.DenseCopyOf(x.Slice(0, n, 0, found)), below: values[found-1]}
}

// mean returns the mean eigenvalue of W.
func (r *recurrence) mean() float64 {
	sum := 0.0
	for i := range r.nodes() {
		sum += r.twice.At(i, i)
	}
	return sum * r.norm / 2 / float64(r.nodes())
}

// rate returns by how many e-folds a filter raises eigenvalue t above those up to
// low with every degree: T_k(y) ≈ exp(k·arcosh y)/2, where y maps [−1, low] to
// [−1, 1].
func rate(t, low float64) float64 {
	return math.Acosh(max(1+1e-12, (2*t+1-low)/(1+low)))
}

// filter returns T_degree(y) of x, y = (2W/ρ + 1 − low)/(1 + low), and two blocks to be overwritten.
func (r *recurrence) filter(x, y, z *mat.Dense, degree int, low float64) (_, _, _ *mat.Dense) {
	scale, shift := 2/(1+low), (1-low)/(1+low)
	before, t, next := z, x, y
	for k := 1; k <= degree; k++ {
		r.twice.Mul(next, t)
		out, now, old := next.RawMatrix().Data, t.RawMatrix().Data, before.RawMatrix().Data
		parallel.Ranges(len(out), 1<<16, func(lo, hi int) {
			out, now, old := out[lo:hi], now[lo:hi], old[lo:hi]
			if k == 1 {
				for i, v := range now {
					out[i] = scale*out[i]/2 + shift*v
				}
				return
			}
			for i, v := range now {
				out[i] = scale*out[i] + 2*shift*v - old[i]
			}
		})
		before, t, next = t, next, before
	}
	return t, before, next
}

// orthonormal replaces the columns of x by an orthonormal basis of their
// span, by the eigenvectors of their Gram matrix, and overwrites scratch. Called
// twice it is orthonormal to rounding. It returns false where x is not finite.
func orthonormal(x, scratch *mat.Dense) bool {
	_, width := x.Dims()
	gram := mat.NewDense(width, width, nil)
	dense.Mul(dense.View(gram), dense.View(x).T(), dense.View(x))
	scale := make([]float64, width)
	for c := range scale {
		if scale[c] = 1 / math.Sqrt(gram.At(c, c)); math.IsNaN(scale[c]) || math.IsInf(scale[c], 0) {
			return false
		}
	}
	for a := range width {
		for b := range width {
			gram.Set(a, b, gram.At(a, b)*scale[a]*scale[b])
		}
	}
	values, err := eigen(gram.RawMatrix().Data, width)
	if err != nil {
		return false
	}
	least := 1e-14 * slices.Max(values)
	for a := range width {
		row := gram.RawRowView(a)
		for b, v := range values {
			row[b] *= scale[a] / math.Sqrt(max(v, least))
		}
	}
	turn(x, gram, scratch)
	return true
}

// ritz turns the orthonormal columns of x into approximate eigenvectors, falling
// by eigenvalue, and returns these with the norms of W·v − λ·v.
func (r *recurrence) ritz(x, y, scratch *mat.Dense) (values, residuals []float64) {
	n, width := x.Dims()
	r.twice.Mul(y, x)
	h := mat.NewDense(width, width, nil)
	dense.Mul(dense.View(h), dense.View(x).T(), dense.View(y))
	for a := range width {
		for b := range a + 1 {
			v := (h.At(a, b) + h.At(b, a)) * r.norm / 4
			h.Set(a, b, v)
			h.Set(b, a, v)
		}
	}
	values, err := eigen(h.RawMatrix().Data, width)
	if err != nil {
		values = make([]float64, width) // the residuals then show that these are no eigenvalues
	}
	values, h = falling(values, h)
	turn(x, h, scratch)
	turn(y, h, scratch)
	residuals = make([]float64, width)
	for i := range n {
		v, wv := x.RawRowView(i), y.RawRowView(i)
		for c := range residuals {
			d := wv[c]*r.norm/2 - values[c]*v[c]
			residuals[c] += d * d
		}
	}
	for c := range residuals {
		residuals[c] = math.Sqrt(residuals[c])
	}
	return values, residuals
}

// turn sets x = x·q.
func turn(x, q, scratch *mat.Dense) {
	dense.Mul(dense.View(scratch), dense.View(x), dense.View(q))
	x.Copy(scratch)
}

// falling returns eigenvalues from the largest down, and a copy of the vectors in
// that order.
func falling(values []float64, u *mat.Dense) ([]float64, *mat.Dense) {
	order := make([]int, len(values))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case values[a] > values[b]:
			return -1
		case values[a] < values[b]:
			return 1
		}
		return 0
	})
	rows, _ := u.Dims()
	sorted, out := make([]float64, len(values)), mat.NewDense(rows, len(values), nil)
	for to, from := range order {
		sorted[to] = values[from]
	}
	parallel.Ranges(rows, 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			in, out := u.RawRowView(i), out.RawRowView(i)
			for to, from := range order {
				out[to] = in[from]
			}
		}
	})
	return sorted, out
}
