package gp

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp/internal/latent"
)

// The weight of a mean of classifiers has the highest score of all on a grid, and is a half where nothing is scored.
func TestAverageWeight(t *testing.T) {
	t.Parallel()
	a := mat.NewDense(4, 2, []float64{0.9, 0.1, 0.2, 0.8, 0.6, 0.4, 0.5, 0.5})
	b := mat.NewDense(4, 2, []float64{0.6, 0.4, 0.4, 0.6, 0.9, 0.1, 0.1, 0.9})
	none := latent.Unscored
	for _, class := range [][]int{{0, 1, 0, 1}, {0, 0, 0, 1}, {none, none, 0, 1}, {0, 1, none, none}, {none, none, none, none}} {
		sum := func(w float64) float64 {
			v := math.Log(w) + math.Log(1-w)
			for k, c := range class {
				if c != none {
					v += math.Log((1-w)*a.At(k, c) + w*b.At(k, c))
				}
			}
			return v
		}
		best := 0.5
		for w := 0.001; w < 1; w += 0.001 {
			if sum(w) > sum(best)+1e-12 {
				best = w
			}
		}
		if got := averageWeight(a, b, class); math.Abs(got-best) > 0.001 {
			t.Errorf("classes %v: weight %.4f, want %.3f", class, got, best)
		}
	}
}

// Probabilities, draws and leave-one-out probabilities of a mean of classifiers are means, and the score is that of the mean.
func TestAverageClassifiers(t *testing.T) {
	t.Parallel()
	k, class := blocks(t, 30, 3, 6, 2, 1)
	l, rest := pickLabels(class, 3, 15, 2)
	first, r, err := Classify(background, k, l, ClassifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := Classify(background, k, l, ClassifyOptions{Method: Spreading})
	if err != nil {
		t.Fatal(err)
	}
	c, w := AverageClassifiers(first, second, l, &r)
	if !(w > 0 && w < 1) {
		t.Fatalf("weight %v", w)
	}
	about(t, "score", r.Score, latent.LogScore(c.LeaveOneOut(), scoredClasses(l.Class, l.Classes)), 1e-12)
	all := make([]*mat.Dense, 3)
	for q, one := range []*Classifier{first, second, c} {
		if all[q], err = one.Probabilities(background, rest, nil); err != nil {
			t.Fatal(err)
		}
	}
	own, err := first.Sample(background, rest, 2, 5, nil)
	if err != nil {
		t.Fatal(err)
	}
	draws, err := c.Sample(background, rest, 2, 5, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rest {
		for q := range 3 {
			about(t, "probability", all[2].At(i, q), (1-w)*all[0].At(i, q)+w*all[1].At(i, q), 1e-12)
			about(t, "draw", draws[1].At(i, q), (1-w)*own[1].At(i, q)+w*all[1].At(i, q), 1e-12)
		}
	}
}

// The only label of its class is not scored: left out, it can only be predicted wrongly.
func TestUnscoredLabels(t *testing.T) {
	t.Parallel()
	k, class := blocks(t, 30, 3, 6, 2, 1)
	one := Labels{Nodes: []int{3, 40, 70}, Class: []int{class[3], class[40], class[70]}, Classes: 3}
	_, r, err := Classify(background, k, one, ClassifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Scored != 0 || r.Calibration != uncalibrated || r.Score != -math.Log(3) {
		t.Errorf("one label per class: %d scored, calibration %+v, score %v", r.Scored, r.Calibration, r.Score)
	}
	more := Labels{Nodes: append(one.Nodes, 5, 6), Class: append(one.Class, class[5], class[6]), Classes: 3}
	if _, r, err = Classify(background, k, more, ClassifyOptions{}); err != nil {
		t.Fatal(err)
	}
	if r.Scored != 3 {
		t.Errorf("%d labels scored, want the three of a class with others", r.Scored)
	}
}
