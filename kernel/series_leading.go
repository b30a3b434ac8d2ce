package kernel

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/eigen"
	"grfgp/plan"
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
	leadingPairs   = 96      // eigenpairs sought on larger graphs,
	leadingGuard   = 32      // additional vectors, which make these converge,
	leadingLeast   = 12      // and the fewest worth seeking
	leadingNodes   = 200_000 // most nodes of a graph: a block of vectors takes 0.2 GB
	leadingNumbers = 1 << 26 // most numbers in eigenvectors if all are taken
	leadingFlops   = 6e10    // of products with W
	leadingError   = 1e-11   // residual of a pair, relative to the norm of W
	filterGain     = 1e7     // by which one filter may raise one eigenvector above another
)

// newLeading finds the leading eigenpairs of a recurrence's matrix: by dense
// matrices on small graphs and in small components, else by subspace iteration
// with Chebyshev filters. It returns nil where none is found within leadingFlops.
func newLeading(r *recurrence, pairs, guard int) *leading {
	n := r.Nodes()
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
	if len(large) > plan.Default().DenseNodes || r.Nodes()*len(large) > leadingNumbers {
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
	u = mat.NewDense(n, n, nil)
	for at, i := range nodes {
		row := u.RawRowView(at)
		cols, vals := r.twice.Row(i)
		for p, j := range cols {
			row[place[j]] += vals[p] * r.norm / 2
		}
	}
	values, err = eigen.Symmetric(u, eigen.Falling)
	return values, u, err
}

// allPairs decomposes all of W.
func (r *recurrence) allPairs(small [][]int, large []int) *leading {
	l := &leading{below: math.Inf(-1)}
	if len(large) > 0 {
		values, u, err := r.decompose(large)
		if err != nil {
			return nil
		}
		l.values, l.v = values, mat.NewDense(r.Nodes(), len(large), nil)
		for a, i := range large {
			copy(l.v.RawRowView(i), u.RawRowView(a))
		}
	}
	return r.joined(l, small)
}

// somePairs turns a block of vectors that are zero outside some components. Each
// round filters by a polynomial that is at most 1 on [−ρ, the least Ritz value so far].
// Those at the lower end of the block converge last; pairs are as many as have a small
// residual, counted from the top.
func (r *recurrence) somePairs(ctx context.Context, nodes []int, want, guard int, tol float64) *leading {
	b := eigen.Start(r.twice, nodes, want+guard, "leading eigenvectors")
	b.Unit = r.norm / 2
	low := 0.0 // of the values beyond the filter, in units of ρ
	// rate is that of a filter on value t; it maps [−1, low] to [−1, 1].
	rate := func(t float64) float64 { return eigen.Rate((2*t + 1 - low) / (1 + low)) }
	step := 2 * float64(r.twice.NNZ()) * float64(b.Width())
	left := leadingFlops
	var values, residuals []float64
	for degree, goal := 8, want; goal >= leadingLeast; {
		err := b.Filter(ctx, degree, 1/(1+low), (low-1)/(1+low))
		if err != nil || b.Width() < goal {
			return nil
		}
		if values, err = b.Ritz(eigen.Falling); err != nil {
			return nil
		}
		residuals = b.Residuals(values)
		if slices.Max(residuals[:goal]) <= tol*r.norm {
			break
		}
		left -= step * float64(degree)
		low = max(-0.9, values[len(values)-1]/r.norm)
		degree = max(4, int(min(math.Acosh(filterGain)/rate(values[0]/r.norm), 400)))
		for ; goal >= leadingLeast; goal -= 4 { // as many as the remaining operations allow
			steps := math.Log(residuals[goal-1]/(tol*r.norm)) / rate(values[goal-1]/r.norm)
			if max(steps, float64(degree))*step <= left {
				break
			}
		}
	}
	found := 0
	for found < len(values) && residuals[found] <= tol*r.norm {
		found++
	}
	if found == 0 {
		return nil
	}
	return &leading{values: values[:found:found], v: mat.DenseCopyOf(b.X.Slice(0, r.Nodes(), 0, found)), below: values[found-1]}
}

// mean returns the mean eigenvalue of W.
func (r *recurrence) mean() float64 {
	sum := 0.0
	for i := range r.Nodes() {
		sum += r.twice.At(i, i)
	}
	return sum * r.norm / 2 / float64(r.Nodes())
}
