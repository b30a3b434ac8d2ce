package solve

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func variances(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 0.05 + float64(i%7)/10
	}
	return v
}

// lowRankDense returns U·Uᵀ + diag(noise).
func lowRankDense(u *mat.Dense, noise []float64) *mat.SymDense {
	n, _ := u.Dims()
	a := &matrix{SymDense: mat.NewSymDense(n, nil)}
	a.SymOuterK(1, u)
	return a.shifted(noise)
}

// checkFactored compares a preconditioner with P itself: P⁻¹, log det P, and
// F⁻¹·P·F⁻ᵀ = I with F⁻ᵀ the transpose of F⁻¹.
func checkFactored(t *testing.T, f Factored, p *mat.SymDense, tol float64) {
	t.Helper()
	n := p.SymmetricDim()
	var identity, got, product, whitened mat.Dense
	identity.CloneFrom(mat.NewDiagDense(n, constant(n, 1)))

	var chol mat.Cholesky
	if !chol.Factorize(p) {
		t.Fatal("P is not positive definite")
	}
	want := mat.NewSymDense(n, nil)
	if err := chol.InverseTo(want); err != nil {
		t.Fatal(err)
	}
	got.CloneFrom(&identity)
	f.Apply(&got, &identity)
	if d := distance(&got, want); d > tol {
		t.Errorf("inverse is off by %g", d)
	}
	if d := math.Abs(f.LogDet() - chol.LogDet()); d > tol*(1+math.Abs(chol.LogDet())) {
		t.Errorf("log det %g, want %g", f.LogDet(), chol.LogDet())
	}

	got.CloneFrom(&identity)
	f.WhitenT(&got, &identity)
	product.Mul(p, &got)
	whitened.CloneFrom(&identity)
	f.Whiten(&whitened, &product)
	if d := distance(&whitened, &identity); d > tol {
		t.Errorf("F⁻¹PF⁻ᵀ is off the identity by %g", d)
	}
	product.CloneFrom(&identity)
	f.Whiten(&product, &identity)
	if d := distance(product.T(), &got); d > tol {
		t.Errorf("WhitenT is off the transpose of Whiten by %g", d)
	}
}

func TestJacobi(t *testing.T) {
	t.Parallel()
	const n = 20
	diag, noise := constant(n, 1), variances(n)
	j, err := NewJacobi(diag, noise)
	if err != nil {
		t.Fatal(err)
	}
	a := &matrix{SymDense: mat.NewSymDense(n, nil)}
	for i := range n {
		a.SetSym(i, i, 1)
	}
	checkFactored(t, j, a.shifted(noise), 1e-14)
	if _, err := NewJacobi(diag, noise[:3]); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
	for _, bad := range []float64{-2, -noise[0], math.NaN(), math.Inf(1)} {
		diag[0] = bad
		if _, err := NewJacobi(diag, noise); !errors.Is(err, ErrNotPositiveDefinite) {
			t.Errorf("diagonal %g: %v", bad, err)
		}
	}
}

func TestLowRank(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ n, k int }{{1, 1}, {30, 1}, {30, 30}, {30, 45}, {200, 70}, {1500, 3}} {
		t.Run(fmt.Sprintf("%d×%d", c.n, c.k), func(t *testing.T) {
			u, noise := normals(c.n, c.k, 1), variances(c.n)
			p, err := NewLowRank(u, noise)
			if err != nil {
				t.Fatal(err)
			}
			if p.Rank() != c.k {
				t.Errorf("rank %d", p.Rank())
			}
			if c.n <= 200 {
				checkFactored(t, p, lowRankDense(u, noise), 1e-10)
				return
			}
			// More rows than a block: P·P⁻¹·r = r.
			r, x := normals(c.n, 4, 2), mat.NewDense(c.n, 4, nil)
			p.Apply(x, r)
			var back mat.Dense
			back.Mul(lowRankDense(u, noise), x)
			if d := distance(&back, r); d > 1e-10 {
				t.Errorf("P·P⁻¹r is off r by %g", d)
			}
		})
	}
}

func TestLowRankErrors(t *testing.T) {
	t.Parallel()
	u := normals(5, 2, 1)
	if _, err := NewLowRank(u, variances(4)); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
	if _, err := NewLowRank(&mat.Dense{}, nil); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		noise := variances(5)
		noise[2] = bad
		if _, err := NewLowRank(u, noise); !errors.Is(err, ErrNotPositiveDefinite) {
			t.Errorf("noise %g: %v", bad, err)
		}
	}
	u.Set(1, 1, math.NaN())
	if _, err := NewLowRank(u, variances(5)); !errors.Is(err, ErrNotPositiveDefinite) {
		t.Error(err)
	}
}

