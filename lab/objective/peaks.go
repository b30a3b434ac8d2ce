package objective

import (
	"fmt"
	"math"

	"grfgp/graph"
	"grfgp/internal/parallel"
	"grfgp/lab/randomstate"
)

// peak is a rotated Gaussian peak.
type peak struct {
	x, y   float64 // centre
	height float64
	sx, sy float64 // widths along its axes
	angle  float64
}

// surface returns the height as a function of the coordinates.
func (p peak) surface() func(x, y float64) float64 {
	sin, cos := math.Sincos(p.angle)
	vx, vy := 2*p.sx*p.sx, 2*p.sy*p.sy
	a := cos*cos/vx + sin*sin/vy
	b := math.Sin(2*p.angle) / 2 * (1/vy - 1/vx)
	c := sin*sin/vx + cos*cos/vy
	return func(x, y float64) float64 {
		dx, dy := x-p.x, y-p.y
		return p.height * math.Exp(-(a*dx*dx + 2*b*dx*dy + c*dy*dy))
	}
}

// SinglePeak returns one peak on a grid of side × side nodes, row by row. In the paper,
// side is 1000.
func SinglePeak(side int) (*Task, error) {
	return onGrid("single-peak", side, 1, func(*randomstate.State) []peak {
		return []peak{{x: 0.2, y: -0.3, height: 2, sx: 0.3, sy: 0.4, angle: math.Pi / 6}}
	})
}

// TwoPeaks returns a higher and a lower peak on a grid of 100 × 100 nodes, the task that
// the paper calls multi-modal.
func TwoPeaks() (*Task, error) {
	return onGrid("two-peaks", 100, 2, func(*randomstate.State) []peak {
		return []peak{
			{x: -1, y: 0.5, height: 2, sx: 0.4, sy: 0.3, angle: 0.3},
			{x: 1.2, y: -0.7, height: 1.5, sx: 0.3, sy: 0.5, angle: -0.5},
		}
	})
}

// FivePeaks returns five random peaks, some of them negative, on a grid of side × side
// nodes, row by row. In the authors' code, side is 1000.
func FivePeaks(side int) (*Task, error) {
	return onGrid("five-peaks", side, 2, func(r *randomstate.State) []peak {
		peaks := make([]peak, 5)
		for k := range peaks {
			p := &peaks[k]
			p.x, p.y = r.Uniform(-1.5, 1.5), r.Uniform(-1.5, 1.5)
			p.height = r.Uniform(0.5, 2)
			// The first two are positive; the others draw a sign of −1 or 1 next.
			if k >= 2 && r.Below(2) == 0 {
				p.height = -p.height
			}
			p.sx, p.sy = r.Uniform(0.2, 0.6), r.Uniform(0.2, 0.6)
			p.angle = r.Uniform(0, 2*math.Pi)
		}
		return peaks
	})
}

// onGrid evaluates the sum of peaks on a square grid over [−reach, reach]²: x runs along a
// row, y from row to row. Peaks are drawn before the noise.
func onGrid(name string, side int, reach float64, draw func(*randomstate.State) []peak) (*Task, error) {
	if side < 2 {
		return nil, fmt.Errorf("%w: %s on a grid of side %d, want 2 or more", ErrInvalid, name, side)
	}
	g, err := graph.Grid(side, side)
	if err != nil {
		return nil, failed(name, err)
	}
	r := randomstate.New(paperSeed)
	var surfaces []func(x, y float64) float64
	for _, p := range draw(r) {
		surfaces = append(surfaces, p.surface())
	}
	step := 2 * reach / float64(side-1)
	y := make([]float64, side*side)
	parallel.Ranges(side, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j := range side {
				for _, s := range surfaces {
					y[i*side+j] += s(float64(j)*step-reach, float64(i)*step-reach)
				}
			}
		}
	})
	return newTask(name, g, y, r), nil
}
