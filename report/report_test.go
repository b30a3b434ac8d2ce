package report

import (
	"fmt"
	"grfgp/crossval"
	"math"
	"strings"
	"testing"

	"grfgp"
)

func TestMostUncertain(t *testing.T) {
	t.Parallel()
	sd := []float64{1, 3, 2, 3, 0, 5, 1, 1, 1, 1, 1, 1, 4}
	if got := fmt.Sprint(largest(sd, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})); got != "[5 12 1 3 2 0 6 7 8 9]" {
		t.Errorf("least known are %v", got)
	}
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	v := &crossval.Validation{HeldOut: make([]crossval.HeldOut, 100), RMSE: 2,
		BaselineRMSE: map[crossval.Baseline]float64{crossval.Mean: 9, crossval.Nearest: 4, crossval.Harmonic: 5},
		Coverage:     crossval.Coverages{{Level: 0.5, Share: 0.52}, {Level: 0.8, Share: 0.6}, {Level: 0.95, Share: 1}}}
	text := strings.Join(Verdicts(v), "\n")
	for _, want := range []string{
		"is 2, 50 % less than that of the best baseline, nearest measured node.",
		"50 % intervals contain 52.0 % of held-out measurements, as expected (95 % range of a calibrated model: 40.0 to 60.0 %).",
		"80 % intervals contain 60.0 % of held-out measurements, too few", "95 % intervals contain 100.0 % of held-out measurements, too many",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	v.RMSE = 4.2
	if text := Verdicts(v)[0]; !strings.Contains(text, "no less than that of the baseline nearest measured node") {
		t.Error(text)
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{54.2: "54.20", -7.83: "−7.830", 0: "0", 1234: "1,234", 12345678: "12,345,678", 1e-20: "0",
		-2e9: "−2,000,000,000", 3e18: "3.000 × 10^18", 4e-8: "4.000 × 10^−8"} {
		if got := short(v); got != want {
			t.Errorf("%v is shown as %q, want %q", v, got, want)
		}
	}
}

func TestLimitNotes(t *testing.T) {
	t.Parallel()
	if all := LimitNotes(&grfgp.Limits{Nodes: 10}, "nodes"); len(all) != 0 {
		t.Errorf("an exact kernel that reaches everywhere: %q", all)
	}
	l := &grfgp.Limits{Nodes: 400, PriorOnly: 5, Walks: &grfgp.WalkError{
		Walkers: 100, Kernel: 0.31, Low: 0.28, High: 0.35, NoiseShare: 0.2, Mean: 0.1, Nodes: 256}}
	text := strings.Join(LimitNotes(l, "nodes"), "\n")
	for _, want := range []string{"5 of 400 nodes (1.2 %)", "31 % (95 % interval 28 to 35 %", "20 % of a node's prior variance",
		"10 % of its standard deviation", "the walkers, 400 a node"} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing is said of %q in\n%s", want, text)
		}
	}
	l.Walks.Kernel, l.Walks.Nodes = 0.1, 0
	if text := strings.Join(LimitNotes(l, "nodes"), "\n"); strings.Contains(text, "walkers") || strings.Contains(text, "standard deviation") {
		t.Errorf("walks that are fine, and means that were not predicted again:\n%s", text)
	}
}

func TestDeviation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values     []float64
		mean, want float64
	}{
		{[]float64{40, 52}, 46, 6},
		{[]float64{3}, 3, 0},
		{[]float64{0, 0}, 0, 0},
		{[]float64{-1e308, 1e308}, 0, 1e308},
		{[]float64{-math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64, math.MaxFloat64}, 0, math.MaxFloat64},
		{[]float64{-1e-300, 1e-300}, 0, 1e-300},
		{[]float64{-5e-324, 5e-324}, 0, 5e-324},
	} {
		if got := deviation(c.values, c.mean); math.Abs(got-c.want) > 1e-15*c.want {
			t.Errorf("deviation of %g is %g, want %g", c.values, got, c.want)
		}
	}
}
