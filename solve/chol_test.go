package solve

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/testkit"
)

// Sizes around the leaves and cuts of the recursions.
var cholSizes = []int{1, 2, 23, 24, 25, 65, 96, 97, 128, 200, 299}

func TestCholeskyAgainstGonum(t *testing.T) {
	t.Parallel()
	for _, n := range cholSizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			h := withSpectrum(t, spectrum(n), 1).SymDense
			c, err := NewCholesky(h)
			if err != nil {
				t.Fatal(err)
			}
			checkCholesky(t, c, h)
		})
	}
}

// spectrum runs from 1 to 1e3.
func spectrum(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = math.Pow(1e3, float64(i)/float64(n))
	}
	return v
}

func checkCholesky(t *testing.T, c *Cholesky, h *mat.SymDense) {
	t.Helper()
	const tol = 1e-10
	n := h.SymmetricDim()
	if c.N() != n {
		t.Fatalf("factor of %d rows, want %d", c.N(), n)
	}
	var ref mat.Cholesky
	if !ref.Factorize(h) {
		t.Fatal("test matrix is not positive definite")
	}
	for _, k := range []int{1, 3, 130} {
		b := normals(n, k, 2)
		var want mat.Dense
		if err := ref.SolveTo(&want, b); err != nil {
			t.Fatal(err)
		}
		got := mat.NewDense(n, k, nil)
		c.Solve(got, b)
		if d := distance(got, &want); d > tol {
			t.Errorf("solution of %d columns is off by %g", k, d)
		}
		var lower mat.TriDense
		ref.LTo(&lower)
		c.SolveLower(got, b)
		var back mat.Dense
		back.Mul(&lower, got)
		if d := distance(&back, b); d > tol {
			t.Errorf("L·L⁻¹b of %d columns is off b by %g", k, d)
		}
		inPlace := mat.DenseCopyOf(b)
		c.SolveLower(inPlace, inPlace)
		if !mat.Equal(inPlace, got) {
			t.Error("in place differs")
		}
	}
	if d := math.Abs(c.LogDet() - ref.LogDet()); d > tol*(1+math.Abs(ref.LogDet())) {
		t.Errorf("log det %g, want %g", c.LogDet(), ref.LogDet())
	}
	want, got := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	if err := ref.InverseTo(want); err != nil {
		t.Fatal(err)
	}
	c.Inverse(got)
	if d := distance(got, want); d > tol {
		t.Errorf("inverse is off by %g", d)
	}
	diag := constant(n, math.NaN())
	c.InverseDiag(diag)
	for i, v := range diag {
		if math.Abs(v-want.At(i, i)) > tol*want.At(i, i) {
			t.Fatalf("inverse diagonal %d is %g, want %g", i, v, want.At(i, i))
		}
	}
}

// TestCholeskyAppend grows a factor from nothing, and from a part, to the whole.
func TestCholeskyAppend(t *testing.T) {
	t.Parallel()
	const n = 150
	h := withSpectrum(t, spectrum(n), 1)
	for _, start := range []int{0, 1, 70, 149} {
		part := &mat.SymDense{}
		if start > 0 {
			part = h.SliceSym(0, start).(*mat.SymDense)
		}
		c, err := NewCholesky(part)
		if err != nil {
			t.Fatal(err)
		}
		for i := start; i < n; i++ {
			if err := c.Append(mat.Row(nil, i, h)[:i+1]); err != nil {
				t.Fatal(err)
			}
			if i == start || i == n/2 {
				checkCholesky(t, c, h.SliceSym(0, i+1).(*mat.SymDense))
			}
		}
		checkCholesky(t, c, h.SymDense)

		// A row of its own kind is refused, and changes nothing.
		before := c.LogDet()
		same := append(mat.Row(nil, 3, h), h.At(3, 3)-1e-6)
		if err := c.Append(same); !errors.Is(err, ErrNotPositiveDefinite) || !strings.Contains(err.Error(), "pivot 150") {
			t.Errorf("row given twice: %v", err)
		}
		if err := c.Append(same[:5]); !errors.Is(err, ErrArgument) {
			t.Errorf("short row: %v", err)
		}
		if c.N() != n || c.LogDet() != before {
			t.Error("a refused row changed the factor")
		}
		checkCholesky(t, c, h.SymDense)
	}
}

// Copies that part grow apart: each is the factor of its own matrix, and what
// they were made from stays as it was.
func TestCholeskyCopy(t *testing.T) {
	t.Parallel()
	const n, start = 12, 5
	h := withSpectrum(t, spectrum(n), 3)
	part := h.SliceSym(0, start).(*mat.SymDense)
	first, err := NewCholesky(part)
	if err != nil {
		t.Fatal(err)
	}
	grown := []*Cholesky{first}
	for i := start; i < n; i++ {
		next := grown[len(grown)-1].Copy()
		if err := next.Append(mat.Row(nil, i, h)[:i+1]); err != nil {
			t.Fatal(err)
		}
		grown = append(grown, next)
	}
	// From the middle on, another way: the last row comes first.
	other := grown[2].Copy()
	m := start + 2
	row := append(mat.Row(nil, n-1, h)[:m], h.At(n-1, n-1))
	if err := other.Append(append(row[:m-1:m-1], row[m-1]*100, row[m])); err == nil {
		t.Fatal("a matrix that is not positive definite has a factor")
	}
	if err := other.Append(row); err != nil {
		t.Fatal(err)
	}
	for q, c := range grown {
		checkCholesky(t, c, h.SliceSym(0, start+q).(*mat.SymDense))
	}
	want := mat.NewSymDense(m+1, nil)
	for i := range m {
		for j := i; j < m; j++ {
			want.SetSym(i, j, h.At(i, j))
		}
		want.SetSym(i, m, row[i])
	}
	want.SetSym(m, m, row[m])
	checkCholesky(t, other, want)
}

