package gp

import (
	"slices"
	"testing"

	"grfgp/gp/internal/latent"
	"grfgp/kernel"
)

// Variances are known by their mark, whatever they are called.
func TestAmplifiedTakesVariances(t *testing.T) {
	t.Parallel()
	tune := &tuner{params: &params{list: []kernel.Param{
		{Name: "height", Positive: true, Variance: true},
		{Name: "variance of another kind", Positive: true},
		{Name: "v", Positive: true, Variance: true},
	}}}
	if got, want := tune.amplified([]float64{1, 2, 3}, 10), []float64{10, 2, 30}; !slices.Equal(got, want) {
		t.Errorf("amplified to %v, want %v", got, want)
	}
}

// Kept hyperparameters are those of the earlier fit, or those that the likelihood led to there if they score higher;
// calibration and score are those of the new labels.
func TestKeptHyperparameters(t *testing.T) {
	t.Parallel()
	k, class := blocks(t, 40, 3, 6, 2, 1)
	some, _ := pickLabels(class, 3, 40, 1)
	all, _ := pickLabels(class, 3, 80, 1)
	_, near, err := Classify(background, k, some, ClassifyOptions{ScoreOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	likely := slices.Clone(near.Theta)
	near.Theta = slices.Clone(near.Theta)
	near.Theta[0] *= 1e-4 // functions that hardly vary
	for _, c := range []struct{ likely, want []float64 }{{nil, near.Theta}, {likely, likely}} {
		near.likely = c.likely
		kept, r, err := Classify(background, k, all, ClassifyOptions{Near: &near, Keep: true})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.Theta, c.want) {
			t.Errorf("kept %v, want %v", r.Theta, c.want)
		}
		if len(r.Names) != len(r.Theta) || r.Scored != all.Len() {
			t.Errorf("names %q, %d labels scored", r.Names, r.Scored)
		}
		about(t, "score", r.Score, latent.LogScore(kept.LeaveOneOut(), all.Class), 1e-12)
	}
}
