package eigen

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
)

// Order compares eigenvalues: negative if a comes before b. Equal ones stay as they are found.
type Order func(a, b float64) int

// Rising is from the least eigenvalue to the largest.
func Rising(a, b float64) int { return cmp.Compare(a, b) }

// Falling is from the largest eigenvalue to the least.
func Falling(a, b float64) int { return cmp.Compare(b, a) }

// Magnitude is from the largest magnitude to the least; of equal magnitudes, the positive one is first.
func Magnitude(a, b float64) int {
	return cmp.Or(cmp.Compare(math.Abs(b), math.Abs(a)), cmp.Compare(b, a))
}

// Symmetric overwrites a symmetric matrix, of which it reads the diagonal and what is below, with orthonormal eigenvectors
// as columns, and returns their eigenvalues.
func Symmetric(a *mat.Dense, by Order) ([]float64, error) {
	values, err := decompose(a.RawMatrix().Data, a.RawMatrix().Rows)
	if err != nil {
		return nil, err
	}
	Sort(values, a, by)
	return values, nil
}

// Sort puts eigenvalues, and the columns of u that belong to them, in an order.
func Sort(values []float64, u *mat.Dense, by Order) {
	order := make([]int, len(values))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(i, j int) int { return by(values[i], values[j]) })
	permute := func(x, old []float64) {
		copy(old, x)
		for to, from := range order {
			x[to] = old[from]
		}
	}
	permute(values, make([]float64, len(values)))
	parallel.Ranges(u.RawMatrix().Rows, 256, func(lo, hi int) {
		old := make([]float64, len(values))
		for i := lo; i < hi; i++ {
			permute(u.RawRowView(i), old)
		}
	})
}

// decompose overwrites the n×n matrix a, row-major, with its eigenvectors as columns, and returns the eigenvalues, in no
// order.
//
// Gonum reduces a to tridiagonal form. Its QL iterations after that would take
// minutes for two thousand rows, because they access memory by columns.
func decompose(a []float64, n int) ([]float64, error) {
	d, e, tau := make([]float64, n), make([]float64, n), make([]float64, n)
	var lapack gonum.Implementation
	query := make([]float64, 1)
	lapack.Dsytrd(blas.Lower, n, a, n, d, e, tau, query, -1)
	work := make([]float64, max(int(query[0]), 64*n))
	lapack.Dsytrd(blas.Lower, n, a, n, d, e[:n-1], tau[:n-1], work, len(work))
	lapack.Dorgtr(blas.Lower, n, a, n, tau[:n-1], work, len(work))
	q := &rotations{z: a, n: n}
	if err := tridiagonalQL(d, e, q); err != nil {
		return nil, err
	}
	q.flush()
	return d, nil
}

// tridiagonalQL turns the tridiagonal matrix with diagonal d, below it e[:n−1],
// into its eigenvalues d by implicitly shifted QL sweeps, and hands every
// rotation to q.
func tridiagonalQL(d, e []float64, q *rotations) error {
	n := len(d)
	e[n-1] = 0
	norm := 0.0
	for i := range d {
		norm = max(norm, math.Abs(d[i])+math.Abs(e[i]))
	}
	const eps = 0x1p-52
	negligible := eps * norm // it would not change a kernel, a smooth function of W
	sweeps := 0
	for l := range d {
		for {
			m := l // rows l … m are a separate block
			for m < n-1 && math.Abs(e[m]) > negligible {
				m++
			}
			if m == l {
				break
			}
			if sweeps++; sweeps > 40*n { // two per eigenvalue are usual
				return errors.New("eigenvalues do not converge")
			}
			sweep(d, e, l, m, q)
		}
	}
	return nil
}

// sweep is one QL step on rows l … m with Wilkinson's shift: a rotation of rows
// m−1 and m brings in the shift, and each further one, of rows i and i+1, moves
// the bulge that it leaves up by a row.
func sweep(d, e []float64, l, m int, q *rotations) {
	delta := (d[l+1] - d[l]) / (2 * e[l])
	shift := d[l] - e[l]/(delta+math.Copysign(math.Hypot(delta, 1), delta))
	g := d[m] - shift // the element to keep, next to the bulge f to annihilate
	c, s := 1.0, 1.0
	moved := 0.0 // amount that the last rotation subtracted from the diagonal
	q.begin(m)
	for i := m - 1; i >= l; i-- {
		f, b := s*e[i], c*e[i]
		r := math.Hypot(f, g)
		e[i+1] = r
		if r == 0 { // the block splits here
			d[i+1] -= moved
			e[m] = 0
			return
		}
		s, c = f/r, g/r
		g = d[i+1] - moved
		r = (d[i]-g)*s + 2*c*b
		moved = s * r
		d[i+1] = g + moved
		g = c*r - b
		q.add(c, s)
	}
	d[l] -= moved
	e[l], e[m] = g, 0
}

// rotations collects plane rotations of neighbouring columns of z and applies
// many at once, row by row: a row stays in the cache, and rows are independent.
type rotations struct {
	z      []float64 // n×n, row-major
	n      int
	sweeps []sweepAt
	cs     []float64 // cosine and sine of each rotation
}

// sweepAt is a sequence of rotations: the first of columns top−1 and top, each
// further one a column to the left.
type sweepAt struct{ top, from int }

const rotationBatch = 1 << 16 // rotations applied at once: 1 MiB of cosines and sines

func (q *rotations) begin(top int) {
	if len(q.cs) >= 2*rotationBatch {
		q.flush()
	}
	q.sweeps = append(q.sweeps, sweepAt{top, len(q.cs)})
}

func (q *rotations) add(c, s float64) { q.cs = append(q.cs, c, s) }

func (q *rotations) flush() {
	parallel.Ranges(q.n, 32, func(lo, hi int) {
		spare := make([]float64, q.n)
		row := func(i int) []float64 {
			if i >= hi {
				return spare
			}
			return q.z[i*q.n : (i+1)*q.n]
		}
		for ; lo < hi; lo += 4 {
			q.apply(row(lo), row(lo+1), row(lo+2), row(lo+3))
		}
	})
	q.sweeps, q.cs = q.sweeps[:0], q.cs[:0]
}

// run returns the cosines and sines of sweep k.
func (q *rotations) run(k int) []float64 {
	end := len(q.cs)
	if k+1 < len(q.sweeps) {
		end = q.sweeps[k+1].from
	}
	return q.cs[q.sweeps[k].from:end]
}

// apply rotates rows, of which (z_i, z_{i+1}) become (c·z_i − s·z_{i+1}, s·z_i + c·z_{i+1}): four at once, whose chains
// of operations overlap.
func (q *rotations) apply(z0, z1, z2, z3 []float64) {
	n := len(z0)
	z1, z2, z3 = z1[:n], z2[:n], z3[:n]
	for k, sweep := range q.sweeps {
		i := sweep.top
		r0, r1, r2, r3 := z0[i], z1[i], z2[i], z3[i]
		for cs := q.run(k); len(cs) >= 2 && i > 0; cs = cs[2:] {
			c, s := cs[0], cs[1]
			l0, l1, l2, l3 := z0[i-1], z1[i-1], z2[i-1], z3[i-1]
			z0[i] = s*l0 + c*r0
			z1[i] = s*l1 + c*r1
			z2[i] = s*l2 + c*r2
			z3[i] = s*l3 + c*r3
			r0 = c*l0 - s*r0
			r1 = c*l1 - s*r1
			r2 = c*l2 - s*r2
			r3 = c*l3 - s*r3
			i--
		}
		z0[i], z1[i], z2[i], z3[i] = r0, r1, r2, r3
	}
}
