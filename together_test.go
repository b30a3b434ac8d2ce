package grfgp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/ranks"
	"grfgp/internal/testkit"
)

// Ranks that fit together predict with the bits of one process, also where they share the measurements.
func TestFitTogether(t *testing.T) {
	t.Parallel()
	// Ranks share the posterior of thousands of measurements, and those of the quick suite
	// the work of fitting and predicting.
	g, err := graph.Grid(testkit.Size(26, 130), testkit.Size(18, 90))
	if err != nil {
		t.Fatal(err)
	}
	g = g.Ordered()
	var d gp.Data
	for i := range g.Len() {
		if i%7 < 5 {
			d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, math.Sin(float64(i)/300)+0.2*math.Sin(float64(i*i)))
		}
	}
	spec := Spec{Expression: Expression{Family: "diffusion", Method: "grf", Scales: "one", Trend: "none", Variance: "natural",
		Laplacian: "normalized", Hops: 3}, Roles: "none", Seed: 1}
	predict := func(ctx context.Context, ranked *ranks.Group) (numbers []float64, limits *Limits, err error) {
		t, err := NewTrainer(g, spec)
		if err != nil {
			return nil, nil, err
		}
		t.FitTogether(Together{Ranks: ranked})
		m, err := t.Fit(ctx, d)
		if err != nil {
			return nil, nil, err
		}
		if shared, _, _ := m.posterior.Ranks(); testkit.IsFull() && shared == nil && !ranked.Alone() {
			return nil, nil, errors.New("the posterior is not shared")
		}
		share := NewShare(ranked, g.Nodes())
		p, err := m.PredictShare(ctx, share, nil)
		if err != nil {
			return nil, nil, err
		}
		if limits, err = m.LimitsOfShare(ctx, share, p); err != nil {
			return nil, nil, err
		}
		mean, _, err := ranks.Gather(ctx, ranked, p.Mean)
		if err != nil {
			return nil, nil, err
		}
		sd, _, err := ranks.Gather(ctx, ranked, p.SD)
		return slices.Concat(mean, sd, m.choice.Fit.Theta, []float64{m.NoiseSD(), m.choice.Fit.LogLikelihood}), limits, err
	}
	want, wantLimits, err := predict(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := ranks.Together(t.Context(), 2, func(ctx context.Context, ranked *ranks.Group) error {
		got, limits, err := predict(ctx, ranked)
		switch {
		case err != nil:
			return err
		case !slices.Equal(got, want):
			return errors.New("other predictions than alone")
		case limits.PriorOnly != wantLimits.PriorOnly, ranked.Rank() == 0 && (limits.Walks == nil) != (wantLimits.Walks == nil):
			return fmt.Errorf("limits %+v, alone %+v", limits, wantLimits)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}
