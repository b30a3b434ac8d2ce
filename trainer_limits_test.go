package grfgp

import (
	"testing"

	"grfgp/gp"
	"grfgp/graph"
)

// TestLowerLimits: the limits of a Trainer decide the representation, the solver of a fit and what follows from it, so that
// tests see the ways of large models on small ones, side by side.
func TestLowerLimits(t *testing.T) {
	t.Parallel()
	g, err := graph.Ring(60)
	if err != nil {
		t.Fatal(err)
	}
	data := smooth(g, 4, 2)
	for _, c := range []struct {
		dense, exact int
		variance     float64
		method       string
		solver       gp.Solver
		sdError      bool
	}{
		{60, 30, 1e9, "dense", gp.Exact, false},
		{59, 30, 1e9, "series", gp.Exact, false},
		{60, 29, 1e9, "dense", gp.Iterative, true},
		{60, 30, 1e3, "dense", gp.Exact, true},
	} {
		trainer, err := NewTrainer(g, Spec{Expression: Expression{Family: "diffusion", Scales: "one", Trend: "none"}, Roles: "none"})
		if err != nil {
			t.Fatal(err)
		}
		trainer.limits.DenseNodes, trainer.limits.Exact, trainer.limits.VarianceFlops = c.dense, c.exact, c.variance
		m, err := trainer.Fit(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		if m.choice.Method != c.method || m.choice.Fit.Solver != c.solver || (m.SDError(60) > 0) != c.sdError {
			t.Errorf("%+v: %s, %v, sd error %v", c, m.choice.Method, m.choice.Fit.Solver, m.SDError(60))
		}
		again, err := m.Condition(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		if (again.SDError(60) > 0) != c.sdError {
			t.Errorf("%+v: conditioned again, sd error %v", c, again.SDError(60))
		}
	}
}
