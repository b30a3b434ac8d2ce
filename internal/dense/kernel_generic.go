//go:build !amd64 || purego

package dense

func tile(steps int, alpha float64, a, b, c []float64, stride int) {
	tileGo(steps, alpha, a, b, c, stride)
}
