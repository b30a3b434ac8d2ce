package sparse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/rng"
	"grfgp/internal/testkit"
)

// canary marks what a product may not touch.
const canary = -1234.5

// blockWidths are all widths up to 70. The quick suite has those around the widths of strips, 32, 16, 8, 4, 2 and 1.
func blockWidths() []int {
	if !testkit.IsFull() {
		return []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 70}
	}
	all := make([]int, 70)
	for k := range all {
		all[k] = k + 1
	}
	return all
}

// TestMulSameBits compares every kernel, at every block width, stride and
// number of threads, with the sum over stored entries as it is written down.
func TestMulSameBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for name, a := range matrices(t) {
		if a.rows == 0 || a.cols == 0 {
			continue // TestMulEmpty
		}
		for _, width := range blockWidths() {
			x := randomBlock(a.cols, width, width+width%4)
			want := definition(a, x)
			for _, threads := range []int{1, 3} {
				runtime.GOMAXPROCS(threads)
				for kernel, rows := range kernels {
					dst := emptyBlock(a.rows, width, width+width%3)
					a.mul(dst, x, rows)
					if err := sameBits(dst, want); err != nil {
						t.Fatalf("%s, %s, width %d, %d threads: %v", name, kernel, width, threads, err)
					}
				}
			}
		}
	}
}

// TestMulAdd: what is added is the product, to the bit.
func TestMulAdd(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	for name, a := range matrices(t) {
		if a.rows == 0 || a.cols == 0 {
			continue
		}
		for _, width := range blockWidths() {
			x := randomBlock(a.cols, width, width+width%4)
			product := emptyBlock(a.rows, width, width)
			a.mul(product, x, mulRows)
			for kernel, add := range map[string]func(a *CSR, dst, x blas64.General, lo, hi int){"default": mulRowsAdd, "go": mulRowsAddGo} {
				dst := randomBlock(a.rows, width, width)
				want := slices.Clone(dst.Data)
				for q, v := range product.Data {
					want[q] += v
				}
				a.mul(dst, x, add)
				if !slices.Equal(dst.Data, want) {
					t.Fatalf("%s, %s, width %d: another sum", name, kernel, width)
				}
			}
		}
	}
}

// TestMulLarge: a result that is too large for the caches may take another way.
func TestMulLarge(t *testing.T) {
	t.Parallel()
	a := randomCSR(t, 1<<16, 100, func(i int) int { return i % 3 })
	x := randomBlock(100, 64, 64)
	dst := emptyBlock(a.rows, 64, 64)
	a.mul(dst, x, mulRows)
	if err := sameBits(dst, definition(a, x)); err != nil {
		t.Error(err)
	}
}

// TestFusedDiffers shows that the comparison above would notice a kernel that
// fuses products and sums.
func TestFusedDiffers(t *testing.T) {
	t.Parallel()
	a := matrices(t)["short rows"]
	x := randomBlock(a.cols, 1, 1)
	want := definition(a, x)
	differ := 0
	for i := range a.rows {
		cols, vals := a.Row(i)
		s := 0.0
		for p, j := range cols {
			s = math.FMA(vals[p], x.Data[j], s)
		}
		if s != want[i] {
			differ++
		}
	}
	if differ < a.rows/4 {
		t.Errorf("only %d of %d sums differ when fused", differ, a.rows)
	}
}

// TestMulSpecialValues: zeros keep their sign rules, infinities pass through.
func TestMulSpecialValues(t *testing.T) {
	t.Parallel()
	a := mustCSR(t, 4, 3, []int{0, 1, 2, 4, 4}, []uint32{0, 1, 1, 2}, []float64{-1, 2, 0.5, math.SmallestNonzeroFloat64})
	for width := 1; width <= 40; width++ {
		x := emptyBlock(3, width, width)
		for c := range width {
			x.Data[c] = 0
			x.Data[width+c] = math.Inf(1 - 2*(c%2))
			x.Data[2*width+c] = math.SmallestNonzeroFloat64
		}
		want := definition(a, x)
		for kernel, rows := range kernels {
			dst := emptyBlock(4, width, width)
			a.mul(dst, x, rows)
			if err := sameBits(dst, want); err != nil {
				t.Errorf("%s, width %d: %v", kernel, width, err)
			}
		}
	}
}

