package replay_test

import (
	"errors"
	"testing"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/graph"
	"grfgp/replay"
)

// TestRunRefusesValues: losses of replays are those of numbers.
func TestRunRefusesValues(t *testing.T) {
	g, err := graph.Ring(6)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []grfgp.Spec{{Values: "count"}, {Transform: "log"}} {
		if _, err := replay.Run(t.Context(), g, make([]float64, 6), spec, replay.Options{}); !errors.Is(err, bayesopt.ErrOptions) {
			t.Errorf("%+v: %v", spec, err)
		}
	}
}
