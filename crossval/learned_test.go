package crossval

import (
	"context"
	"math"
	"testing"

	"grfgp"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
)

func TestLearns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		opts                    Options
		values, hyperparameters int
		want                    Learned
	}{
		{Options{}, 20, 3, LearnedHyperparameters},
		{Options{}, 71, 3, LearnedHyperparameters},
		{Options{}, 72, 3, LearnedNothing},
		{Options{}, 500, 8, LearnedHyperparameters},
		{Options{}, 512, 8, LearnedNothing},
		{Options{Fixed: true}, 20, 3, LearnedNothing},
		{Options{ChooseAgain: true}, 5000, 3, LearnedKernel},
	} {
		if got := c.opts.learns(c.values, c.hyperparameters); got != c.want {
			t.Errorf("%+v, %d values, %d hyperparameters: %s, want %s", c.opts, c.values, c.hyperparameters, got, c.want)
		}
	}
}

// Whatever folds learn, the errors are alike; a model that is given is not fitted again, and
// gives the same validation as one that Validate fits.
func TestLearnedAlike(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	g, err := graph.Grid(12, 12)
	if err != nil {
		t.Fatal(err)
	}
	ctx, draw := context.Background(), rng.New(5, "learned")
	var d gp.Data
	for i := 0; i < g.Len(); i += 2 {
		d.Nodes = append(d.Nodes, i)
		d.Y = append(d.Y, math.Sin(float64(i%12)/3)+0.2*(draw.Float64()-0.5))
	}
	spec := grfgp.Spec{Seed: 1}
	whole, err := grfgp.Fit(ctx, g, d, spec)
	if err != nil {
		t.Fatal(err)
	}
	var first *Validation
	for _, c := range []struct {
		name string
		opts Options
		want Learned
	}{
		{"choose again", Options{Folds: 4, ChooseAgain: true}, LearnedKernel},
		{"default", Options{Folds: 4}, learnedBy(whole, d)},
		{"given", Options{Folds: 4, Model: whole}, learnedBy(whole, d)},
		{"fixed", Options{Folds: 4, Model: whole, Fixed: true}, LearnedNothing},
	} {
		v, err := Validate(ctx, g, d, spec, c.opts)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if v.Learned != c.want || v.Learned.String() == "" {
			t.Errorf("%s: learned %q, want %q", c.name, v.Learned, c.want)
		}
		if first == nil {
			first = v
		}
		if math.Abs(v.RMSE-first.RMSE) > 0.05*first.RMSE { // of 4 folds of 18 values; twice what was seen
			t.Errorf("%s: RMSE %v, %v where the kernel is chosen again", c.name, v.RMSE, first.RMSE)
		}
		if c.name == "given" {
			again, err := Validate(ctx, g, d, spec, Options{Folds: 4})
			if err != nil || again.RMSE != v.RMSE || again.NLPD != v.NLPD {
				t.Errorf("with a model that is given %v and %v, without %v and %v (%v)", v.RMSE, v.NLPD, again.RMSE, again.NLPD, err)
			}
		}
	}
}

func learnedBy(m *grfgp.Model, d gp.Data) Learned {
	return Options{}.learns(d.Len(), len(m.Choice().Fit.Theta))
}
