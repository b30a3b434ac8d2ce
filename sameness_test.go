package grfgp_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
)

// ordered returns a task with its graph in locality order. number[i] is the new number
// of node i.
func ordered(k task) (other task, number []int) {
	g := k.graph.Ordered()
	number = g.InputOrder()
	moved := func(d gp.Data) gp.Data {
		d = d.Clone()
		for r, i := range d.Nodes {
			d.Nodes[r] = number[i]
		}
		return d
	}
	return task{g, moved(k.train), moved(k.test)}, number
}

// renumberedTask is a task as it comes from a file whose rows are in another order,
// and has other ids if renamed. number[i] is the new number of node i.
func renumberedTask(t testing.TB, k task, seed uint64, renamed bool) (other task, number []int) {
	t.Helper()
	random := rand.New(rng.New(seed, "renumbered"))
	order := random.Perm(k.graph.Len())
	g, err := k.graph.Permute(order)
	if err != nil {
		t.Fatal(err)
	}
	if renamed {
		ids := make([]string, g.Len())
		for i, v := range random.Perm(g.Len()) {
			ids[i] = fmt.Sprintf("node%06d", v)
		}
		labels, _ := graph.IDsOf(ids)
		if g, err = graph.New(g.Adjacency(), labels); err != nil {
			t.Fatal(err)
		}
	}
	number = make([]int, len(order))
	for at, node := range order {
		number[node] = at
	}
	moved := func(d gp.Data) gp.Data {
		d = d.Select(random.Perm(d.Len()))
		for r, i := range d.Nodes {
			d.Nodes[r] = number[i]
		}
		return d
	}
	other, last := ordered(task{g, moved(k.train), moved(k.test)})
	for i, at := range number {
		number[i] = last[at]
	}
	return other, number
}

// fitted returns the model of a task, and mean and sd at every node.
func (k task) fitted(t testing.TB, spec grfgp.Spec) (*grfgp.Model, grfgp.Prediction) {
	t.Helper()
	m, err := grfgp.Fit(context.Background(), k.graph, k.train, spec)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(context.Background(), k.graph.Nodes())
	if err != nil {
		t.Fatal(err)
	}
	return m, p
}

// farthest returns by how many standard deviations a mean differs at most.
func farthest(p, q grfgp.Prediction, number []int) float64 {
	most := 0.0
	for i := range p.Mean {
		most = max(most, math.Abs(p.Mean[i]-q.Mean[number[i]])/p.SD[i])
	}
	return most
}

// smallTask is a road mesh with lone nodes, repeated edges in the making and
// repeated readings: of 900 nodes in the full suite, of 100 in the quick one, for the
// order of rows is lost in small graphs as in large ones.
func smallTask() task {
	c := caseNamed("smooth road mesh")
	if !testkit.IsFull() {
		c.graph, c.value, c.measured = roadMesh(10), smoothField(30), 30
	}
	g, _, d := c.draw(7)
	d.Nodes, d.Y = append(d.Nodes, d.Nodes[:20]...), append(d.Y, d.Y[1:21]...)
	k, _ := ordered(task{graph: g, train: d})
	return k
}

// The order of the rows of files changes nothing, to the last bit, in any
// representation.
func TestSameDataSameBytes(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	k := smallTask()
	other, number := renumberedTask(t, k, 1, false)
	for _, spec := range []grfgp.Spec{
		{Expression: grfgp.Expression{Family: "diffusion", Scales: "many", Trend: "none", Variance: "natural"}},
		{Expression: grfgp.Expression{Family: "matern", Nu: 2, Method: "series", Scales: "many", Trend: "none", Variance: "unit"}},
		{Expression: grfgp.Expression{Family: "free", Method: "grf", Scales: "one", Trend: "none"}, Walks: 20},
		{Expression: grfgp.Expression{Family: "diffusion", Method: "grf", Scales: "many", Trend: "degree", Variance: "natural"},
			Solver: "iterative"},
		{Expression: grfgp.Expression{Family: "diffusion", Method: "lowrank"}, Rank: 50},
	} {
		t.Run(fmt.Sprint(spec.Family, spec.Method), func(t *testing.T) {
			t.Parallel()
			_, p := k.fitted(t, spec)
			_, q := other.fitted(t, spec)
			for i := range p.Mean {
				if j := number[i]; p.Mean[i] != q.Mean[j] || p.SD[i] != q.SD[j] {
					t.Fatalf("%+v: node %d is %v ± %v, and %v ± %v with rows in another order", spec, i, p.Mean[i], p.SD[i], q.Mean[j], q.SD[j])
				}
			}
		})
	}
}

