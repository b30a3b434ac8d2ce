package grfgp

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grfgp/gp"
	"grfgp/graph"
)

// On a path measured at its first nodes, the measurements that remain beside a held-out one are
// as far from it as measurements are from the unmeasured nodes: from 1 to 17 hops.
func TestHeldOut(t *testing.T) {
	t.Parallel()
	g, err := graph.Grid(20, 1)
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewTrainer(g, Spec{})
	if err != nil {
		t.Fatal(err)
	}
	nodes := []int{0, 1, 2, 2}
	far := w.when.Distances(nodes, distancePeriods)
	slices.Sort(far)
	if want := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}; !slices.Equal(far, want) {
		t.Errorf("nodes without data lie %v hops from data, want %v", far, want)
	}
	at := map[int][]int{nodes[0]: {0}, nodes[1]: {1}, nodes[2]: {2, 3}}
	for _, c := range []struct {
		k, distance int
		want        []int
	}{{0, 0, []int{0}}, {0, 1, []int{0}}, {0, 2, []int{0, 1}}, {0, 3, []int{0, 1, 2, 3}}, {3, 0, []int{3, 2}}, {3, 1, []int{3, 2}},
		{3, 9, []int{3, 0, 1, 2}}} {
		got := w.when.Nearer(graph.NewSearch(g), c.k, nodes[c.k], c.distance, heldOutNear, at)
		if got[0] != c.k || !slices.Equal(slices.Sorted(slices.Values(got[1:])), slices.Sorted(slices.Values(c.want[1:]))) {
			t.Errorf("nearer than %d hops to measurement %d: %v, want %v", c.distance, c.k, got, c.want)
		}
	}
	for k, list := range w.heldOut(nodes) {
		if len(list) == 0 {
			t.Errorf("list %d is empty", k)
		}
	}
}

// The highest gain is above the true gain in all but one case in forty; 1,000
// trials allow 10 to 45 cases.
func TestHighestGain(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	below := 0
	for range 1000 {
		a, b := make([]float64, 100), make([]float64, 100)
		for k := range a {
			b[k] = random.NormFloat64()
			a[k] = b[k] + 0.5 + random.NormFloat64()
		}
		if highestGain(a, b) < 0.5 {
			below++
		}
	}
	if below < 10 || below > 45 {
		t.Errorf("%d of 1,000 are below the truth", below)
	}
}

// Many scales that do not improve predictions are dropped, however likely the
// kernel; many scales that do are kept, and so is the likeliest kernel if it has
// one scale.
func TestConfirm(t *testing.T) {
	t.Parallel()
	g, err := graph.Grid(15, 15)
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewTrainer(g, Spec{})
	if err != nil {
		t.Fatal(err)
	}
	var d gp.Data
	for i := 0; i < g.Len(); i += 2 {
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, math.Sin(float64(i%15)/3)+math.Cos(float64(i/15)/4))
	}
	k, err := w.kernel(t.Context(), Expression{Family: "diffusion", Method: "dense"})
	if err != nil {
		t.Fatal(err)
	}
	model := func(length, noise float64) *gp.Model {
		m, err := gp.NewModel(k, gp.State{Theta: []float64{30, length}, Noise: noise, MeanVar: 1, Units: gp.Units{Scale: 1}, Solver: gp.Exact})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	good, poor := model(10, 0.01), model(0.1, 1)
	try := func(many bool, m *gp.Model, likelihood float64) attempt {
		return attempt{Expression: Expression{Scales: named(many, scaleNames)}, model: m, worth: likelihood}
	}
	for _, c := range []struct {
		what  string
		tried []attempt
		many  bool
	}{
		{"the same", []attempt{try(false, good, -10), try(true, good, 0)}, false},
		{"better", []attempt{try(false, poor, -10), try(true, good, 0)}, true},
		{"one scale is likelier", []attempt{try(false, poor, 10), try(true, good, 0)}, false},
		{"only many", []attempt{try(true, good, 0)}, true},
	} {
		best, err := w.confirm(t.Context(), d, c.tried)
		if err != nil || best.Many() != c.many {
			t.Errorf("%s: many %v, %v", c.what, best.Many(), err)
		}
	}
}
