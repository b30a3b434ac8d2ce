//go:build !amd64 || purego

package dense

func tile(steps int, alpha float64, a, b, c []float64, stride int) {
	tileGo(steps, alpha, a, b, c, stride)
}

func tileStrided(steps int, alpha float64, a []float64, aRow, aStep int, b []float64, bStep int, c []float64, stride int) {
	tileStridedGo(steps, alpha, a, aRow, aStep, b, bStep, c, stride)
}
