package solve

import (
	"context"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/gpu"
	"grfgp/internal/rng"
	"grfgp/space"
	"grfgp/sparse"
)

// memory is one in which a process solves systems.
type memory struct {
	name     string
	open     func() space.Space
	rounding float64 // of its numbers, about
}

func memories() []memory {
	return []memory{
		{"float64", space.Host, 1e-16},
		{"float32", space.Host32, 1e-7},
		{"card", func() space.Space { return space.Card(gpu.Simulate(gpu.Simulated{})) }, 1e-16},
	}
}

// empty fails unless a card has all its memory again.
func (m memory) empty(t testing.TB, s space.Space) {
	t.Helper()
	if d := space.DeviceOf(s); d != nil && (d.InUse() != 0 || d.Err() != nil) {
		t.Errorf("%s: %d bytes were not given back; %v", m.name, d.InUse(), d.Err())
	}
}

// sparseOf returns a matrix by its entries other than zero.
func sparseOf(t testing.TB, a mat.Matrix) *sparse.CSR {
	n, m := a.Dims()
	ptr, cols, vals := []int{0}, []uint32(nil), []float64(nil)
	for i := range n {
		for j := range m {
			if v := a.At(i, j); v != 0 {
				cols, vals = append(cols, uint32(j)), append(vals, v)
			}
		}
		ptr = append(ptr, len(cols))
	}
	return newCSR(t, n, m, ptr, cols, vals)
}

// systemIn returns (A + diag(noise))·X = B in a space, for the rows of A and of the noise that this process has, and a
// function that gives its memory back.
func systemIn(ctx context.Context, s space.Space, rows space.Axis, a space.Entries, noise []float64) (*System, func(), error) {
	m, err := s.Sparse(ctx, rows, rows, a)
	if err != nil {
		return nil, nil, err
	}
	system := &System{Space: s, Axis: rows, Noise: s.Block(rows, 1), Apply: func(ctx context.Context, dst, x space.Block) error {
		m.Mul(dst, x, 0, 1, false)
		return ctx.Err()
	}}
	system.Noise.Set(noise)
	return system, func() { system.Noise.Free(); m.Free() }, nil
}

// matrix is a dense symmetric Operator that counts its products and columns.
type matrix struct {
	*mat.SymDense
	products, columns atomic.Int64
}

func (m *matrix) Apply(ctx context.Context, dst, x *mat.Dense) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n, k := x.Dims()
	m.products.Add(1)
	m.columns.Add(int64(k))
	ds, xs, as := dst.RawMatrix(), x.RawMatrix(), m.RawSymmetric()
	for i := range n {
		d := row(ds, i)
		clear(d)
		for j := range n {
			a := as.Data[min(i, j)*as.Stride+max(i, j)]
			for t, v := range row(xs, j) {
				d[t] += a * v
			}
		}
	}
	return nil
}

func (m *matrix) diag() []float64 {
	d := make([]float64, m.SymmetricDim())
	for i := range d {
		d[i] = m.At(i, i)
	}
	return d
}

// shifted returns A + diag(noise).
func (m *matrix) shifted(noise []float64) *mat.SymDense {
	h := mat.NewSymDense(len(noise), nil)
	h.CopySym(m)
	for i, v := range noise {
		h.SetSym(i, i, h.At(i, i)+v)
	}
	return h
}

// withSpectrum returns a matrix with the given eigenvalues and random
// eigenvectors.
func withSpectrum(t testing.TB, values []float64, seed uint64) *matrix {
	t.Helper()
	n := len(values)
	var qr mat.QR
	qr.Factorize(normals(n, n, seed))
	var q, ql, full mat.Dense
	qr.QTo(&q)
	ql.Mul(&q, mat.NewDiagDense(n, values))
	full.Mul(&ql, q.T())
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, (full.At(i, j)+full.At(j, i))/2)
		}
	}
	return &matrix{SymDense: s}
}

// withCondition returns a matrix whose eigenvalues are spaced by a constant
// factor from 1 down to 1/cond.
func withCondition(t testing.TB, n int, cond float64, seed uint64) *matrix {
	values := make([]float64, n)
	for i := range values {
		values[i] = math.Pow(cond, -float64(i)/float64(n-1))
	}
	return withSpectrum(t, values, seed)
}

// lowRankMatrix returns a matrix of rank k with eigenvalues from n down.
func lowRankMatrix(t testing.TB, n, k int, seed uint64) *matrix {
	values := make([]float64, n)
	for i := range k {
		values[i] = float64(n) * math.Pow(0.7, float64(i))
	}
	return withSpectrum(t, values, seed)
}

func normals(n, k int, seed uint64) *mat.Dense {
	r := rand.New(rng.New(seed, "test"))
	m := mat.NewDense(n, k, nil)
	for i := range n {
		for j := range k {
			m.Set(i, j, r.NormFloat64())
		}
	}
	return m
}

func constant(n int, v float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = v
	}
	return x
}

// solved returns the dense solution of (A + diag(noise))·X = B.
func solved(t testing.TB, a *matrix, noise []float64, b *mat.Dense) *mat.Dense {
	t.Helper()
	var chol mat.Cholesky
	if !chol.Factorize(a.shifted(noise)) {
		t.Fatal("test matrix is not positive definite")
	}
	var x mat.Dense
	if err := chol.SolveTo(&x, b); err != nil {
		t.Fatal(err)
	}
	return &x
}

// distance is ‖x − y‖/‖y‖ in the Frobenius norm.
func distance(x, y mat.Matrix) float64 {
	var d mat.Dense
	d.Sub(x, y)
	return mat.Norm(&d, 2) / mat.Norm(y, 2)
}

// logDet is the dense log-determinant.
func logDet(t testing.TB, h *mat.SymDense) float64 {
	t.Helper()
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		t.Fatal("test matrix is not positive definite")
	}
	return chol.LogDet()
}

// laplacian is the path graph's 2 + s on the diagonal and −1 beside it: an
// Operator with long vectors and cheap products.
type laplacian int

func (n laplacian) Dims() (int, int) { return int(n), int(n) }

func (n laplacian) Apply(ctx context.Context, dst, x *mat.Dense) error {
	ds, xs := dst.RawMatrix(), x.RawMatrix()
	for i := range int(n) {
		d := row(ds, i)
		for t, v := range row(xs, i) {
			d[t] = 2 * v
		}
		if i > 0 {
			for t, v := range row(xs, i-1) {
				d[t] -= v
			}
		}
		if i+1 < int(n) {
			for t, v := range row(xs, i+1) {
				d[t] -= v
			}
		}
	}
	return ctx.Err()
}
