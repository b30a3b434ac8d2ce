//go:build !purego

package sparse

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// TestStream compares the kernel that writes past the caches, which products
// take for large results only, with the definition.
func TestStream(t *testing.T) {
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
