//go:build !purego

package sparse

import (
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/cpu"

	"grfgp/internal/testkit"
)

// TestStream compares the kernel that writes past the caches, which products
// take for large results only, with the definition.
func TestStream(t *testing.T) {
	t.Parallel()
	if !cpu.X86.HasAVX2 {
		t.Skip("this processor has no AVX2")
	}
	for name, a := range matrices(t) {
		if a.rows == 0 || a.cols == 0 {
			continue
		}
		for width := 8; width <= 72; width += 8 {
			x := randomBlock(a.cols, width, width+3)
			dst := emptyBlock(a.rows+1, width, width+8)
			// Whole cache lines: step to the next one.
			for !streamable(dst) {
				dst.Data = dst.Data[1:]
			}
			dst.Rows, dst.Data = a.rows, dst.Data[:a.rows*dst.Stride]
			mulRowsStreamAVX2(&dst.Data[0], dst.Stride, &x.Data[0], x.Stride, width,
				&a.rowPtr[0], a.rows, unsafe.SliceData(a.colIdx), unsafe.SliceData(a.val))
			if err := sameBits(dst, definition(a, x)); err != nil {
				t.Fatalf("%s, width %d: %v", name, width, err)
			}
		}
	}
}

// TestFar compares products that prefetch, which matrices with scattered columns take,
// with the definition; the small matrices of other tests are all near.
func TestFar(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	for name, a := range matrices(t) {
		if a.rows == 0 || a.cols == 0 {
			continue
		}
		if far := name == "scattered"; far != !a.near() && name != "wide" {
			t.Errorf("%s: near is %v", name, a.near())
		}
		far := &CSR{rows: a.rows, cols: a.cols, rowPtr: a.rowPtr, colIdx: a.colIdx, val: a.val}
		far.nearOnce.Do(func() {})
		for _, width := range blockWidths() {
			x := randomBlock(a.cols, width, width+width%4)
			dst := emptyBlock(a.rows, width, width+width%3)
			far.mul(dst, x, mulRows)
			if err := sameBits(dst, definition(a, x)); err != nil {
				t.Fatalf("%s, width %d: %v", name, width, err)
			}
			sum, want := randomBlock(a.rows, width, width), randomBlock(a.rows, width, width)
			far.mul(sum, x, mulRowsAdd)
			a.mul(want, x, mulRowsAddGo)
			if !slices.Equal(sum.Data, want.Data) {
				t.Fatalf("%s, width %d: other sums", name, width)
			}
			narrow := randomSingle(a.cols, width, width)
			one, other := randomSingle(a.rows, width, width), randomSingle(a.rows, width, width)
			for _, do := range []func(*CSR, Block[float32]){
				func(a *CSR, dst Block[float32]) {
					ValuesOf[float32](a).Multiply(dst, narrow, 0, false)
				},
				func(a *CSR, dst Block[float32]) {
					ValuesOf[float32](a).Multiply(dst, narrow, 0, true)
				},
			} {
				do(far, one)
				do(a, other)
				if !slices.Equal(one.Data, other.Data) {
					t.Fatalf("%s, width %d: other numbers in float32", name, width)
				}
			}
		}
	}
}