// TestMul compares the exported products with dense ones.
func TestMul(t *testing.T) {
	t.Parallel()
	a := matrices(t)["short rows"]
	dense := mat.NewDense(a.rows, a.cols, nil)
	for i := range a.rows {
		for j := range a.cols {
			dense.Set(i, j, a.At(i, j))
		}
	}
	// Views from the middle of larger matrices.
	x := blockDense(randomBlock(a.cols+3, 20, 20)).Slice(2, a.cols+2, 3, 16).(*mat.Dense)
	dst := mat.NewDense(a.rows+2, 30, nil).Slice(1, a.rows+1, 5, 18).(*mat.Dense)
	var want mat.Dense
	want.Mul(dense, x)
	a.Mul(dst, x)
	if !mat.EqualApprox(dst, &want, 1e-12) {
		t.Error("A·x differs from the dense product")
	}

	y := blockDense(randomBlock(a.rows, 13, 13))
	dst = mat.NewDense(a.cols, 13, nil)
	want.Reset()
	want.Mul(dense.T(), y)
	a.T().Mul(dst, y)
	if !mat.EqualApprox(dst, &want, 1e-12) {
		t.Error("Aᵀ·y differs from the dense product")
	}

	// One vector gives the bits of that column of a block.
	vec, in := make([]float64, a.cols), make([]float64, a.rows)
	a.T().MulVec(vec, mat.Col(in, 7, y))
	if !slices.Equal(vec, mat.Col(nil, 7, dst)) {
		t.Error("MulVec differs from the column of a block")
	}
}

func TestMulEmpty(t *testing.T) {
	t.Parallel()
	var none mat.Dense
	matrices := matrices(t)
	matrices["empty"].Mul(&none, &none)
	matrices["empty"].MulVec(nil, nil)
	matrices["no rows"].Mul(&none, mat.NewDense(5, 3, nil))
	matrices["no rows"].MulVec(nil, make([]float64, 5))

	dst := blockDense(emptyBlock(5, 3, 3))
	matrices["no columns"].Mul(dst, &none)
	if mat.Norm(dst, 1) != 0 {
		t.Error("a matrix without columns gives something other than zeros")
	}
}

func TestMulPanics(t *testing.T) {
	t.Parallel()
	a := randomCSR(t, 6, 6, func(int) int { return 2 })
	b := randomCSR(t, 6, 4, func(int) int { return 2 })
	big := mat.NewDense(20, 10, nil)
	view := func(i, j, rows, cols int) *mat.Dense { return big.Slice(i, i+rows, j, j+cols).(*mat.Dense) }
	narrow := mat.NewDense(40, 5, big.RawMatrix().Data)
	vec := make([]float64, 12)
	for _, tc := range []struct {
		name string
		do   func()
		want string
	}{
		{"rows of dst", func() { b.Mul(mat.NewDense(5, 3, nil), mat.NewDense(4, 3, nil)) }, "6×4 with 4×3 into 5×3"},
		{"rows of x", func() { b.Mul(mat.NewDense(6, 3, nil), mat.NewDense(6, 3, nil)) }, "6×4 with 6×3 into 6×3"},
		{"widths", func() { b.Mul(mat.NewDense(6, 2, nil), mat.NewDense(4, 3, nil)) }, "6×4 with 4×3 into 6×2"},
		{"dst without size", func() { b.Mul(&mat.Dense{}, mat.NewDense(4, 3, nil)) }, "6×4 with 4×3 into 0×0"},
		{"vector", func() { b.MulVec(make([]float64, 6), make([]float64, 3)) }, "6×4 with 3×1 into 6×1"},
		{"the same", func() { a.Mul(view(0, 0, 6, 4), view(0, 0, 6, 4)) }, "overlapping"},
		{"shared column", func() { a.Mul(view(0, 0, 6, 4), view(0, 3, 6, 4)) }, "overlapping"},
		{"shared column, turned", func() { a.Mul(view(0, 3, 6, 4), view(0, 0, 6, 4)) }, "overlapping"},
		{"shared corner", func() { a.Mul(view(5, 3, 6, 4), view(0, 0, 6, 4)) }, "overlapping"},
		{"shared other corner", func() { a.Mul(view(5, 0, 6, 4), view(0, 3, 6, 4)) }, "overlapping"},
		{"other stride", func() { a.Mul(view(0, 0, 6, 4), narrow.Slice(4, 10, 0, 4).(*mat.Dense)) }, "overlapping"},
		{"vectors", func() { a.MulVec(vec[:6], vec[5:11]) }, "overlapping"},

		{"side by side", func() { a.Mul(view(0, 0, 6, 5), view(0, 5, 6, 5)) }, ""},
		{"side by side, turned", func() { a.Mul(view(0, 5, 6, 5), view(0, 0, 6, 5)) }, ""},
		{"side by side, rows apart", func() { a.Mul(view(3, 0, 6, 4), view(0, 6, 6, 4)) }, ""},
		{"above each other", func() { a.Mul(view(6, 0, 6, 10), view(0, 0, 6, 10)) }, ""},
		{"vectors end to end", func() { a.MulVec(vec[:6], vec[6:]) }, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			defer func() {
				switch got := recover(); {
				case tc.want == "" && got != nil:
					t.Errorf("panic: %v", got)
				case tc.want != "" && (got == nil || !strings.Contains(fmt.Sprint(got), tc.want)):
					t.Errorf("panic is %v, want one with %q", got, tc.want)
				}
			}()
			tc.do()
		})
	}
}

