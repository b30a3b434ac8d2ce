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
