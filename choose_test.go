package grfgp

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/covariate"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/plan"
)

// Kernels are compared by log marginal likelihood less one nat per hyperparameter
// (Akaike): a kernel with two more must be likelier by more than two nats.
func TestHyperparametersCost(t *testing.T) {
	t.Parallel()
	try := func(name string, logLikelihood float64, hyperparameters int) attempt {
		return attempt{Expression: Expression{Family: name},
			worth: worthOfValues(gp.FitReport{LogLikelihood: logLikelihood, Theta: make([]float64, hyperparameters)}, 1_000_000)}
	}
	for _, c := range []struct {
		by   float64 // of the larger one, in nats
		want string
	}{{-1, "small"}, {0.5, "small"}, {1.9, "small"}, {2.1, "large"}} {
		if got := likeliest([]attempt{try("large", c.by-100, 4), try("small", -100, 2)}); got.Family != c.want {
			t.Errorf("likelier by %v nats for two hyperparameters: the %s one is taken", c.by, got.Family)
		}
	}
}

// With more labels than are factored, smooth functions of covariates are Fourier features, although kernels are compared on few labels.
func TestManyLabelsFourier(t *testing.T) {
	t.Parallel()
	g, err := graph.Ring(30)
	if err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(30, 1, nil)
	for i := range 30 {
		x.Set(i, 0, float64(i%7))
	}
	set := &covariate.Set{Nodes: 30, X: x, Names: []string{"x"}, Group: []int{0}, Groups: []string{"x"}}
	trainer, err := NewTrainer(g, Spec{Covariates: set})
	if err != nil {
		t.Fatal(err)
	}
	exact := trainer.limits.Exact
	for labels, want := range map[int]int{exact: 0, exact + 1: trainer.limits.Pairs} {
		c := &classContest{contest: contest{Trainer: trainer, method: "series"}, labels: labels, tell: &ClassChoice{},
			sample: gp.Labels{Nodes: []int{0, 9, 20}, Class: []int{0, 1, 0}, Classes: 2}}
		c.judge = c
		alone := attempt{Expression: c.evenGraph(trainer.spec.members(forClasses)[0], "many")}
		if err := c.tryKnown(t.Context(), alone, CovariateTerm); err != nil {
			t.Fatal(err)
		}
		if got := c.tried[0].Pairs; got != want {
			t.Errorf("%d labels: %d pairs, want %d", labels, got, want)
		}
	}
}

// The penalty for hyperparameters grows where measurements are few, for every kernel: eleven free coefficients need a gain of
// some 13 nats over a diffusion kernel at 40 measurements, and of some 9 at 4,000, beside unusualOdds.
func TestWorthOfFewMeasurements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values    int
		low, high float64
	}{{40, 12.5, 14.5}, {4000, 8.9, 9.2}} {
		plain := worthOfValues(gp.FitReport{Theta: make([]float64, 2)}, c.values)
		free := worthOfValues(gp.FitReport{Theta: make([]float64, 11)}, c.values)
		if gain := plain - free; gain < c.low || gain > c.high {
			t.Errorf("%d measurements: free coefficients need %.2f nats, want %v to %v", c.values, gain, c.low, c.high)
		}
	}
}

// A kernel of classes with four more hyperparameters than another needs four nats on all labels (Akaike), and fewer on a sample
// of them: what it loses by errors of hyperparameters is less where these are learned from more labels.
func TestWorthOfSample(t *testing.T) {
	t.Parallel()
	of := func(score float64, hyperparameters, labels int) float64 {
		r := gp.ClassifyReport{Score: score / 400, Scored: 400}
		r.Theta = make([]float64, hyperparameters)
		return worthOf(r, min(labels, plan.Default().ClassPatches.Rows()))
	}
	for labels, needed := range map[int]float64{400: 4, 800: 3, 1000: 2.8, 13_000: 2.8} {
		if of(-100+needed-0.01, 6, labels) > of(-100, 2, labels) || of(-100+needed+0.01, 6, labels) < of(-100, 2, labels) {
			t.Errorf("%d labels: four hyperparameters do not need %v nats", labels, needed)
		}
	}
}
