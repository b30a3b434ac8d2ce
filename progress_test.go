package grfgp_test

import (
	"math"
	"strings"
	"testing"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/progress"
)

// TestProgress: whole fits, predictions and classifications tell of shares that rise to 1
// in steps that are small enough to estimate the time by, and their results are those of
// fits that nobody watches.
func TestProgress(t *testing.T) {
	t.Parallel()
	g, err := graph.Grid(14, 14)
	if err != nil {
		t.Fatal(err)
	}
	d, l := gp.Data{}, gp.Labels{Classes: 2}
	for i := 0; i < g.Len(); i += 3 {
		y := math.Sin(float64(i%14)/3) + 0.1*math.Cos(float64(7*i))
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, y)
		l.Nodes, l.Class = append(l.Nodes, i), append(l.Class, int(math.Floor(1+y/2)))
	}
	for k, c := range l.Class {
		l.Class[k] = max(0, min(1, c))
	}
	trainer, err := grfgp.NewTrainer(g, grfgp.Spec{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	watch := func(name string, largest float64, steps string, run func(w *progress.Work)) {
		t.Helper()
		last, leap, seen := 0.0, 0.0, ""
		run(progress.New(func(s progress.State) {
			if s.Share < last {
				t.Errorf("%s: %v after %v", name, s.Share, last)
			}
			leap, last = max(leap, s.Share-last), s.Share
			if !strings.HasSuffix(seen, s.Step) {
				seen += ", " + s.Step
			}
		}))
		if last != 1 || leap > largest || !strings.Contains(seen, steps) {
			t.Errorf("%s: ends at %v, with steps of up to %v; %s", name, last, leap, seen)
		}
	}
	alone, err := trainer.Fit(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	var m *grfgp.Model
	watch("fit", 0.2, "trying diffusion", func(w *progress.Work) {
		if m, err = trainer.FitProgress(t.Context(), d, w); err != nil {
			t.Fatal(err)
		}
	})
	var p grfgp.Prediction
	watch("predict", 1, "", func(w *progress.Work) {
		if p, err = m.PredictProgress(t.Context(), g.Nodes(), w); err != nil {
			t.Fatal(err)
		}
	})
	q, err := alone.Predict(t.Context(), g.Nodes())
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Mean {
		if p.Mean[i] != q.Mean[i] || p.SD[i] != q.SD[i] {
			t.Fatalf("node %d: %v ± %v is watched, %v ± %v not", i, p.Mean[i], p.SD[i], q.Mean[i], q.SD[i])
		}
	}
	var c *grfgp.Classification
	watch("classify", 0.3, "trying matern", func(w *progress.Work) {
		if c, err = trainer.ClassifyProgress(t.Context(), l, gp.Dirichlet, w); err != nil {
			t.Fatal(err)
		}
	})
	watch("class probabilities", 1, "", func(w *progress.Work) {
		if _, err := c.ProbabilitiesProgress(t.Context(), g.Nodes(), w); err != nil {
			t.Fatal(err)
		}
	})
	watch("label suggestions", 0.4, "doubtful nodes, drawing class probabilities, picking nodes", func(w *progress.Work) {
		if _, _, err := bayesopt.SuggestLabels(t.Context(), c, 5,
			bayesopt.LabelOptions{Allowed: []int{1, 2, 4, 5, 7, 8, 10}, Progress: w}); err != nil {
			t.Fatal(err)
		}
	})
}