// TestCut: blocks cover the rows in order, and no block has more than its share
// of work plus one row.
func TestCut(t *testing.T) {
	t.Parallel()
	for name, a := range matrices(t) {
		longest := 0
		for i := range a.rows {
			longest = max(longest, a.rowPtr[i+1]-a.rowPtr[i]+1)
		}
		for _, n := range []int{1, 2, 3, 7, 100} {
			if a.cut(0, n) != 0 || a.cut(n, n) != a.rows {
				t.Errorf("%s in %d blocks: rows %d to %d of %d", name, n, a.cut(0, n), a.cut(n, n), a.rows)
			}
			for b := range n {
				lo, hi := a.cut(b, n), a.cut(b+1, n)
				if lo > hi {
					t.Fatalf("%s, block %d of %d: rows %d to %d", name, b, n, lo, hi)
				}
				if work := a.rowPtr[hi] - a.rowPtr[lo] + hi - lo; work > a.work()/n+1+longest {
					t.Errorf("%s, block %d of %d: work %d of %d", name, b, n, work, a.work())
				}
			}
		}
	}
}

func TestAllocations(t *testing.T) {
	a := randomCSR(t, 2000, 2000, func(i int) int { return i % 20 })
	x, dst := randomBlock(2000, 16, 16), emptyBlock(2000, 16, 16)
	for kernel, rows := range kernels {
		if n := testing.AllocsPerRun(10, func() { rows(a, dst, x, 10, 1990) }); n != 0 {
			t.Errorf("%s allocates %v times", kernel, n)
		}
	}
	small := randomCSR(t, 100, 100, func(int) int { return 10 })
	sx, sd := blockDense(randomBlock(100, 16, 16)), mat.NewDense(100, 16, nil)
	if n := testing.AllocsPerRun(10, func() { small.Mul(sd, sx) }); n != 0 {
		t.Errorf("a small product allocates %v times", n)
	}
	// Goroutines and their bookkeeping, whatever the size.
	mx, md := blockDense(x), blockDense(dst)
	if n := testing.AllocsPerRun(10, func() { a.Mul(md, mx) }); n > 16 {
		t.Errorf("a large product allocates %v times", n)
	}
}

// definition returns A·x row by row without padding, as Mul defines it.
func definition(a *CSR, x blas64.General) []float64 {
	out := make([]float64, 0, a.rows*x.Cols)
	for i := range a.rows {
		cols, vals := a.Row(i)
		for c := range x.Cols {
			sum := 0.0
			for p, j := range cols {
				product := vals[p] * x.Data[int(j)*x.Stride+c]
				sum += float64(product)
			}
			out = append(out, sum)
		}
	}
	return out
}

// sameBits compares dst with want, and looks for canaries between the rows.
func sameBits(dst blas64.General, want []float64) error {
	for k, got := range dst.Data {
		i, c := k/dst.Stride, k%dst.Stride
		expected := canary
		if c < dst.Cols {
			expected = want[i*dst.Cols+c]
		}
		if math.Float64bits(got) != math.Float64bits(expected) && !(math.IsNaN(got) && math.IsNaN(expected)) {
			return fmt.Errorf("entry (%d, %d) is %v, want %v", i, c, got, expected)
		}
	}
	return nil
}

func randomBlock(rows, cols, stride int) blas64.General {
	r := rand.New(rng.New(2, "sparse test", uint64(rows), uint64(cols)))
	b := emptyBlock(rows, cols, stride)
	for k := range b.Data {
		b.Data[k] = r.NormFloat64()
	}
	return b
}

// emptyBlock is full of canaries.
func emptyBlock(rows, cols, stride int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: stride, Data: slices.Repeat([]float64{canary}, rows*stride)}
}

func blockDense(b blas64.General) *mat.Dense {
	var m mat.Dense
	m.SetRawMatrix(b)
	return &m
}
