package crossval_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"grfgp"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/ranks"
	"grfgp/internal/testkit"
)

// Ranks that share the folds all have the result of one alone, byte by byte.
func TestRanksShareTheFolds(t *testing.T) {
	t.Parallel()
	g, err := graph.Grid(12, 12)
	if err != nil {
		t.Fatal(err)
	}
	var d gp.Data
	var l gp.Labels
	l.Classes = 2
	for i := 0; i < g.Len(); i += 4 {
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, float64(i%12)+0.1*float64(i%7))
		l.Nodes, l.Class = append(l.Nodes, i), append(l.Class, i%12/6)
	}
	spec := grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion"}}
	both := func(ctx context.Context, r *ranks.Group) (string, error) {
		opts := crossval.Options{Folds: 5, Ranks: r}
		v, err := crossval.Validate(ctx, g, d, spec, opts)
		if err != nil {
			return "", err
		}
		c, err := crossval.ValidateClasses(ctx, g, l, spec, gp.Dirichlet, opts)
		if err != nil {
			return "", err
		}
		text, err := json.Marshal([]any{v, v.Limits, c})
		return string(text), err
	}
	want, err := both(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(want, `"rmse"`) || strings.Contains(want, "LogDensity") {
		t.Fatalf("the answer in JSON: %.200s", want)
	}
	for size := 2; size <= testkit.Size(2, 4); size++ {
		err := ranks.Together(t.Context(), size, func(ctx context.Context, r *ranks.Group) error {
			got, err := both(ctx, r)
			if err == nil && got != want {
				err = fmt.Errorf("another result:\n%s\nalone:\n%s", got, want)
			}
			return err
		})
		if err != nil {
			t.Errorf("%d ranks: %v", size, err)
		}
	}
}
