package eigen

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	"grfgp/sparse"
)

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func normalized(t testing.TB, g *graph.Graph, err error) *sparse.CSR {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return g.Normalized(graph.NormalizedAdjacency)
}

// off returns how far the columns of x are from orthonormal.
func off(x *mat.Dense) float64 {
	var gram mat.Dense
	gram.Mul(x.T(), x)
	for i := range gram.RawMatrix().Rows {
		gram.Set(i, i, gram.At(i, i)-1)
	}
	return mat.Norm(&gram, 2)
}

// normals returns a matrix of independent numbers.
func normals(random *rand.Rand, rows, cols int) *mat.Dense {
	x := mat.NewDense(rows, cols, nil)
	for i := range rows {
		for c := range cols {
			x.Set(i, c, random.NormFloat64())
		}
	}
	return x
}

// TestOrthonormal: columns over up to sixty decades become an orthonormal basis of their span: of as many columns as there are
// directions that rounding, grown by 10¹², has left.
func TestOrthonormal(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	random := rand.New(rng.New(1, "columns"))
	for _, c := range []struct {
		name        string
		rank, width int
		decades     float64 // of singular values
		sizes       float64 // decades of the lengths of columns
		least, most int     // columns left
	}{
		{"random", 40, 40, 0, 0, 40, 40},
		{"one", 1, 1, 0, 0, 1, 1},
		{"one is zero", 0, 1, 0, 0, 0, 0},
		{"zeros", 0, 40, 0, 0, 0, 0},
		{"long and short ones", 40, 40, 2, 200, 40, 40},
		{"copies of one", 1, 40, 0, 30, 1, 1},
		{"of low rank", 15, 40, 0, 3, 15, 15},
		{"of low rank, over eight decades", 15, 40, 8, 3, 15, 15},
		{"over ten decades", 40, 40, 10, 0, 40, 40},
		{"over sixty decades", 60, 60, 60, 0, 11, 16},
		{"as many as rows", 500, 500, 3, 0, 500, 500},
	} {
		x := mat.NewDense(500, c.width, nil)
		for k := range c.rank {
			size := math.Pow(10, -c.decades*float64(k)/float64(max(1, c.rank-1)))
			u, v := normals(random, 500, 1), normals(random, c.width, 1)
			x.RankOne(x, size, u.ColView(0), v.ColView(0))
		}
		want := mat.DenseCopyOf(x)
		for i := range 500 {
			for k, v := range x.RawRowView(i) {
				x.Set(i, k, v*math.Pow(10, c.sizes*float64(k%7-3)/6))
			}
		}
		b := &Block{X: x}
		if err := b.orthonormalize(); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := b.Width(); got < c.least || got > c.most {
			t.Errorf("%s: %d columns, want %d to %d", c.name, got, c.least, c.most)
		}
		if b.X == nil {
			continue
		}
		if e := off(b.X); e > 1e-12 {
			t.Errorf("%s: %.2g from orthonormal", c.name, e)
		}
		var parts, rest mat.Dense
		parts.Mul(b.X.T(), want)
		rest.Mul(b.X, &parts)
		rest.Sub(&rest, want)
		if e := mat.Norm(&rest, 2) / mat.Norm(want, 2); e > 1e-10 {
			t.Errorf("%s: %.2g of the columns is outside the basis", c.name, e)
		}
	}
	b := &Block{X: mat.NewDense(3, 2, []float64{1, math.NaN(), 0, 1, 2, 3})}
	if err := b.orthonormalize(); err != nil || b.Width() != 1 {
		t.Errorf("a column that is not finite: %v, %d columns left", err, b.Width())
	}
}

// TestBlock compares with all eigenvectors: residuals bound the errors of eigenvalues, and those of filtered vectors become
// tiny.
func TestBlock(t *testing.T) {
	t.Parallel()
	grid, err := graph.Grid(17, 20)
	w := normalized(t, grid, err)
	n, _ := w.Dims()
	u := mat.NewDense(n, n, nil)
	for i := range n {
		cols, vals := w.Row(i)
		for p, j := range cols {
			u.Set(i, int(j), 3*vals[p])
		}
	}
	want, err := Symmetric(u, Falling)
	if err != nil {
		t.Fatal(err)
	}
	const sought, width = 10, 36 // more columns than a slab has
	b := Start(w, upTo(n), width, "test")
	b.Unit = 3
	for round := range 6 {
		if err := b.Filter(context.Background(), 20, 2/(want[width]/3+1), (want[width]/3-1)/(want[width]/3+1)); err != nil {
			t.Fatal(err)
		}
		values, err := b.Ritz(Falling)
		if err != nil {
			t.Fatal(err)
		}
		if e := off(b.X); e > 1e-13 {
			t.Errorf("round %d: %.2g from orthonormal", round, e)
		}
		residuals := b.Residuals(values)
		for k, v := range values {
			nearest := math.Inf(1)
			for _, exact := range want {
				nearest = min(nearest, math.Abs(exact-v))
			}
			if nearest > residuals[k]+1e-13 {
				t.Errorf("round %d: no eigenvalue is within %.2g of %v", round, residuals[k], v)
			}
			if v > want[k]+1e-12 {
				t.Errorf("round %d: value %d is %v, above the eigenvalue %v", round, k, v, want[k])
			}
		}
		if largest := slices.Max(residuals[:sought]); round == 5 && !(largest < 1e-12) {
			t.Errorf("residuals are still %.2g", largest)
		}
	}
	for i := range sought { // the first vectors are in the span of the exact ones
		inside := 0.0
		for k := range sought + 8 {
			inside += math.Pow(mat.Dot(b.X.ColView(i), u.ColView(k)), 2)
		}
		if math.Abs(inside-1) > 1e-10 {
			t.Errorf("vector %d is %.2g inside its span", i, inside)
		}
	}
}

