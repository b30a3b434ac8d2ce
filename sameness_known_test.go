package grfgp_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grfgp"
	"grfgp/covariate"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
)

// knownTask is a task with covariates and times: what nodes are, by their numbers, and
// measurements at places.
type knownTask struct {
	task
	size  []float64
	kind  []string
	times []float64
}

// newKnownTask is a graph with hubs, on which a column, the degree and time explain
// much of the values.
func newKnownTask(t testing.TB) knownTask {
	t.Helper()
	g, err := graph.BarabasiAlbert(testkit.Size(50, 90), 2, 5)
	if err != nil {
		t.Fatal(err)
	}
	g = g.Ordered()
	r := rand.New(rng.New(9, "known"))
	k := knownTask{task: task{graph: g}, times: []float64{0, 1, 3}}
	for i := range g.Len() {
		k.size, k.kind = append(k.size, r.NormFloat64()), append(k.kind, []string{"a", "b", "c"}[r.IntN(3)])
		if i%11 == 0 {
			k.size[i] = math.NaN() // not known
		}
	}
	for p, at := range k.times {
		for _, i := range r.Perm(g.Len())[:g.Len()/2] {
			neighbours, _ := g.Adjacency().Row(i)
			y := math.Log(float64(len(neighbours))) + math.Sin(at+float64(i)/30) + 0.1*r.NormFloat64()
			if !math.IsNaN(k.size[i]) {
				y += k.size[i]
			}
			k.train.Nodes, k.train.Y = append(k.train.Nodes, grfgp.Place(g, i, p)), append(k.train.Y, y)
		}
	}
	return k
}

// spec is the automatic choice among terms.
func (k knownTask) spec(t testing.TB) grfgp.Spec {
	t.Helper()
	columns := []covariate.Column{covariate.NewNumbers("size", k.size), covariate.NewCategory("kind", k.kind)}
	set, err := covariate.Encode(columns, k.graph.Len(), covariate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Scales: "one", Variance: "natural"}, Covariates: set, Times: k.times}
}

// renumbered is the task with its rows in another order, and with other ids if renamed.
func (k knownTask) renumbered(t testing.TB, seed uint64, renamed bool) (other knownTask, number []int) {
	t.Helper()
	nodes, number := renumberedTask(t, task{graph: k.graph}, seed, renamed)
	n := k.graph.Len()
	other = knownTask{nodes, make([]float64, n), make([]string, n), k.times}
	for i, at := range number {
		other.size[at], other.kind[at] = k.size[i], k.kind[i]
	}
	other.train = k.train.Select(rand.New(rng.New(seed, "rows")).Perm(k.train.Len()))
	for r, place := range other.train.Nodes {
		i, p := grfgp.AtPlace(k.graph, place)
		other.train.Nodes[r] = grfgp.Place(k.graph, number[i], p)
	}
	return other, number
}

// predicted returns the terms of the fitted kernel, and the prediction at all places.
func (k knownTask) predicted(t testing.TB) ([]string, grfgp.Prediction) {
	t.Helper()
	m, err := grfgp.Fit(context.Background(), k.graph, k.train, k.spec(t))
	if err != nil {
		t.Fatal(err)
	}
	var places []int
	for p := range k.times {
		places = append(places, grfgp.Places(k.graph, k.graph.Nodes(), p)...)
	}
	p, err := m.Predict(context.Background(), places)
	if err != nil {
		t.Fatal(err)
	}
	return m.Choice().Terms, p
}

// With covariates, roles and times, the order of rows changes nothing to the last bit,
// and other ids change no mean by more than 0.01 sd.
func TestSameKnownSameAnswers(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	k := newKnownTask(t)
	terms, p := k.predicted(t)
	if len(terms) < 2 {
		t.Errorf("the kernel has the terms %v; want covariates or roles among them", terms)
	}
	n := k.graph.Len()
	for _, renamed := range []bool{false, true} {
		other, number := k.renumbered(t, 4, renamed)
		again, q := other.predicted(t)
		if !slices.Equal(terms, again) {
			t.Errorf("renamed %v: the terms %v are %v in another order", renamed, terms, again)
		}
		most := 0.0
		for place := range p.Mean {
			at := place/n*n + number[place%n]
			if !renamed && (p.Mean[place] != q.Mean[at] || p.SD[place] != q.SD[at]) {
				t.Fatalf("place %d is %v ± %v, and %v ± %v with rows in another order", place, p.Mean[place], p.SD[place], q.Mean[at], q.SD[at])
			}
			most = max(most, math.Abs(p.Mean[place]-q.Mean[at])/p.SD[place])
		}
		if t.Logf("renamed %v: %v, means differ by up to %.2g sd", renamed, terms, most); most > 0.01 {
			t.Errorf("renamed %v: a mean moves by %.3g sd, want at most 0.01", renamed, most)
		}
	}
}

// Tables of nodes × periods that are factored as such do not depend on the order of rows.
func TestSameTableSameBytes(t *testing.T) {
	t.Parallel()
	k := newKnownTask(t)
	k.train = gp.Data{}
	for p := range k.times {
		for i := 0; i < k.graph.Len(); i += 2 {
			k.train.Nodes = append(k.train.Nodes, grfgp.Place(k.graph, i, p))
			k.train.Y = append(k.train.Y, math.Sin(float64(i)/9+k.times[p]))
		}
	}
	predict := func(k knownTask) grfgp.Prediction {
		spec := grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Scales: "one", Variance: "natural", Trend: "none"},
			Roles: "none", Solver: "iterative", Times: k.times}
		m, err := grfgp.Fit(t.Context(), k.graph, k.train, spec)
		if err != nil {
			t.Fatal(err)
		}
		if !m.Choice().Fit.Factored {
			t.Error("the table was not factored")
		}
		p, err := m.Predict(t.Context(), grfgp.Places(k.graph, k.graph.Nodes(), 2))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := predict(k)
	other, number := k.renumbered(t, 6, false)
	q := predict(other)
	for i, at := range number {
		if p.Mean[i] != q.Mean[at] || p.SD[i] != q.SD[at] {
			t.Fatalf("node %d is %v ± %v, and %v ± %v with rows in another order", i, p.Mean[i], p.SD[i], q.Mean[at], q.SD[at])
		}
	}
}
