//go:build !amd64 || purego

package dense

func tile(steps int, alpha float64, a, b, c []float64, stride int) {
	tileGo(steps, alpha, a, b, c, stride)
}

func tileStrided(steps int, alpha float64, a []float64, aRow, aStep int, b []float64, bStep int, c []float64, stride int) {
	tileStridedGo(steps, alpha, a, aRow, aStep, b, bStep, c, stride)
}

func subColumns(rows, steps, cols int, l []float64, lStep int, right []float64, rightStep, rightCol int, c []float64, cStep int) {
	columnsGo(rows, steps, cols, l, lStep, right, rightStep, rightCol, c, cStep)
}

func subDots(rows, cols, sides int, l []float64, lStep int, x []float64, xStep int, c []float64, cStep int) {
	dotsGo(rows, cols, sides, l, lStep, x, xStep, c, cStep)
}