func TestCholeskyNotPositiveDefinite(t *testing.T) {
	t.Parallel()
	for _, n := range []int{5, 150} {
		for _, pivot := range []int{0, n / 3, n - 1} {
			for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
				h := mat.NewSymDense(n, nil)
				for i := range n {
					h.SetSym(i, i, 2)
				}
				h.SetSym(pivot, pivot, bad)
				_, err := NewCholesky(h)
				if !errors.Is(err, ErrNotPositiveDefinite) || !strings.Contains(err.Error(), fmt.Sprintf("pivot %d of %d", pivot, n)) {
					t.Errorf("%g at %d of %d: %v", bad, pivot, n, err)
				}
			}
		}
	}
}

func TestCholeskyEmpty(t *testing.T) {
	t.Parallel()
	c, err := NewCholesky(&mat.SymDense{})
	if err != nil || c.N() != 0 || c.LogDet() != 0 {
		t.Fatalf("%v, %v", c, err)
	}
	c.Inverse(&mat.SymDense{})
	c.InverseDiag(nil)
	c.Solve(&mat.Dense{}, &mat.Dense{})
}

func TestCholeskyPanics(t *testing.T) {
	t.Parallel()
	c, err := NewCholesky(withSpectrum(t, spectrum(4), 1).SymDense)
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func(){
		"right-hand side": func() { c.Solve(mat.NewDense(5, 1, nil), mat.NewDense(5, 1, nil)) },
		"solution":        func() { c.Solve(mat.NewDense(4, 2, nil), mat.NewDense(4, 1, nil)) },
		"inverse":         func() { c.Inverse(mat.NewSymDense(3, nil)) },
		"diagonal":        func() { c.InverseDiag(make([]float64, 5)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s of the wrong size passes", name)
				}
			}()
			call()
		}()
	}
}

func TestCholeskyDeterministic(t *testing.T) {
	const n = 400
	h := mat.NewSymDense(n, nil)
	h.SymOuterK(1, normals(n, n, 1))
	for i := range n {
		h.SetSym(i, i, h.At(i, i)+1)
	}
	inverse := func(procs int) *mat.SymDense {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		c, err := NewCholesky(h)
		if err != nil {
			t.Fatal(err)
		}
		inv := mat.NewSymDense(n, nil)
		c.Inverse(inv)
		return inv
	}
	for _, procs := range []int{2, 4, 16} {
		if !mat.Equal(inverse(1), inverse(procs)) {
			t.Errorf("other bits on %d processors", procs)
		}
	}
}

// TestCholeskyBits: factors, inverses and solutions of several columns are these
// bits on every processor, with assembly and without.
func TestCholeskyBits(t *testing.T) {
	t.Parallel()
	const n = 331
	h, b := mat.NewSymDense(n, nil), mat.NewDense(n, 14, nil)
	for i := range n {
		for j := i; j < n; j++ {
			h.SetSym(i, j, 1/float64(1+(j-i)*(j-i)))
		}
		for j := range 14 {
			b.Set(i, j, 1/float64(1+i+j))
		}
	}
	c, err := NewCholesky(h)
	if err != nil {
		t.Fatal(err)
	}
	c.Inverse(h)
	c.Solve(b, b)
	sum := fnv.New64a()
	for _, m := range []mat.Matrix{h, b} {
		rows, cols := m.Dims()
		for i := range rows {
			for j := range cols {
				_ = binary.Write(sum, binary.LittleEndian, m.At(i, j))
			}
		}
	}
	if got, want := sum.Sum64(), uint64(0x30c463e391fb76a1); got != want {
		t.Errorf("bits add up to %#x, want %#x", got, want)
	}
}

// TestCholeskyOfIllConditioned: what is left of H·H⁻¹ − I is of the order that
// gonum leaves, whose substitutions are all plain.
func TestCholeskyOfIllConditioned(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const n = 200
	h := withCondition(t, n, 1e10, 1).SymDense
	c, err := NewCholesky(h)
	if err != nil {
		t.Fatal(err)
	}
	var ref mat.Cholesky
	if !ref.Factorize(h) {
		t.Fatal("test matrix is not positive definite")
	}
	left := func(inv *mat.SymDense) float64 {
		var r mat.Dense
		r.Mul(h, inv)
		for i := range n {
			r.Set(i, i, r.At(i, i)-1)
		}
		return mat.Norm(&r, 2)
	}
	got, want := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	c.Inverse(got)
	_ = ref.InverseTo(want) // it reports the condition
	if g, w := left(got), left(want); g > 3*w {
		t.Errorf("residual %g, with gonum %g", g, w)
	} else {
		t.Logf("residual %.3g, with gonum %.3g", g, w)
	}
}

