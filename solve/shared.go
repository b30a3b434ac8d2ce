package solve

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/ranks"
)

// Rows says that several ranks share the rows of a system. Each of them calls the
// solver with its own rows of all blocks, and with an operator whose products bring what
// they need of others. All ranks get the same scalars, to the bits that one alone gets.
// Nil means one rank.
type Rows struct {
	Group  *ranks.Group
	Layout ranks.Layout
}

// Total returns the number of rows of all ranks, of which n are here, and the first of
// these.
func (r *Rows) Total(n int) (all, first int) { return newSummation(context.Background(), r).total(n) }

// Sum returns k sums over the rows of all ranks, of which n are here. add adds those of the
// rows [lo, hi), a block, to sums. The result has the same bits at any number of threads and
// ranks.
func (r *Rows) Sum(ctx context.Context, n, k int, add func(lo, hi int, sums []float64)) ([]float64, error) {
	s := newSummation(ctx, r)
	total := s.sumRows(n, k, add)
	return total, s.err
}

// Least returns the smallest x of all ranks.
func (r *Rows) Least(ctx context.Context, x float64) (float64, error) {
	s, most := newSummation(ctx, r), []float64{-x}
	s.most(most)
	return -most[0], s.err
}

// ColumnNorms returns the Euclidean norms of the columns of b, of which this rank has its
// rows; NaN for all if a number is not finite.
func (r *Rows) ColumnNorms(ctx context.Context, b *mat.Dense) ([]float64, error) {
	s := newSummation(ctx, r)
	norms, ok := s.columnNorms(b)
	if !ok {
		_, k := b.Dims()
		norms = slices.Repeat([]float64{math.NaN()}, k)
	}
	return norms, s.err
}

// summation adds up over rows, here and on other ranks. It is used by one goroutine.
type summation struct {
	ctx  context.Context
	rows *Rows
	err  error // the first failure to hear of other ranks; sums are NaN from then on
}

// newSummation returns the sums of a system. Nil rows are those of one rank.
func newSummation(ctx context.Context, rows *Rows) *summation {
	return &summation{ctx: ctx, rows: rows}
}

// alone reports that all rows are here.
func (s *summation) alone() bool { return s == nil || s.rows == nil || s.rows.Group.Alone() }

// add sets total to the sum of parts, one for every block of rows. parts is overwritten.
func (s *summation) add(total, parts []float64) {
	if s.alone() {
		ranks.TreeSum(total, parts)
		return
	}
	if s.err == nil {
		s.err = s.rows.Group.Sum(s.ctx, total, parts, s.rows.Layout)
	}
	if s.err != nil {
		for j := range total {
			total[j] = math.NaN()
		}
	}
}

// most sets each number of x to the largest on any rank.
func (s *summation) most(x []float64) {
	if s.alone() || s.err != nil {
		return
	}
	all, _, err := ranks.Gather(s.ctx, s.rows.Group, x)
	if err != nil {
		s.err = err
		return
	}
	for q, v := range all {
		if t := q % len(x); v > x[t] {
			x[t] = v
		}
	}
}

// total returns the number of all rows, of which n are here, and the first of them.
func (s *summation) total(n int) (all, first int) {
	if s.alone() {
		return n, 0
	}
	first, _ = s.rows.Layout.Range(s.rows.Group.Rank())
	return s.rows.Layout.Rows(), first
}
