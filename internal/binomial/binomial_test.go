package binomial

import (
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestInterval(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 10, 150, 5000} {
		for _, p := range []float64{0.1, 0.5, 0.95} {
			lo, hi := Interval(n, p)
			b := distuv.Binomial{N: float64(n), P: p}
			below, above := b.CDF(float64(lo)-1), 1-b.CDF(float64(hi))
			if below > 0.0251 || above > 0.0251 || lo > hi {
				t.Errorf("%d of chance %v: %d to %d leaves out %.3f and %.3f", n, p, lo, hi, below, above)
			}
			if b.CDF(float64(lo)) <= 0.025 || lo < hi && 1-b.CDF(float64(hi)-1) <= 0.0249 {
				t.Errorf("%d of chance %v: %d to %d is wider than need be", n, p, lo, hi)
			}
		}
	}
	if lo, hi := Interval(20, 1); lo != 20 || hi != 20 {
		t.Errorf("a sure thing: %d to %d", lo, hi)
	}
}
