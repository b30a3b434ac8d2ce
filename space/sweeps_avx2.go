//go:build amd64 && !purego

package space

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// stripRows is how many rows of a wide block go by before the next strip of columns:
// a part of each block that stays near the processor.
const stripRows = 64

// rowsAtOnce returns how many rows one call of the assembly covers.
func rowsAtOnce(rows, columns int) int {
	if columns <= 8 {
		return rows
	}
	return min(rows, stripRows)
}

func isSingle[F floats]() bool { return unsafe.Sizeof(F(0)) == 4 }

func double[F floats](x []F, i int) *float64 { return (*float64)(unsafe.Pointer(&x[i])) }
func single[F floats](x []F, i int) *float32 { return (*float32)(unsafe.Pointer(&x[i])) }

// strips calls do for runs of rows, with their number, the first of them and its place
// in the blocks. It reports whether the assembly can be used.
func strips[F floats](o *operands[F], do func(n, i, at int)) bool {
	k := o.columns
	if !cpu.X86.HasAVX2 || k == 0 {
		return false
	}
	rows := len(o.p) / k
	for i := 0; i < rows; {
		n := rowsAtOnce(rows-i, k)
		do(n, i, i*k)
		i += n
	}
	return true
}

func turnRows[F floats](o *operands[F], sums []float64) {
	k, single32 := o.columns, isSingle[F]()
	if !strips(o, func(n, i, at int) {
		switch {
		case single32 && o.scale != nil:
			turnScaledSingle(n, k, single(o.p, at), single(o.r, at), single(o.scale, i), single(o.beta, 0))
		case single32:
			turnSingle(n, k, single(o.p, at), single(o.r, at), single(o.beta, 0))
		case o.scale != nil:
			turnScaledDouble(n, k, double(o.p, at), double(o.r, at), double(o.scale, i), double(o.beta, 0))
		default:
			turnDouble(n, k, double(o.p, at), double(o.r, at), double(o.beta, 0))
		}
	}) {
		turnGo(o, sums)
	}
}

func curvatureRows[F floats](o *operands[F], sums []float64) {
	k, single32 := o.columns, isSingle[F]()
	if !strips(o, func(n, i, at int) {
		if single32 {
			curvatureSingle(n, k, single(o.p, at), single(o.q, at), single(o.noise, i), &sums[0])
		} else {
			curvatureDouble(n, k, double(o.p, at), double(o.q, at), double(o.noise, i), &sums[0])
		}
	}) {
		curvatureGo(o, sums)
	}
}

func stepRows[F floats](o *operands[F], sums []float64) {
	k, single32 := o.columns, isSingle[F]()
	if !strips(o, func(n, i, at int) {
		switch {
		case single32 && o.scale != nil:
			stepScaledSingle(n, k, single(o.e, at), single(o.r, at), single(o.p, at), single(o.q, at), single(o.noise, i), single(o.scale, i),
				single(o.alpha, 0), &sums[0], &sums[k])
		case single32:
			stepSingle(n, k, single(o.e, at), single(o.r, at), single(o.p, at), single(o.q, at), single(o.noise, i), single(o.alpha, 0), &sums[0])
		case o.scale != nil:
			stepScaledDouble(n, k, double(o.e, at), double(o.r, at), double(o.p, at), double(o.q, at), double(o.noise, i), double(o.scale, i),
				double(o.alpha, 0), &sums[0], &sums[k])
		default:
			stepDouble(n, k, double(o.e, at), double(o.r, at), double(o.p, at), double(o.q, at), double(o.noise, i), double(o.alpha, 0), &sums[0])
		}
	}) {
		stepGo(o, sums)
	}
}

func beginRows[F floats](o *operands[F], sums []float64) {
	k, single32 := o.columns, isSingle[F]()
	if !strips(o, func(n, i, at int) {
		switch {
		case single32 && o.scale != nil:
			beginScaledSingle(n, k, single(o.p, at), single(o.r, at), single(o.scale, i), &sums[0])
		case single32:
			beginSingle(n, k, single(o.p, at), single(o.r, at), &sums[0])
		case o.scale != nil:
			beginScaledDouble(n, k, double(o.p, at), double(o.r, at), double(o.scale, i), &sums[0])
		default:
			beginDouble(n, k, double(o.p, at), double(o.r, at), &sums[0])
		}
	}) {
		beginGo(o, sums)
	}
}

func restRows[F floats](o *operands[F], sums []float64) {
	k, single32 := o.columns, isSingle[F]()
	if !strips(o, func(n, i, at int) {
		if single32 {
			restSingle(n, k, single(o.e, at), single(o.r, at), single(o.p, at), single(o.q, at), single(o.noise, i), single(o.alpha, 0), &sums[0])
		} else {
			restDouble(n, k, double(o.e, at), double(o.r, at), double(o.p, at), double(o.q, at), double(o.noise, i), double(o.alpha, 0), &sums[0])
		}
	}) {
		restGo(o, sums)
	}
}

func dotRows[F floats](o *operands[F], sums []float64) {
	k, single32 := o.columns, isSingle[F]()
	if !strips(o, func(n, _, at int) {
		if single32 {
			dotSingle(n, k, single(o.p, at), single(o.q, at), &sums[0])
		} else {
			dotDouble(n, k, double(o.p, at), double(o.q, at), &sums[0])
		}
	}) {
		dotGo(o, sums)
	}
}

func recurRows[F floats](o *operands[F], sums []float64) {
	k, single32 := o.columns, isSingle[F]()
	if !strips(o, func(n, i, at int) {
		if single32 {
			recurSingle(n, k, single(o.e, at), single(o.p, at), single(o.q, at), single(o.noise, i), single(o.alpha, 0), single(o.beta, 0),
				single(o.gam, 0), &sums[0])
		} else {
			recurDouble(n, k, double(o.e, at), double(o.p, at), double(o.q, at), double(o.noise, i), double(o.alpha, 0), double(o.beta, 0),
				double(o.gam, 0), &sums[0])
		}
	}) {
		recurGo(o, sums)
	}
}
