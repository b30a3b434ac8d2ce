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
