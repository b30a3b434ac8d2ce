package solve

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/testkit"
	"grfgp/space"
)

func variances(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 0.05 + float64(i%7)/10
	}
	return v
}

// jacobi returns the preconditioner diag + noise in the memory of this process.
func jacobi(t testing.TB, diag, noise []float64) *Jacobi {
	t.Helper()
	return jacobiIn(t, space.Host(), diag, noise)
}

func jacobiIn(t testing.TB, s space.Space, diag, noise []float64) *Jacobi {
	t.Helper()
	d := make([]float64, len(diag))
	for i := range d {
		d[i] = diag[i] + noise[i]
	}
	j, err := NewJacobi(s, space.Rows(len(d)), d)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// applied returns what a preconditioner makes of x, whose rows this process has all of.
func applied(s space.Space, apply func(dst, x space.Block), x mat.Matrix) *mat.Dense {
	n, columns := x.Dims()
	out := mat.NewDense(n, columns, nil)
	most := min(64, s.MaxColumns())
	for lo := 0; lo < columns; lo += most {
		hi := min(columns, lo+most)
		from, to := s.Block(space.Rows(n), hi-lo), s.Block(space.Rows(n), hi-lo)
		part := mat.NewDense(n, hi-lo, nil)
		for j := lo; j < hi; j++ {
			part.SetCol(j-lo, mat.Col(nil, j, x))
		}
		from.Set(part.RawMatrix().Data)
		apply(to, from)
		to.Get(part.RawMatrix().Data)
		out.Slice(0, n, lo, hi).(*mat.Dense).Copy(part)
		from.Free()
		to.Free()
	}
	return out
}

// checkFactored compares a preconditioner with P itself: P⁻¹, log det P, and
// F⁻¹·P·F⁻ᵀ = I with F⁻ᵀ the transpose of F⁻¹.
func checkFactored(t *testing.T, s space.Space, f Factored, p *mat.SymDense, tol float64) {
	t.Helper()
	n := p.SymmetricDim()
	identity := mat.NewDiagDense(n, constant(n, 1))
	var chol mat.Cholesky
	if !chol.Factorize(p) {
		t.Fatal("P is not positive definite")
	}
	want := mat.NewSymDense(n, nil)
	if err := chol.InverseTo(want); err != nil {
		t.Fatal(err)
	}
	if d := distance(applied(s, f.Apply, identity), want); !(d <= tol) {
		t.Errorf("inverse is off by %g", d)
	}
	if d := math.Abs(f.LogDet() - chol.LogDet()); !(d <= tol*(1+math.Abs(chol.LogDet()))) {
		t.Errorf("log det %g, want %g", f.LogDet(), chol.LogDet())
	}
	var product mat.Dense
	whitenT := applied(s, f.WhitenT, identity)
	product.Mul(p, whitenT)
	if d := distance(applied(s, f.Whiten, &product), identity); !(d <= tol) {
		t.Errorf("F⁻¹PF⁻ᵀ is off the identity by %g", d)
	}
	if d := distance(applied(s, f.Whiten, identity).T(), whitenT); !(d <= tol) {
		t.Errorf("WhitenT is off the transpose of Whiten by %g", d)
	}
	if err := s.Err(); err != nil {
		t.Error(err)
	}
}

func TestJacobi(t *testing.T) {
	t.Parallel()
	const n = 20
	d := variances(n)
	for _, m := range memories() {
		s := m.open()
		j := jacobiIn(t, s, constant(n, 0), d)
		a := &matrix{SymDense: mat.NewSymDense(n, nil)}
		checkFactored(t, s, j, a.shifted(d), max(1e-14, m.rounding))
		j.Free()
		m.empty(t, s)
		if _, err := NewJacobi(s, space.Rows(n), d[:3]); !errors.Is(err, ErrArgument) {
			t.Errorf("%s: %v", m.name, err)
		}
		for _, bad := range []float64{-2, 0, math.NaN(), math.Inf(1)} {
			wrong := variances(n)
			wrong[0] = bad
			if _, err := NewJacobi(s, space.Rows(n), wrong); !errors.Is(err, ErrNotPositiveDefinite) {
				t.Errorf("%s, diagonal %g: %v", m.name, bad, err)
			}
		}
		m.empty(t, s)
	}
}

// TestScaled: D·P·D for a diagonal D has the inverse, the determinant and the factor of its product, in every memory.
func TestScaled(t *testing.T) {
	t.Parallel()
	const n = 30
	u, noise, d, inverse, logDet := normals(n, 4, 1), variances(n), make([]float64, n), make([]float64, n), 0.0
	for i := range d {
		d[i] = 0.5 + float64(i%4)
		inverse[i] = 1 / d[i]
		logDet += 2 * math.Log(d[i])
	}
	want := lowRankDense(u, noise)
	for i := range n {
		for j := i; j < n; j++ {
			want.SetSym(i, j, d[i]*d[j]*want.At(i, j))
		}
	}
	for _, m := range memories() {
		s := m.open()
		p, err := NewLowRank(s, space.Rows(n), u, noise)
		if err != nil {
			t.Fatal(err)
		}
		by := s.Block(space.Rows(n), 1)
		by.Set(inverse)
		f, r := ScaledFactor(p, by, logDet), normals(n, 3, 2)
		checkFactored(t, s, f, want, max(1e-10, 3000*m.rounding))
		if !mat.Equal(applied(s, Scaled(p, by).Apply, r), applied(s, f.Apply, r)) {
			t.Errorf("%s: with a determinant it is another matrix", m.name)
		}
		f.Free()
		m.empty(t, s)
	}
}

// TestPreconditionersPay: low rank plus noise of unequal size, condition about
// 1e6. Iterations to 1e-8 fall from step to step.
func TestPreconditionersPay(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const n, k = 120, 30
	a := lowRankMatrix(t, n, k, 1)
	noise := constant(n, 0)
	for i := range noise {
		noise[i] = 1e-3 * math.Pow(10, float64(i%4))
	}
	b := normals(n, 2, 2)
	iterations := func(p Preconditioner) int {
		x := mat.NewDense(n, 2, nil)
		stats, err := CG(background, x, a, noise, b, p, Options{Tol: 1e-8, MaxIter: 20000})
		if err != nil {
			t.Fatal(err)
		}
		if d := distance(x, solved(t, a, noise, b)); d > 1e-3 {
			t.Errorf("distance %g", d)
		}
		return stats.Iterations
	}
	counts := []int{iterations(nil), iterations(jacobi(t, a.diag(), noise))}
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
	if none, some := iterations(nil), iterations(jacobi(t, a.diag(), noise)); some > none/4 {
		t.Errorf("Jacobi takes %d iterations, none %d", some, none)
	}
}
