//go:build !purego

package sparse

import (
	"unsafe"

	"golang.org/x/sys/cpu"
	"gonum.org/v1/gonum/blas/blas64"
)

// streamBytes is the size of a dst from which writing past the caches pays: it
// saves reading what is about to be overwritten, and dst would not stay anyway.
const streamBytes = 32 << 20

// mulRows sets rows lo to hi of dst to those of A·x, as mulRowsGo does.
func mulRows(a *CSR, dst, x blas64.General, lo, hi int) {
	switch {
	case lo == hi || dst.Cols == 0:
	case !cpu.X86.HasAVX2:
		mulRowsGo(a, dst, x, lo, hi)
	case 8*dst.Rows*dst.Cols >= streamBytes && streamable(dst):
		mulRowsStreamAVX2(&dst.Data[lo*dst.Stride], dst.Stride, unsafe.SliceData(x.Data), x.Stride, dst.Cols,
			&a.rowPtr[lo], hi-lo, unsafe.SliceData(a.colIdx), unsafe.SliceData(a.val))
	case a.near() && dst.Cols == 4:
		mulRowsNear4AVX2(&dst.Data[lo*dst.Stride], dst.Stride, unsafe.SliceData(x.Data), x.Stride, dst.Cols,
			&a.rowPtr[lo], hi-lo, unsafe.SliceData(a.colIdx), unsafe.SliceData(a.val))
	case a.near():
		mulRowsNearAVX2(&dst.Data[lo*dst.Stride], dst.Stride, unsafe.SliceData(x.Data), x.Stride, dst.Cols,
			&a.rowPtr[lo], hi-lo, unsafe.SliceData(a.colIdx), unsafe.SliceData(a.val))
	default:
		mulRowsAVX2(&dst.Data[lo*dst.Stride], dst.Stride, unsafe.SliceData(x.Data), x.Stride, dst.Cols,
			&a.rowPtr[lo], hi-lo, unsafe.SliceData(a.colIdx), unsafe.SliceData(a.val))
	}
}

// mulRowsAdd adds rows lo to hi of A·x to dst, as mulRowsAddGo does.
func mulRowsAdd(a *CSR, dst, x blas64.General, lo, hi int) {
	switch {
	case lo == hi || dst.Cols == 0:
	case !cpu.X86.HasAVX2:
		mulRowsAddGo(a, dst, x, lo, hi)
	case a.near():
		mulRowsAddNearAVX2(&dst.Data[lo*dst.Stride], dst.Stride, unsafe.SliceData(x.Data), x.Stride, dst.Cols,
			&a.rowPtr[lo], hi-lo, unsafe.SliceData(a.colIdx), unsafe.SliceData(a.val))
	default:
		mulRowsAddAVX2(&dst.Data[lo*dst.Stride], dst.Stride, unsafe.SliceData(x.Data), x.Stride, dst.Cols,
			&a.rowPtr[lo], hi-lo, unsafe.SliceData(a.colIdx), unsafe.SliceData(a.val))
	}
}

// mulSingleAdd adds rows lo to hi of A·x to dst, as mulSingleAddGo does.
func mulSingleAdd(a *CSR, val []float32, dst, x Block[float32], lo, hi int) {
	switch {
	case lo == hi || dst.Cols == 0:
	case !cpu.X86.HasAVX2:
		mulSingleAddGo(a, val, dst, x, lo, hi)
	case a.near():
		mulSingleAddNearAVX2(&dst.Data[lo*dst.Stride], dst.Stride, unsafe.SliceData(x.Data), x.Stride, dst.Cols,
			&a.rowPtr[lo], hi-lo, unsafe.SliceData(a.colIdx), unsafe.SliceData(val))
	default:
		mulSingleAddAVX2(&dst.Data[lo*dst.Stride], dst.Stride, unsafe.SliceData(x.Data), x.Stride, dst.Cols,
			&a.rowPtr[lo], hi-lo, unsafe.SliceData(a.colIdx), unsafe.SliceData(val))
	}
}

// dotRows is dotRowsGo; the indices have been checked.
func dotRows(dst, u []float64, v blas64.General, cols []uint32) {
	if !cpu.X86.HasAVX2 || len(u) == 0 || len(u)%4 != 0 {
		dotRowsGo(dst, u, v, cols)
		return
	}
	dotsAVX2(&dst[0], &u[0], &v.Data[0], v.Stride, len(u), &cols[0], len(cols))
}

// dotRowsSingle is dotRowsSingleGo; the indices have been checked.
func dotRowsSingle(dst []float64, u []float32, v Block[float32], cols []uint32) {
	if !cpu.X86.HasAVX2 || len(u) == 0 {
		dotRowsSingleGo(dst, u, v, cols)
		return
	}
	dotsSingleAVX2(&dst[0], &u[0], &v.Data[0], v.Stride, len(u), &cols[0], len(cols))
}

// mulSingle sets rows lo to hi of dst to those of A·x, as mulSingleGo does.
func mulSingle(a *CSR, val []float32, dst, x Block[float32], lo, hi int) {
	switch {
	case lo == hi || dst.Cols == 0:
	case !cpu.X86.HasAVX2:
		mulSingleGo(a, val, dst, x, lo, hi)
	case 4*dst.Rows*dst.Cols >= streamBytes && streamableSingle(dst):
		mulSingleStreamAVX2(&dst.Data[lo*dst.Stride], dst.Stride, unsafe.SliceData(x.Data), x.Stride, dst.Cols,
			&a.rowPtr[lo], hi-lo, unsafe.SliceData(a.colIdx), unsafe.SliceData(val))
	case a.near() && dst.Cols == 4:
		mulSingleNear4AVX2(&dst.Data[lo*dst.Stride], dst.Stride, unsafe.SliceData(x.Data), x.Stride, dst.Cols,
			&a.rowPtr[lo], hi-lo, unsafe.SliceData(a.colIdx), unsafe.SliceData(val))
	case a.near():
		mulSingleNearAVX2(&dst.Data[lo*dst.Stride], dst.Stride, unsafe.SliceData(x.Data), x.Stride, dst.Cols,
			&a.rowPtr[lo], hi-lo, unsafe.SliceData(a.colIdx), unsafe.SliceData(val))
	default:
		mulSingleAVX2(&dst.Data[lo*dst.Stride], dst.Stride, unsafe.SliceData(x.Data), x.Stride, dst.Cols,
			&a.rowPtr[lo], hi-lo, unsafe.SliceData(a.colIdx), unsafe.SliceData(val))
	}
}

func streamableSingle(dst Block[float32]) bool {
	return dst.Cols%16 == 0 && dst.Stride%16 == 0 && uintptr(unsafe.Pointer(unsafe.SliceData(dst.Data)))%64 == 0
}

// streamable reports whether the rows of dst are whole cache lines.
func streamable(dst blas64.General) bool {
	return dst.Cols%8 == 0 && dst.Stride%8 == 0 && uintptr(unsafe.Pointer(unsafe.SliceData(dst.Data)))%64 == 0
}
