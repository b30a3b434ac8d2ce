package crossval_test

import (
	"strings"
	"testing"

	"grfgp/crossval"
)

// The best baseline is named; of equally good ones the simplest, and the caller's own last.
func TestBestBaseline(t *testing.T) {
	t.Parallel()
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

// A difference counts if it is larger than two standard errors.
func TestStanding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rmse, se float64
		want     crossval.Standing
	}{{2, 0.4, crossval.Ahead}, {2.9, 0.1, crossval.Even}, {3, 0.1, crossval.Even}, {3.3, 0.1, crossval.Behind}, {2, 0.6, crossval.Even}} {
		v := &crossval.Validation{RMSE: c.rmse, RMSESE: c.se, BaselineRMSE: map[crossval.Baseline]float64{crossval.Mean: 3, crossval.Nearest: 7}}
		if got := v.JudgeError().Standing; got != c.want {
			t.Errorf("%v ± %v: %v, want %v", c.rmse, c.se, got, c.want)
		}
	}
}

// Few values say little about intervals.
func TestCoverageOfFew(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{3: "too few to tell", 29: "too few to tell", 30: "as expected"} {
		if got := crossval.JudgeCoverage(0.95, 1, n).String(); !strings.Contains(got, want) {
			t.Errorf("%d values: %s", n, got)
		}
	}
	if got := crossval.JudgeCoverage(0.95, 0.1, 20).String(); !strings.Contains(got, "too narrow") {
		t.Error(got)
	}
}
