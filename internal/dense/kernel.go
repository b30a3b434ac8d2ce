package dense

import "math"

//go:generate go -C _asm run . -pkg dense -out ../tile_amd64.s -stubs ../tile_amd64.go

// A tile is what one call of the kernel adds to.
const (
	tileRows = 4
	tileCols = 12
)

// tileGo adds alpha·Σ_p a[p]·b[p]ᵀ to the tile c, for p below steps in order.
// a holds tileRows elements a step, b tileCols. It is the definition that the
// assembly matches bit for bit: every step is fused, whatever the processor.
func tileGo(steps int, alpha float64, a, b, c []float64, stride int) {
	tileStridedGo(steps, alpha, a, 1, tileRows, b, tileCols, c, stride)
}

// tileStridedGo is the same where elements of a column of a are aRow apart, columns of a aStep, and rows of b bStep.
func tileStridedGo(steps int, alpha float64, a []float64, aRow, aStep int, b []float64, bStep int, c []float64, stride int) {
	// Two rows by four columns: sums enough to hide how long a step takes.
	for i := 0; i < tileRows; i += 2 {
		for j := 0; j < tileCols; j += 4 {
			var s0, s1, s2, s3, t0, t1, t2, t3 float64
			for p := range steps {
				left, low, right := a[p*aStep+i*aRow], a[p*aStep+(i+1)*aRow], b[p*bStep+j:][:4]
				s0 = math.FMA(left, right[0], s0)
				s1 = math.FMA(left, right[1], s1)
				s2 = math.FMA(left, right[2], s2)
				s3 = math.FMA(left, right[3], s3)
				t0 = math.FMA(low, right[0], t0)
				t1 = math.FMA(low, right[1], t1)
				t2 = math.FMA(low, right[2], t2)
				t3 = math.FMA(low, right[3], t3)
			}
			for r, sums := range [2][4]float64{{s0, s1, s2, s3}, {t0, t1, t2, t3}} {
				row := c[(i+r)*stride+j:]
				for k, sum := range sums {
					row[k] = math.FMA(alpha, sum, row[k])
				}
			}
		}
	}
}
