package kernel

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/eigen"
	"grfgp/sparse"
)

// NewLeading returns a Dense with only the leading eigenpairs of W, the given number
// or somewhat fewer. They are enough for kernels of long reach, such as Layers, on
// graphs that are too large for all eigenpairs. W must be symmetric to 1e-12 of each
// row; bound is as in NewExact. Equal eigenvalues are kept or dropped together, so
// that the kernel of a family does not depend on the numbering of nodes.
func NewLeading(ctx context.Context, w *sparse.CSR, pairs int, bound []float64) (*Dense, error) {
	r, err := newRecurrence(w, bound)
	if err != nil {
		return nil, err
	}
	n := r.Nodes()
	const residual = 1e-8
	l := r.somePairs(ctx, upTo(n), min(pairs, n/2), pairs/4, residual)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if l == nil {
		return nil, fmt.Errorf("%w: its leading eigenvectors do not converge: take coarser graphs in place of layers", ErrMatrix)
	}
	m := len(l.values)
	const gap = 1e-7
	for m > 1 && l.values[m-1]+gap > l.values[m-2] {
		m-- // may be one of several equal ones
	}
	m = max(1, m-1)
	d := &Dense{family: Diffusion{}, values: l.values[:m], u: mat.DenseCopyOf(l.v.Slice(0, n, 0, m))}
	eigen.Sort(d.values, d.u, eigen.Rising)
	return d, nil
}