// TestCholeskyInverseIntoPart: a slice of a larger matrix is written where it
// lies, and nothing else.
func TestCholeskyInverseIntoPart(t *testing.T) {
	t.Parallel()
	const n, before, after = 130, 3, 5
	h := withSpectrum(t, spectrum(n), 1).SymDense
	c, err := NewCholesky(h)
	if err != nil {
		t.Fatal(err)
	}
	want := mat.NewSymDense(n, nil)
	c.Inverse(want)
	const room = before + n + after
	data := constant(room*room, 7)
	whole := mat.NewSymDense(room, data)
	part := whole.SliceSym(before, before+n).(*mat.SymDense)
	c.Inverse(part)
	if !mat.Equal(part, want) {
		t.Error("other values in a slice")
	}
	for i := range room {
		for j := range room {
			inside := i >= before && j >= i && j < before+n
			if v := data[i*room+j]; !inside && v != 7 {
				t.Fatalf("element (%d, %d) outside became %g", i, j, v)
			}
		}
	}
}

// TestCholeskyAppendAllocations: room is made rarely.
func TestCholeskyAppendAllocations(t *testing.T) {
	const n = 100
	c, err := NewCholesky(withSpectrum(t, spectrum(n), 1).SymDense)
	if err != nil {
		t.Fatal(err)
	}
	next := func() []float64 {
		r := make([]float64, c.N()+1)
		r[c.N()] = 1
		return r
	}
	if err := c.Append(next()); err != nil {
		t.Fatal(err)
	}
	rows := make([][]float64, 21)
	for i := range rows {
		rows[i] = make([]float64, c.N()+1+i)
		rows[i][c.N()+i] = 1
	}
	i := 0
	if allocs := testing.AllocsPerRun(20, func() {
		if err := c.Append(rows[i]); err != nil {
			t.Fatal(err)
		}
		i++
	}); allocs != 0 {
		t.Errorf("%v allocations a row", allocs)
	}
}

// BenchmarkCholesky reports the speed of what is done with a factor beside
// gonum's.
func BenchmarkCholesky(b *testing.B) {
	for _, n := range []int{500, 1400, 2485} {
		h := mat.NewSymDense(n, nil)
		h.SymOuterK(1/float64(n), normals(n, n, 1))
		for i := range n {
			h.SetSym(i, i, h.At(i, i)+1)
		}
		c, err := NewCholesky(h)
		if err != nil {
			b.Fatal(err)
		}
		var ref mat.Cholesky
		inv, diag, rhs, x := mat.NewSymDense(n, nil), make([]float64, n), normals(n, n, 2), mat.NewDense(n, n, nil)
		one, y := normals(n, 1, 3), mat.NewDense(n, 1, nil)
		ref.Factorize(h)
		squared, cubed := math.Pow(float64(n), 2), math.Pow(float64(n), 3)
		for _, run := range []struct {
			name  string
			flops float64
			do    func()
		}{
			{"factor", cubed / 3, func() { _, _ = NewCholesky(h) }},
			{"factor-gonum", cubed / 3, func() { ref.Factorize(h) }},
			{"inverse", cubed * 2 / 3, func() { c.Inverse(inv) }},
			{"inverse-gonum", cubed * 2 / 3, func() { _ = ref.InverseTo(inv) }},
			{"inverse-diag", cubed / 3, func() { c.InverseDiag(diag) }},
			{"solve-n-columns", 2 * cubed, func() { c.Solve(x, rhs) }},
			{"solve-n-columns-gonum", 2 * cubed, func() { _ = ref.SolveTo(x, rhs) }},
			{"solve-1-column", 2 * squared, func() { c.Solve(y, one) }},
		} {
			b.Run(fmt.Sprintf("n=%d/%s", n, run.name), func(b *testing.B) {
				for b.Loop() {
					run.do()
				}
				b.ReportMetric(run.flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFlop/s")
			})
		}
	}
}

// endsAfter is a context that ends after some looks at it.
type endsAfter struct {
	context.Context
	looks *int
}

func (c endsAfter) Err() error {
	if *c.looks--; *c.looks < 0 {
		return context.Canceled
	}
	return nil
}

// TestCholeskyEnds: a factorisation looks at its context many times on the way, and ends
// with its error.
func TestCholeskyEnds(t *testing.T) {
	t.Parallel()
	const n = 700
	h := mat.NewSymDense(n, nil)
	for i := range n {
		h.SetSym(i, i, 1)
	}
	for looks := range 8 {
		left := looks
		if c, err := NewCholeskyContext(endsAfter{t.Context(), &left}, h); c != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("after %d looks: %v", looks, err)
		}
	}
	if _, err := NewCholeskyContext(t.Context(), h); err != nil {
		t.Error(err)
	}
}
