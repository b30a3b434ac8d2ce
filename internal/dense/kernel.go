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
	// Two rows by four columns: sums enough to hide how long a step takes.
	for i := 0; i < tileRows; i += 2 {
		for j := 0; j < tileCols; j += 4 {
			var s0, s1, s2, s3, t0, t1, t2, t3 float64
			for p := range steps {
				left, right := a[p*tileRows+i:][:2], b[p*tileCols+j:][:4]
				s0 = math.FMA(left[0], right[0], s0)
				s1 = math.FMA(left[0], right[1], s1)
				s2 = math.FMA(left[0], right[2], s2)
				s3 = math.FMA(left[0], right[3], s3)
				t0 = math.FMA(left[1], right[0], t0)
				t1 = math.FMA(left[1], right[1], t1)
				t2 = math.FMA(left[1], right[2], t2)
				t3 = math.FMA(left[1], right[3], t3)
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
