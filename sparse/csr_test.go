package sparse

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"grfgp/internal/rng"
)

func TestNewCSRRejects(t *testing.T) {
	t.Parallel()
	type entries = []uint32
	for _, tc := range []struct {
		name       string
		rows, cols int
		rowPtr     []int
		colIdx     []uint32
		val        []float64
		want       string
	}{
		{"negative rows", -1, 2, nil, nil, nil, "-1×2 is out of range"},
		{"negative columns", 2, -1, []int{0, 0, 0}, nil, nil, "2×-1 is out of range"},
		{"too many rows", MaxCols + 1, 2, nil, nil, nil, "2147483648×2 is out of range"},
		{"too many columns", 0, MaxCols + 1, []int{0}, nil, nil, "0×2147483648 is out of range"},
		{"no row pointers", 0, 0, nil, nil, nil, "0 row pointers for 0 rows, want 1"},
		{"too few row pointers", 2, 2, []int{0, 1}, entries{0}, []float64{1}, "2 row pointers for 2 rows, want 3"},
		{"first pointer", 1, 2, []int{1, 1}, entries{0}, []float64{1}, "first row pointer is 1, want 0"},
		{"last pointer too small", 1, 2, []int{0, 1}, entries{0, 1}, []float64{1, 1}, "last row pointer is 1, but there are 2"},
		{"last pointer too large", 1, 2, []int{0, 3}, entries{0, 1}, []float64{1, 1}, "last row pointer is 3, but there are 2"},
		{"fewer values than columns", 1, 2, []int{0, 2}, entries{0, 1}, []float64{1}, "2 column indices, but 1 values"},
		{"decreasing pointers", 3, 2, []int{0, 2, 1, 2}, entries{0, 1}, []float64{1, 1}, "row pointers decrease at row 1"},
		{"pointer beyond the end", 2, 2, []int{0, 9, 2}, entries{0, 1}, []float64{1, 1}, "row pointers decrease at row 1"},
		{"negative pointer", 2, 2, []int{0, -1, 2}, entries{0, 1}, []float64{1, 1}, "row pointers decrease at row 0"},
		{"column out of range", 1, 2, []int{0, 2}, entries{0, 2}, []float64{1, 1}, "entry 1 has column 2 of 2"},
		{"NaN", 1, 2, []int{0, 2}, entries{0, 1}, []float64{1, math.NaN()}, "entry 1 is NaN"},
		{"infinite", 1, 2, []int{0, 2}, entries{0, 1}, []float64{math.Inf(-1), 1}, "entry 0 is -Inf"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, err := NewCSR(tc.rows, tc.cols, tc.rowPtr, tc.colIdx, tc.val)
			if a != nil || !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, %v; want ErrFormat with %q", a, err, tc.want)
			}
		})
	}
}

func TestAccess(t *testing.T) {
	t.Parallel()
	a := mustCSR(t, 3, 4, []int{0, 3, 3, 4}, []uint32{2, 0, 2, 3}, []float64{1, 2, 4, 8})
	if r, c := a.Dims(); r != 3 || c != 4 || a.NNZ() != 4 {
		t.Errorf("%d×%d with %d entries, want 3×4 with 4", r, c, a.NNZ())
	}
	want := [][]float64{{2, 0, 5, 0}, {0, 0, 0, 0}, {0, 0, 0, 8}}
	for i := range want {
		for j, w := range want[i] {
			if got := a.At(i, j); got != w {
				t.Errorf("At(%d, %d) = %v, want %v", i, j, got, w)
			}
		}
	}
	if cols, vals := a.Row(1); len(cols) != 0 || len(vals) != 0 {
		t.Errorf("row 1 holds %v, %v, want nothing", cols, vals)
	}
}

