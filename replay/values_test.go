package replay_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	"grfgp/replay"
)

// Values that cannot be of their kind are refused before anything is replayed.
func TestRunRefusesValues(t *testing.T) {
	t.Parallel()
	g, err := graph.Ring(6)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spec     grfgp.Spec
		value    float64
		exposure []float64
	}{
		{spec: grfgp.Spec{Values: "count"}, value: 0.5},
		{spec: grfgp.Spec{Values: "share"}, value: 2},
		{spec: grfgp.Spec{Values: "yes-no"}, value: 2},
		{spec: grfgp.Spec{Transform: "log"}, value: -1},
		{spec: grfgp.Spec{}, value: 1, exposure: []float64{1, 1, 1, 1, 1, 1}},
		{spec: grfgp.Spec{Values: "count"}, value: 1, exposure: []float64{1}},
	} {
		values := []float64{1, 0, 1, 0, 1, c.value}
		if _, err := replay.Run(t.Context(), g, values, c.spec, replay.Options{Exposure: c.exposure}); !errors.Is(err, bayesopt.ErrOptions) {
			t.Errorf("%+v: %v", c.spec, err)
		}
	}
}

// Losses of counts, shares, yes-no values and transformed values are on the scale that
// people read: regrets are differences of rates, which end at 0 if all are measured, and
// errors of predicted rates are bounded. The rates have an sd of 0.17; a known rate of 30
// trials has one of 0.09 about it, so the mean alone has an error of 0.19, and of yes-no
// values 0.5.
func TestLossesOfValues(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const side = 10
	g, err := graph.Grid(side, side)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spec     grfgp.Spec
		exposure float64
		most     float64 // error in the end
	}{
		{grfgp.Spec{Values: "count"}, 30, 0.18},
		{grfgp.Spec{Values: "share"}, 30, 0.18},
		{grfgp.Spec{Values: "yes-no"}, 0, 0.5},
		{grfgp.Spec{Transform: "sqrt"}, 0, 0.1},
	} {
		c.spec.Family, c.spec.Scales, c.spec.Roles, c.spec.Method = "diffusion", "one", "none", "dense"
		draw := rand.New(rng.New(7, "losses of values"))
		values, rates := make([]float64, g.Len()), make([]float64, g.Len())
		var exposure []float64
		for i := range values {
			rate := 0.5 + 0.35*math.Sin(float64(i%side)/2)*math.Cos(float64(i/side)/3)
			switch {
			case c.exposure > 0:
				exposure = append(exposure, c.exposure+float64(draw.IntN(10)))
				for range int(exposure[i]) {
					if draw.Float64() < rate {
						values[i]++
					}
				}
				rates[i] = values[i] / exposure[i]
				continue
			case c.spec.Values == "yes-no":
				if draw.Float64() < rate {
					values[i] = 1
				}
			default:
				values[i] = rate
			}
			rates[i] = values[i]
		}
		learn, err := replay.Run(t.Context(), g, values, c.spec,
			replay.Options{Goal: bayesopt.Learn, Exposure: exposure, Start: 40, Steps: 10, Seeds: 2, Looks: 2})
		if err != nil {
			t.Fatal(err)
		}
		if got := learn.Final("learn").Mean; !(got > 0 && got < c.most) {
			t.Errorf("%+v: error %.3g, want below %.3g", c.spec, got, c.most)
		}
		seek, err := replay.Run(t.Context(), g, values, c.spec,
			replay.Options{Goal: bayesopt.Maximize, Exposure: exposure, Start: 10, Steps: 6, Seeds: 2})
		if err != nil {
			t.Fatal(err)
		}
		best := 0.0
		for _, v := range rates {
			best = max(best, v)
		}
		if seek.Best.Value != best {
			t.Errorf("%+v: best %v, want %v", c.spec, seek.Best.Value, best)
		}
		for _, r := range seek.Replays {
			found := 0.0
			for _, i := range r.Nodes {
				found = max(found, rates[i])
			}
			if got := r.Curve[len(r.Curve)-1].Loss; math.Abs(got-(best-found)) > 1e-12 {
				t.Errorf("%+v: regret %v, want %v", c.spec, got, best-found)
			}
		}
	}
}
