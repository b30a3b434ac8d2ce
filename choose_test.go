package grfgp

import (
	"testing"

	"grfgp/gp"
)

// Kernels are compared by log marginal likelihood less one nat per hyperparameter
// (Akaike): a kernel with two more must be likelier by more than two nats.
func TestHyperparametersCost(t *testing.T) {
	try := func(name string, logLikelihood float64, hyperparameters int) attempt {
		return attempt{candidate: candidate{family: family{name: name}}, report: gp.FitReport{LogLikelihood: logLikelihood, Theta: make([]float64, hyperparameters)}}
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