// TestTranspose compares the counting sort, at several numbers of threads, with
// a plain stable sort of the entries by column.
func TestTranspose(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	type entry struct {
		row, col uint32
		val      float64
	}
	all := matrices(t)
	all["banded"] = bandedCSR(t, 90_000, 40_000)
	for name, a := range all {
		var want []entry
		for i := range a.rows {
			cols, vals := a.Row(i)
			for p := range cols {
				want = append(want, entry{cols[p], uint32(i), vals[p]})
			}
		}
		slices.SortStableFunc(want, func(x, y entry) int { return cmp.Compare(x.row, y.row) })

		for _, threads := range []int{1, 2, 5, 16} {
			runtime.GOMAXPROCS(threads)
			checkPlaces(t, a)
			at := a.transposed()
			if _, err := NewCSR(a.cols, a.rows, at.rowPtr, at.colIdx, at.val); err != nil {
				t.Fatalf("%s, %d threads: %v", name, threads, err)
			}
			var got []entry
			for i := range at.rows {
				cols, vals := at.Row(i)
				for p := range cols {
					got = append(got, entry{uint32(i), cols[p], vals[p]})
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %d threads: wrong entries", name, threads)
			}
		}
		if at := a.T(); a.T() != at {
			t.Errorf("%s: the transpose is made twice", name)
		}
	}
}

// checkPlaces compares the transpose of the pattern with that of the matrix, and its places with its values.
func checkPlaces(t *testing.T, a *CSR) {
	t.Helper()
	shape, err := NewPattern(a.rows, a.cols, a.rowPtr, a.colIdx)
	if err != nil {
		t.Fatal(err)
	}
	p, from, to := shape.Transposed()
	for q, r := range from {
		if to[r] != uint32(q) {
			t.Fatalf("entry %d comes from %d, which goes to %d", q, r, to[r])
		}
	}
	at, want := p.Picked(a, from), a.transposed()
	if at.rows != want.rows || at.cols != want.cols || !slices.Equal(at.rowPtr, want.rowPtr) || !slices.Equal(at.colIdx, want.colIdx) ||
		!slices.Equal(at.val, want.val) {
		t.Error("the transpose of the pattern is not that of the matrix")
	}
}

// bandedCSR has up to 8 entries in a row, near the diagonal; blocks of its rows have few columns in common.
func bandedCSR(t testing.TB, rows, cols int) *CSR {
	rowPtr, col, val := make([]int, rows+1), []uint32{}, []float64{}
	for i := range rows {
		for k := range i * 7 % 9 {
			col, val = append(col, uint32((i*cols/rows+k*k)%cols)), append(val, float64(i*k))
		}
		rowPtr[i+1] = len(col)
	}
	a, err := NewCSR(rows, cols, rowPtr, col, val)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// matrices returns one matrix per shape that a kernel might trip over.
func matrices(t testing.TB) map[string]*CSR {
	return map[string]*CSR{
		"empty":      randomCSR(t, 0, 0, nil),
		"no rows":    randomCSR(t, 0, 5, nil),
		"no columns": randomCSR(t, 5, 0, func(int) int { return 0 }),
		"no entries": randomCSR(t, 7, 9, func(int) int { return 0 }),
		"one entry":  randomCSR(t, 1, 1, func(int) int { return 1 }),
		"short rows": randomCSR(t, 500, 300, func(i int) int { return i % 9 }),
		"huge row":   randomCSR(t, 60, 400, func(i int) int { return map[int]int{0: 3, 29: 5000}[i%40] }),
		"hub at end": randomCSR(t, 41, 41, func(i int) int { return 2 + i/40*3000 }),
		"wide":       randomCSR(t, 3, 5000, func(i int) int { return 40 * i }),
		"scattered":  randomCSR(t, 300, 50_000, func(i int) int { return 1 + i%5 }),
		"tall":       randomCSR(t, 3000, 3, func(i int) int { return i * 7 % 5 }),
	}
}

// randomCSR has length(i) entries in row i, at random columns that may repeat,
// with values over many orders of magnitude.
func randomCSR(t testing.TB, rows, cols int, length func(i int) int) *CSR {
	r := rand.New(rng.New(1, "sparse test", uint64(rows), uint64(cols)))
	rowPtr := make([]int, 1, rows+1)
	var colIdx []uint32
	var val []float64
	for i := range rows {
		for range length(i) {
			colIdx = append(colIdx, uint32(r.IntN(cols)))
			val = append(val, math.Ldexp(r.NormFloat64(), r.IntN(20)))
		}
		rowPtr = append(rowPtr, len(val))
	}
	return mustCSR(t, rows, cols, rowPtr, colIdx, val)
}

func mustCSR(t testing.TB, rows, cols int, rowPtr []int, colIdx []uint32, val []float64) *CSR {
	t.Helper()
	a, err := NewCSR(rows, cols, rowPtr, colIdx, val)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestScaled(t *testing.T) {
	t.Parallel()
	a, err := NewCSR(2, 3, []int{0, 2, 3}, []uint32{0, 2, 1}, []float64{1, -2, 0.5})
	if err != nil {
		t.Fatal(err)
	}
	b := a.Scaled(-2)
	for i := range 2 {
		for j := range 3 {
			if b.At(i, j) != -2*a.At(i, j) {
				t.Errorf("entry %d, %d is %v", i, j, b.At(i, j))
			}
		}
	}
}