func TestLowRankDeterministic(t *testing.T) {
	const n, k = 3000, 130
	u, noise, r := normals(n, k, 1), variances(n), normals(n, 3, 2)
	apply := func(procs int) *mat.Dense {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		p, err := NewLowRank(u, noise)
		if err != nil {
			t.Fatal(err)
		}
		x := mat.NewDense(n, 3, nil)
		p.Apply(x, r)
		return x
	}
	if !mat.Equal(apply(1), apply(4)) {
		t.Error("other bits on four processors")
	}
}

// leading returns the preconditioner by the largest eigenvalues of a and their
// vectors.
func leading(t testing.TB, a *matrix, noise []float64, rank int) *LowRank {
	t.Helper()
	var eig mat.EigenSym
	if !eig.Factorize(a, true) {
		t.Fatal("no eigenvalues")
	}
	var v mat.Dense
	eig.VectorsTo(&v)
	n := len(noise)
	u := mat.DenseCopyOf(v.Slice(0, n, n-rank, n))
	for j, value := range eig.Values(nil)[n-rank:] {
		for i := range n {
			u.Set(i, j, u.At(i, j)*math.Sqrt(max(0, value)))
		}
	}
	p, err := NewLowRank(u, noise)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPreconditionersPay: low rank plus noise of unequal size, condition about
// 1e6. Iterations to 1e-8 fall from step to step.
func TestPreconditionersPay(t *testing.T) {
	t.Parallel()
	const n, k = 120, 30
	a := lowRankMatrix(t, n, k, 1)
	noise := constant(n, 0)
	for i := range noise {
		noise[i] = 1e-3 * math.Pow(10, float64(i%4))
	}
	b := normals(n, 2, 2)
	jacobi, err := NewJacobi(a.diag(), noise)
	if err != nil {
		t.Fatal(err)
	}
	opts := Options{Tol: 1e-8, MaxIter: 20000}
	iterations := func(p Preconditioner) int {
		opts.Precond = p
		x := mat.NewDense(n, 2, nil)
		stats, err := CG(background, x, a, noise, b, opts)
		if err != nil {
			t.Fatal(err)
		}
		if d := distance(x, solved(t, a, noise, b)); d > 1e-3 {
			t.Errorf("distance %g", d)
		}
		return stats.Iterations
	}
	counts := []int{iterations(nil), iterations(jacobi)}
	for _, rank := range []int{10, 20, k} {
		counts = append(counts, iterations(leading(t, a, noise, rank)))
	}
	t.Logf("iterations: none %d, Jacobi %d, leading eigenvectors: 10 %d, 20 %d, 30 %d", counts[0], counts[1], counts[2], counts[3], counts[4])
	if counts[2] > counts[0]/2 || counts[3] > counts[2] || counts[4] > 3 {
		t.Errorf("iterations %v", counts)
	}

	// Jacobi pays where the diagonal is uneven.
	diagonal := withCondition(t, n, 10, 3)
	for i := range n {
		for j := i; j < n; j++ {
			s := math.Pow(10, float64(i%4+j%4)/2)
			diagonal.SetSym(i, j, s*diagonal.At(i, j))
		}
	}
	a, noise = diagonal, constant(n, 0)
	if jacobi, err = NewJacobi(a.diag(), noise); err != nil {
		t.Fatal(err)
	}
	if none, some := iterations(nil), iterations(jacobi); some > none/4 {
		t.Errorf("Jacobi takes %d iterations, none %d", some, none)
	}
}

func BenchmarkLowRankApply(b *testing.B) {
	const n, rank = 1 << 16, 100
	p, err := NewLowRank(normals(n, rank, 1), constant(n, 0.1))
	if err != nil {
		b.Fatal(err)
	}
	for _, k := range []int{1, 16} {
		b.Run(fmt.Sprintf("columns=%d", k), func(b *testing.B) {
			r, x := normals(n, k, 2), mat.NewDense(n, k, nil)
			for b.Loop() {
				p.Apply(x, r)
			}
			b.ReportMetric(4*float64(n*rank*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gflop/s")
		})
	}
}