// Validation, suggestions and classes do not depend on the order of rows either,
// and a model file can be loaded with the graph of the same rows in any order.
func TestSameDataSameAnswers(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	ctx := context.Background()
	k := smallTask()
	other, number := renumberedTask(t, k, 2, false)
	spec := grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Scales: "one", Trend: "none", Variance: "natural"}}

	for _, scheme := range []crossval.Scheme{crossval.Scattered, crossval.Neighbourhoods} {
		opts := crossval.Options{Folds: 5, Scheme: scheme}
		v := must(crossval.Validate(ctx, k.graph, k.train, spec, opts))
		w := must(crossval.Validate(ctx, other.graph, other.train, spec, opts))
		if math.Abs(v.RMSE-w.RMSE) > 1e-12*v.RMSE || math.Abs(v.NLPD-w.NLPD) > 1e-12 {
			t.Errorf("%s: RMSE %v and NLPD %v, in another order %v and %v", scheme, v.RMSE, v.NLPD, w.RMSE, w.NLPD)
		}
	}
	for _, goal := range []bayesopt.Goal{bayesopt.Maximize, bayesopt.Learn} {
		asked := func(k task) []int {
			o := must(grfgp.NewOptimizer(k.graph, spec, bayesopt.Options{Goal: goal, Seed: 3}))
			if err := o.TellAll(grfgp.Sorted(k.train)); err != nil {
				t.Fatal(err)
			}
			nodes, _, err := o.Next(ctx, bayesopt.Request{Count: 5})
			if err != nil {
				t.Fatal(err)
			}
			return nodes
		}
		want, got := asked(k), asked(other)
		for r, i := range want {
			want[r] = number[i]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: suggests %v, in another order %v", goal, want, got)
		}
	}

	labels := func(d gp.Data) gp.Labels {
		l := gp.Labels{Classes: 2}
		seen := map[int]bool{}
		for r, i := range d.Nodes {
			if !seen[i] {
				seen[i] = true
				l.Nodes, l.Class = append(l.Nodes, i), append(l.Class, 0)
				if y := d.Y[r]; y > 0 {
					l.Class[len(l.Class)-1] = 1
				}
			}
		}
		return l
	}
	once := func(k task) task { // readings of a node may differ in sign
		k.train = k.train.Pool()
		return k
	}
	chances := func(k task) []float64 {
		c := must(grfgp.Classify(ctx, k.graph, labels(k.train), grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Scales: "one"}},
			gp.Dirichlet))
		return must(c.Probabilities(ctx, k.graph.Nodes())).RawMatrix().Data
	}
	first := once(k)
	second, number2 := renumberedTask(t, first, 4, false)
	p, q := chances(first), chances(second)
	for i := range number2 {
		if p[2*i] != q[2*number2[i]] {
			t.Errorf("chances of node %d are %v, in another order %v", i, p[2*i], q[2*number2[i]])
			break
		}
	}

	m, want := k.fitted(t, spec)
	var file bytes.Buffer
	if err := m.Save(&file); err != nil {
		t.Fatal(err)
	}
	loaded, err := grfgp.Load(ctx, &file, other.graph)
	if err != nil {
		t.Fatalf("a model of the same graph with its rows in another order: %v", err)
	}
	got := must(loaded.Predict(ctx, other.graph.Nodes()))
	for i := range want.Mean {
		if want.Mean[i] != got.Mean[number[i]] {
			t.Errorf("node %d is %v, loaded %v", i, want.Mean[i], got.Mean[number[i]])
			break
		}
	}
}

// Other ids change no mean by more than 0.1 sd: on a real road network, a grid and
// a ring, by the automatic choice. The quick suite has the road mesh alone.
func TestOtherNames(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	cases := map[string]func(t *testing.T) task{"road mesh": func(*testing.T) task { return smallTask() }}
	if testkit.IsFull() {
		for _, name := range []string{"smooth grid", "long path", "tree, Brownian"} {
			cases[name] = func(*testing.T) task {
				g, _, d := caseNamed(name).draw(1)
				k, _ := ordered(task{graph: g, train: d})
				return k
			}
		}
		cases["San Jose"] = func(t *testing.T) task { return trafficTasks(t)[0] }
	}
	for name, draw := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := draw(t)
			_, p := k.fitted(t, grfgp.Spec{})
			other, number := renumberedTask(t, k, 3, true)
			_, q := other.fitted(t, grfgp.Spec{})
			most := farthest(p, q, number)
			t.Logf("up to %.2g sd", most)
			if most > 0.1 {
				t.Errorf("other ids move a mean by %.3g sd, want at most 0.1", most)
			}
		})
	}
}
