package crossval_test

import (
	"testing"

	"grfgp/crossval"
)

// The best baseline is named; of equally good ones the simplest, and the caller's own last.
func TestBestBaseline(t *testing.T) {
	for _, c := range []struct {
		rmse map[crossval.Baseline]float64
		want crossval.Baseline
	}{
		{map[crossval.Baseline]float64{crossval.Mean: 3, crossval.Nearest: 1, crossval.Harmonic: 2}, crossval.Nearest},
		{map[crossval.Baseline]float64{crossval.Mean: 2, crossval.Nearest: 2, crossval.Harmonic: 2}, crossval.Mean},
		{map[crossval.Baseline]float64{crossval.Harmonic: 2, "a rule of my own": 2}, crossval.Harmonic},
		{map[crossval.Baseline]float64{crossval.Harmonic: 2, "a rule of my own": 1}, "a rule of my own"},
	} {
		if got := crossval.CompareErrors(1, c.rmse).Baseline; got != c.want {
			t.Errorf("%v: the best is %q, want %q", c.rmse, got, c.want)
		}
	}
}
