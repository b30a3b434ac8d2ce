package grfgp_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp"
	"grfgp/gp"
)

// Scores of four predictions, worked out by hand.
func TestScoreClasses(t *testing.T) {
	p := mat.NewDense(4, 2, []float64{0.9, 0.1, 0.9, 0.1, 0.3, 0.7, 0.4, 0.6})
	class := []int{0, 1, 1, 0}
	s := grfgp.ScoreClasses(p, class)
	want := grfgp.ClassScore{
		Accuracy: 0.5, AccuracySE: math.Sqrt(0.25 / 6),
		NLL: -(math.Log(0.9) + math.Log(0.1) + math.Log(0.7) + math.Log(0.4)) / 4,
		ECE: (2*0.4 + 0.3 + 0.6) / 4,
	}
	if s.Accuracy != want.Accuracy || s.AccuracySE != want.AccuracySE || math.Abs(s.NLL-want.NLL) > 1e-12 || math.Abs(s.ECE-want.ECE) > 1e-12 || !(s.NLLSE > 0) {
		t.Errorf("%+v, want %+v", s, want)
	}
	bins := grfgp.Reliability(p, class)
	if b := bins[13]; len(bins) != grfgp.ReliabilityBins || b.Count != 2 || b.Accuracy != 0.5 || math.Abs(b.Confidence-0.9) > 1e-12 {
		t.Errorf("%+v", bins)
	}
}

// Communities are told apart better than by the shares of classes, and what is
// counted adds up.
func TestValidateClasses(t *testing.T) {
	k := communities(t, 120, 3, 6, 2, 0.5)
	for _, scheme := range []grfgp.Scheme{grfgp.Scattered, grfgp.Neighbourhoods} {
		v, err := grfgp.ValidateClasses(context.Background(), k.graph, k.train, grfgp.Spec{Family: "diffusion", Scales: "one"}, gp.Dirichlet, grfgp.ValidateOptions{Folds: 3, Scheme: scheme})
		if err != nil {
			t.Fatal(err)
		}
		majority := v.Baselines["majority class"]
		if len(v.Left) != k.train.Len() || v.Accuracy < majority.Accuracy+0.2 || v.NLL > majority.NLL {
			t.Errorf("%s: %d labels, %+v, majority %+v", scheme, len(v.Left), v.ClassScore, majority)
		}
		if spread := v.Baselines["label spreading"]; spread.Accuracy < majority.Accuracy+0.2 {
			t.Errorf("%s: label spreading %+v", scheme, spread)
		}
		right, total, binned := 0, 0, 0
		for c, row := range v.Confusion {
			for d, n := range row {
				total += n
				if c == d {
					right += n
				}
			}
		}
		for _, b := range v.Reliability {
			binned += b.Count
		}
		if total != len(v.Left) || binned != total || math.Abs(float64(right)/float64(total)-v.Accuracy) > 1e-12 {
			t.Errorf("%s: %d of %d right, accuracy %v", scheme, right, total, v.Accuracy)
		}
	}
}

// A class of two labels is never left out as a whole.
func TestValidateSmallClasses(t *testing.T) {
	k := communities(t, 60, 3, 5, 1, 0.5)
	few := gp.Labels{Classes: 3}
	counts := make([]int, 3)
	for q, c := range k.train.Class {
		if counts[c]++; counts[c] <= 2 {
			few.Nodes, few.Class = append(few.Nodes, k.train.Nodes[q]), append(few.Class, c)
		}
	}
	for seed := range uint64(5) {
		spec := grfgp.Spec{Family: "diffusion", Scales: "one", Seed: seed}
		v, err := grfgp.ValidateClasses(context.Background(), k.graph, few, spec, gp.Dirichlet, grfgp.ValidateOptions{Folds: 2, Scheme: grfgp.Scattered})
		if err != nil {
			t.Fatal(err)
		}
		folds := map[int]int{}
		for _, l := range v.Left {
			folds[l.Class] += 1 + 10*l.Fold
		}
		for c, sum := range folds {
			if sum != 12 { // one in fold 0 and one in fold 1
				t.Errorf("seed %d: class %d is in one fold: %+v", seed, c, v.Left)
			}
		}
	}
	if _, err := grfgp.ValidateClasses(context.Background(), k.graph, few, grfgp.Spec{}, gp.Dirichlet, grfgp.ValidateOptions{Folds: 7, Scheme: grfgp.Scattered}); !errors.Is(err, grfgp.ErrSpec) {
		t.Errorf("more folds than labels: %v", err)
	}
}
