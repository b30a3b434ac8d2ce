package gp

import (
	"slices"
	"testing"

	"grfgp/kernel"
)

// Variances are known by their mark, whatever they are called.
func TestAmplifiedTakesVariances(t *testing.T) {
	tune := &tuner{params: &params{list: []kernel.Param{
		{Name: "height", Positive: true, Variance: true},
		{Name: "variance of another kind", Positive: true},
		{Name: "v", Positive: true, Variance: true},
	}}}
	if got, want := tune.amplified([]float64{1, 2, 3}, 10), []float64{10, 2, 30}; !slices.Equal(got, want) {
		t.Errorf("amplified to %v, want %v", got, want)
	}
}
