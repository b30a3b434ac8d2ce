package grfgp

import (
	"testing"

	"grfgp/gp"
)

// Kernels are compared by log marginal likelihood less one nat per hyperparameter
// (Akaike): a kernel with two more must be likelier by more than two nats.
func TestHyperparametersCost(t *testing.T) {
	try := func(name string, logLikelihood float64, hyperparameters int) attempt {
		return attempt{candidate: candidate{family: family{name: name}}, report: gp.FitReport{LogLikelihood: logLikelihood, Theta: make([]float64, hyperparameters)}, values: 1_000_000}
	}
	for _, c := range []struct {
		by   float64 // of the larger one, in nats
		want string
	}{{-1, "small"}, {0.5, "small"}, {1.9, "small"}, {2.1, "large"}} {
		if got := likeliest([]attempt{try("large", c.by-100, 4), try("small", -100, 2)}); got.name != c.want {
			t.Errorf("likelier by %v nats for two hyperparameters: the %s one is taken", c.by, got.name)
		}
	}
}

// The penalty for hyperparameters grows where measurements are few, for every kernel: eleven free coefficients need a gain of
// some 13 nats over a diffusion kernel at 40 measurements, and of some 9 at 4,000, beside unusualOdds.
func TestWorthOfFewMeasurements(t *testing.T) {
	for _, c := range []struct {
		values    int
		low, high float64
	}{{40, 12.5, 14.5}, {4000, 8.9, 9.2}} {
		plain := attempt{report: gp.FitReport{Theta: make([]float64, 2)}, values: c.values}
		free := attempt{report: gp.FitReport{Theta: make([]float64, 11)}, values: c.values}
		if gain := plain.worth() - free.worth(); gain < c.low || gain > c.high {
			t.Errorf("%d measurements: free coefficients need %.2f nats, want %v to %v", c.values, gain, c.low, c.high)
		}
	}
}
