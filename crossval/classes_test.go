package crossval_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
)

// Scores of four predictions, computed by hand.
func TestScoreClasses(t *testing.T) {
	t.Parallel()
	p := mat.NewDense(4, 2, []float64{0.9, 0.1, 0.9, 0.1, 0.3, 0.7, 0.4, 0.6})
	class := []int{0, 1, 1, 0}
	s := crossval.ScoreClasses(p, class)
	want := crossval.ClassScore{
		Accuracy: 0.5, AccuracySE: math.Sqrt(0.25 / 6),
		NLL: -(math.Log(0.9) + math.Log(0.1) + math.Log(0.7) + math.Log(0.4)) / 4,
		ECE: (2*0.4 + 0.3 + 0.6) / 4,
	}
	if s.Accuracy != want.Accuracy || s.AccuracySE != want.AccuracySE || math.Abs(s.NLL-want.NLL) > 1e-12 ||
		math.Abs(s.ECE-want.ECE) > 1e-12 || !(s.NLLSE > 0) {
		t.Errorf("%+v, want %+v", s, want)
	}
	bins := crossval.Reliability(p, class)
	if b := bins[13]; len(bins) != crossval.ReliabilityBins || b.Count != 2 || b.Accuracy != 0.5 || math.Abs(b.Confidence-0.9) > 1e-12 {
		t.Errorf("%+v", bins)
	}
}

// communities is a stochastic block model of three equal classes with given mean
// numbers of neighbours inside and outside a node's class; half of the nodes have
// labels.
func communities(t testing.TB, nodes int, within, between float64) (*graph.Graph, gp.Labels) {
	t.Helper()
	size := nodes / 3
	g, err := graph.StochasticBlock([]int{size, size, size}, func(a, b int) float64 {
		if a == b {
			return within / float64(size)
		}
		return between / float64(2*size)
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	l := gp.Labels{Classes: 3}
	for _, i := range rand.New(rng.New(1, "communities")).Perm(nodes)[:nodes/2] {
		l.Nodes, l.Class = append(l.Nodes, i), append(l.Class, i/size)
	}
	return g, l
}

// The classifier is better than the class frequencies, and all counts add up.
func TestValidateClasses(t *testing.T) {
	t.Parallel()
	g, labels := communities(t, 120, 6, 2)
	for _, scheme := range []crossval.Scheme{crossval.Scattered, crossval.Neighbourhoods} {
		v, err := crossval.ValidateClasses(context.Background(), g, labels, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion",
			Scales: "one"}}, gp.Dirichlet,
			crossval.Options{Folds: 3, Scheme: scheme})
		if err != nil {
			t.Fatal(err)
		}
		majority := v.Baselines[crossval.ClassFrequencies]
		if len(v.HeldOut) != labels.Len() || v.Accuracy < majority.Accuracy+0.2 || v.NLL > majority.NLL {
			t.Errorf("%s: %d labels, %+v, majority %+v", scheme, len(v.HeldOut), v.ClassScore, majority)
		}
		if spread := v.Baselines[crossval.LabelSpreading]; spread.Accuracy < majority.Accuracy+0.2 {
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
		if total != len(v.HeldOut) || binned != total || math.Abs(float64(right)/float64(total)-v.Accuracy) > 1e-12 {
			t.Errorf("%s: %d of %d right, accuracy %v", scheme, right, total, v.Accuracy)
		}
	}
}

// A class with two labels is never held out completely.
func TestValidateSmallClasses(t *testing.T) {
	t.Parallel()
	g, labels := communities(t, 60, 5, 1)
	few := gp.Labels{Classes: 3}
	counts := make([]int, 3)
	for q, c := range labels.Class {
		if counts[c]++; counts[c] <= 2 {
			few.Nodes, few.Class = append(few.Nodes, labels.Nodes[q]), append(few.Class, c)
		}
	}
	for seed := range uint64(5) {
		spec := grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Scales: "one"}, Seed: seed}
		v, err := crossval.ValidateClasses(context.Background(), g, few, spec, gp.Dirichlet,
			crossval.Options{Folds: 2, Scheme: crossval.Scattered})
		if err != nil {
			t.Fatal(err)
		}
		folds := map[int]int{}
		for _, l := range v.HeldOut {
			folds[l.Class] += 1 + 10*l.Fold
		}
		for c, sum := range folds {
			if sum != 12 { // one in fold 0 and one in fold 1
				t.Errorf("seed %d: class %d is in one fold: %+v", seed, c, v.HeldOut)
			}
		}
	}
	if _, err := crossval.ValidateClasses(context.Background(), g, few, grfgp.Spec{}, gp.Dirichlet,
		crossval.Options{Folds: 7, Scheme: crossval.Scattered}); !errors.Is(err, grfgp.ErrSpec) {
		t.Errorf("more folds than labels: %v", err)
	}
}

func TestJudgeCalibration(t *testing.T) {
	t.Parallel()
	bins := []crossval.ReliabilityBin{{Count: 50, Confidence: 0.9}, {}, {Count: 50, Confidence: 0.5}}
	v := crossval.JudgeCalibration(0.05, bins)
	if want := math.Sqrt(2/math.Pi) * (math.Sqrt(50*0.09) + math.Sqrt(50*0.25)) / 100; math.Abs(v.Expected-want) > 1e-12 || !v.Calibrated ||
		v.Bins != 3 {
		t.Errorf("%+v, want %v by chance", v, want)
	}
	if crossval.JudgeCalibration(0.2, bins).Calibrated {
		t.Error("an error of 0.2 passes for chance")
	}
}
