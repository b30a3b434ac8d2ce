package adam

import (
	"math"
	"testing"
)

// A parabola is climbed to its top, at the same pace whatever its height.
func TestAdam(t *testing.T) {
	t.Parallel()
	x, climb := []float64{3, 3}, New(2)
	slope := func() []float64 { return []float64{-2 * x[0], -2e6 * x[1]} }
	if climb.Step(x, slope(), 0.1); math.Abs(x[0]-2.9) > 1e-6 || math.Abs(x[1]-2.9) > 1e-6 {
		t.Errorf("after a step at %v, want a rate below 3", x)
	}
	for range 400 {
		climb.Step(x, slope(), 0.1)
	}
	if math.Hypot(x[0], x[1]) > 0.01 {
		t.Errorf("ends at %v, want the top at 0", x)
	}
}
