package grfgp

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"grfgp/gp"
	"grfgp/graph"
)

// Model files name hyperparameters by their paths: those of another order, and old ones without names, give the same bits.
func TestFilesNameHyperparameters(t *testing.T) {
	t.Parallel()
	g, err := graph.Grid(7, 7)
	if err != nil {
		t.Fatal(err)
	}
	var d gp.Data
	for i := 0; i < g.Len(); i += 2 {
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, math.Sin(float64(i%7)/3)+math.Cos(float64(i/7)/3))
	}
	m, err := Fit(t.Context(), g, d, Spec{Expression: Expression{Family: "diffusion", Scales: "many", Variance: "natural"}})
	if err != nil {
		t.Fatal(err)
	}
	if names := m.Choice().Fit.Names; !slices.Equal(names[:3], []string{"graph/variance", "graph/beta", "graph/coarse/beta"}) {
		t.Errorf("hyperparameters %q", names)
	}
	want, err := m.Predict(t.Context(), []int{1, 30})
	if err != nil {
		t.Fatal(err)
	}
	reverse := func(s *gp.State) {
		s.Theta, s.Names, s.Alternatives = slices.Clone(s.Theta), slices.Clone(s.Names), slices.Clone(s.Alternatives)
		slices.Reverse(s.Theta)
		slices.Reverse(s.Names)
		for k := range s.Alternatives {
			theta := slices.Clone(s.Alternatives[k].Theta)
			slices.Reverse(theta)
			s.Alternatives[k].Theta = theta
		}
	}
	for what, change := range map[string]func(s *gp.State){"reversed": reverse, "old": func(s *gp.State) { s.Names = nil }} {
		state := m.fitted.State()
		change(&state)
		text, err := json.Marshal(savedModel{Spec: m.spec, State: state, NoiseSD: m.noiseSD, Nodes: d.Nodes, Y: d.Y})
		if err != nil {
			t.Fatal(err)
		}
		var s savedModel
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		again, err := m.of.revive(context.Background(), &s)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		got, err := again.Predict(t.Context(), []int{1, 30})
		if err != nil || !slices.Equal(got.Mean, want.Mean) || !slices.Equal(got.SD, want.SD) {
			t.Errorf("%s: predicts %v ± %v, want %v ± %v; %v", what, got.Mean, got.SD, want.Mean, want.SD, err)
		}
	}
	other := m.fitted.State()
	other.Names[0] = "graph/kappa"
	if _, err := m.of.revive(t.Context(), &savedModel{Spec: m.spec, State: other, Nodes: d.Nodes, Y: d.Y}); err == nil {
		t.Error("hyperparameters of another kernel are taken")
	}
	var file bytes.Buffer
	if err := m.Save(&file); err != nil || !strings.Contains(file.String(), `"names":["graph/variance"`) {
		t.Errorf("the file is %s, %v", file.String(), err)
	}
}
