//go:build !purego

package dense

import "golang.org/x/sys/cpu"

var fused = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// tile is tileGo, by assembly where the processor has the instructions.
func tile(steps int, alpha float64, a, b, c []float64, stride int) {
	if !fused {
		tileGo(steps, alpha, a, b, c, stride)
		return
	}
	tileAVX2(steps, alpha, &a[0], &b[0], &c[0], stride)
}

// tileStrided is tileStridedGo, likewise.
func tileStrided(steps int, alpha float64, a []float64, aRow, aStep int, b []float64, bStep int, c []float64, stride int) {
	if !fused {
		tileStridedGo(steps, alpha, a, aRow, aStep, b, bStep, c, stride)
		return
	}
	tileStridedAVX2(steps, alpha, &a[0], aRow, aStep, &b[0], bStep, &c[0], stride)
}

// subColumns is columnsGo, likewise.
func subColumns(rows, steps, cols int, l []float64, lStep int, right []float64, rightStep, rightCol int, c []float64, cStep int) {
	switch {
	case !fused:
		columnsGo(rows, steps, cols, l, lStep, right, rightStep, rightCol, c, cStep)
	case cols == 4:
		columns4AVX2(rows, steps, &l[0], lStep, &right[0], rightStep, rightCol, &c[0], cStep)
	case cols == 3:
		columns3AVX2(rows, steps, &l[0], lStep, &right[0], rightStep, rightCol, &c[0], cStep)
	case cols == 2:
		columns2AVX2(rows, steps, &l[0], lStep, &right[0], rightStep, rightCol, &c[0], cStep)
	default:
		columns1AVX2(rows, steps, &l[0], lStep, &right[0], rightStep, rightCol, &c[0], cStep)
	}
}

// subDots is dotsGo, likewise, for 1 or 4 columns and 1 or 3 sides.
func subDots(rows, cols, sides int, l []float64, lStep int, x []float64, xStep int, c []float64, cStep int) {
	switch {
	case !fused:
		dotsGo(rows, cols, sides, l, lStep, x, xStep, c, cStep)
	case cols == 4 && sides == 3:
		dots4x3AVX2(rows, &l[0], lStep, &x[0], xStep, &c[0], cStep)
	case cols == 4:
		dots4x1AVX2(rows, &l[0], lStep, &x[0], xStep, &c[0], cStep)
	case sides == 3:
		dots1x3AVX2(rows, &l[0], lStep, &x[0], xStep, &c[0], cStep)
	default:
		dots1x1AVX2(rows, &l[0], lStep, &x[0], xStep, &c[0], cStep)
	}
}
