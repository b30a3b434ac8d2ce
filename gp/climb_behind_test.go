package gp

import "testing"

// A climb ends early if it is far behind a rival and gains little, but not while it gains much, in its first iterations, or
// if it is close.
func TestBehind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		rival float64
		value func(k int) float64 // log likelihood after k iterations
		end   int                 // iteration at which it ends; 0: not within 20
	}{
		{"flat and far", 0, func(k int) float64 { return -200 + 0.1*float64(k) }, behindFrom},
		{"slow", 0, func(k int) float64 { return -200 + float64(k) }, 0},
		{"rising", 0, func(k int) float64 { return -200 + 10*float64(k) }, 0},
		{"late", 0, func(k int) float64 { return -200 + 0.01*float64(k) + 20*float64(max(0, k-4)) }, 0},
		{"close", 0, func(k int) float64 { return -18 + 0.05*float64(k) }, 0},
		{"ahead", -300, func(k int) float64 { return -200 + 0.5*float64(k) }, 0},
	} {
		b := &ending{tol: 1e-6, rival: &c.rival}
		end := 0
		for k := range 20 {
			if b.after(&descent{now: point{f: -c.value(k), grad: []float64{1}}}) {
				end = k
				break
			}
		}
		if end != c.end {
			t.Errorf("%s: ends at iteration %d, want %d", c.name, end, c.end)
		}
	}
}
