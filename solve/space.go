package solve

import (
	"context"

	"grfgp/internal/ranks"
)

// space is the memory in which a system (A + diag(noise))·X = B is solved: the
// solvers of this package are written against it once. It owns blocks of vectors,
// which live wherever it likes and in the precision it likes, and offers the sweeps
// over rows that iterations need, each of them one pass. Sums over rows are float64
// per column; every space adds them by the same tree (see ranks.TreeSum), so a space that
// holds a part of the rows needs to exchange few numbers.
type space interface {
	// block returns a block with the given number of columns and undefined contents;
	// free returns its memory.
	block(columns int) block
	free(block)
	// narrow keeps the given columns of b, in increasing order. It uses up b.
	narrow(b block, keep []int) block
	zero(b block)

	// residual sets r = (B − H·X)/‖B‖ for all columns, and rr to rᵀr. It works at the
	// precision of B and X; cold says that X is zero.
	residual(ctx context.Context, rr []float64, r block, cold bool) error
	// correct adds ‖B_j‖·e_t to X_j for the columns t of e in the list, j = cols[t].
	correct(e block, cols, list []int)

	// product sets q = A·p.
	product(ctx context.Context, q, p block) error
	// precondition sets z = P⁻¹·r, and rz to rᵀz.
	precondition(rz []float64, z, r block)
	// diagonal reports that P is diagonal, or the identity. Then step and turn apply it
	// on the way, and no z is needed.
	diagonal() bool
	// turn sets p = z + β∘p; for a diagonal P, z is r, and p = P⁻¹r + β∘p.
	turn(p, z block, beta []float64)
	// curvature sets pq to pᵀ(q + diag(noise)·p).
	curvature(pq []float64, p, q block)
	// step sets e += α∘p and r −= α∘(q + diag(noise)·p), rr to rᵀr, and rz to rᵀP⁻¹r if
	// P is diagonal.
	step(rr, rz []float64, e, r, p, q block, alpha []float64)
	// recur sets u = a∘(q + diag(noise)·v) − b∘v − c∘u, and uu to uᵀu.
	recur(uu []float64, u, v, q block, a, b, c []float64)
}

// block is a number of columns in the memory of a space.
type block interface{ columns() int }

// blockRows is the number of rows whose sums are taken one after another.
const blockRows = ranks.BlockRows

// rowBlocks returns the number of blocks of n rows.
func rowBlocks(n int) int { return (n + blockRows - 1) / blockRows }