// TestFilter compares the span with that of the polynomial on a diagonal matrix, and looks at Rate.
func TestFilter(t *testing.T) {
	t.Parallel()
	const n, degree = 60, 7
	values := make(diagonal, n)
	for i := range n {
		values[i] = -1 + 2.5*float64(i)/(n-1)
	}
	b := Start(values, upTo(n), 1, "test")
	want := mat.DenseCopyOf(b.X)
	for i, v := range values {
		y := 1.1*v - 0.2
		growth := math.Cos(degree * math.Acos(max(-1, min(1, y))))
		if y > 1 {
			growth = math.Cosh(degree * math.Acosh(y))
		} else if y < -1 {
			growth = -math.Cosh(degree * math.Acosh(-y))
		}
		want.Set(i, 0, want.At(i, 0)*growth)
	}
	if err := b.Filter(context.Background(), degree, 1.1, 0.2); err != nil {
		t.Fatal(err)
	}
	if c := mat.Dot(b.X.ColView(0), want.ColView(0)) / mat.Norm(want, 2); math.Abs(math.Abs(c)-1) > 1e-13 {
		t.Errorf("the cosine with the polynomial is %v", c)
	}
	for _, y := range []float64{1.01, 1.3, 8} {
		if got, want := math.Exp(50*Rate(y))/2, math.Cosh(50*math.Acosh(y)); math.Abs(got-want) > 0.2*want {
			t.Errorf("at %v a filter of degree 50 is %v, want %v", y, got, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := b.Filter(ctx, degree, 1, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancellation: %v", err)
	}
}

// diagonal is a diagonal matrix.
type diagonal []float64

func (d diagonal) Dims() (rows, cols int) { return len(d), len(d) }

func (d diagonal) Mul(dst, x *mat.Dense) {
	dst.Apply(func(i, _ int, v float64) float64 { return d[i] * v }, x)
}

// TestProduct: a product with a matrix of low rank leaves as many columns as its rank.
func TestProduct(t *testing.T) {
	t.Parallel()
	d := make(diagonal, 100)
	copy(d, []float64{3, -2, 1})
	b := Start(d, upTo(100), 20, "test")
	if err := b.Filter(context.Background(), 1, 1, 0); err != nil || b.Width() != 3 {
		t.Fatal(err, b.Width())
	}
	values, err := b.Ritz(Magnitude)
	if err != nil {
		t.Fatal(err)
	}
	residuals := b.Residuals(values)
	for k, want := range []float64{3, -2, 1} {
		if math.Abs(values[k]-want) > 1e-13 || residuals[k] > 1e-13 {
			t.Errorf("pairs %v with residuals %v", values, residuals)
		}
	}
	b.A = make(diagonal, 100)
	if err := b.Filter(context.Background(), 1, 1, 0); err != nil || b.Width() != 0 {
		t.Errorf("after a product with zero: %v, %d columns", err, b.Width())
	}
}

// TestBlockThreads: the same bits on one processor and on several.
func TestBlockThreads(t *testing.T) { // sets the number of threads, so runs alone
	g, err := graph.BarabasiAlbert(9000, 3, 1)
	w := normalized(t, g, err)
	on := func(threads int) ([]float64, *mat.Dense) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		b := Start(w, upTo(9000), 70, "test")
		if err := b.Filter(context.Background(), 9, 2, 0.5); err != nil {
			t.Fatal(err)
		}
		values, err := b.Ritz(Falling)
		if err != nil {
			t.Fatal(err)
		}
		return append(values, b.Residuals(values)...), b.X
	}
	values, x := on(1)
	for _, threads := range []int{2, 5} {
		if v, y := on(threads); !slices.Equal(v, values) || !mat.Equal(x, y) {
			t.Errorf("other vectors on %d processors than on one", threads)
		}
	}
}

// BenchmarkBlock is a round on a graph with hubs.
func BenchmarkBlock(b *testing.B) {
	for _, n := range []int{2_000, 50_000} {
		g, err := graph.BarabasiAlbert(n, 3, 1)
		w := normalized(b, g, err)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				x := Start(w, upTo(n), 128, "test")
				if err := x.Filter(context.Background(), 8, 1, -1); err != nil {
					b.Fatal(err)
				}
				values, err := x.Ritz(Falling)
				if err != nil {
					b.Fatal(err)
				}
				x.Residuals(values)
			}
		})
	}
}
