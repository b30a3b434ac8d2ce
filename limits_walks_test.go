package grfgp

import (
	"math"
	"math/rand/v2"
	"testing"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	"grfgp/kernel"
)

// smooth returns every so manieth node with a function that varies over so many
// hops: noise, averaged over neighbours.
func smooth(g *graph.Graph, hops, every int) gp.Data {
	n := g.Len()
	f, next := make([]float64, n), make([]float64, n)
	random := rand.New(rng.New(1, "smooth"))
	for i := range f {
		f[i] = random.NormFloat64()
	}
	w := g.Normalized(graph.NormalizedAdjacency)
	for range hops {
		w.MulVec(next, f)
		for i := range f {
			f[i] = (f[i] + next[i]) / 2
		}
	}
	var d gp.Data
	for i := 0; i < n; i += every {
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, f[i])
	}
	return d
}

// withLoneNodes is a scale-free graph with nodes on top that have no neighbours.
func withLoneNodes(t *testing.T, n, lone int) *graph.Graph {
	t.Helper()
	hubs, err := graph.BarabasiAlbert(n, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	var e graph.Edges
	for i := range n {
		cols, _ := hubs.Adjacency().Row(i)
		for _, j := range cols {
			if int(j) < i {
				e.U, e.V = append(e.U, uint32(i)), append(e.V, j)
			}
		}
	}
	g, _, err := graph.FromEdges(graph.NumberIDs(n+lone), e, graph.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// The standard error of means that Limits estimates from one additional set of
// walks agrees with that over many sets. It is averaged over eight models that
// differ only in their walks; 16 sets of walks are the reference. Averages of
// squares may differ by four of their standard errors. The quick suite has features on
// one scale of a smaller graph.
func TestWalkErrorOfMeans(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const asked, sets = 8, 16
	g := withLoneNodes(t, testkit.Size(410, 1510), 40) // too many components for layers: coarser graphs are walked on
	d := smooth(g, 10, 5)
	specs := []Spec{
		{Expression: Expression{Method: "grf", Family: "diffusion", Scales: "one", Trend: "none", Hops: 8}, Walks: 10, Seed: 1},
		{Expression: Expression{Method: "grf", Family: "matern", Nu: 2, Scales: "many", Trend: "degree"}, Walks: 10, Seed: 1},
		{Expression: Expression{Method: "lowrank", Family: "diffusion", Trend: "none", Hops: 4}, Walks: 10, Rank: 60, Seed: 1},
		{Expression: Expression{Method: "series", Family: "diffusion", Scales: "many", Trend: "none"}, Seed: 1},
	}
	for _, spec := range specs[:testkit.Size(1, len(specs))] {
		m, err := Fit(t.Context(), g, d, spec)
		if err != nil {
			t.Fatal(err)
		}
		nodes := g.Nodes()
		// with is the model by the walks of another seed.
		with := func(seed uint64) (*Model, Prediction) {
			settled := m.spec
			settled.Seed = seed
			w, err := NewTrainer(g, settled)
			if err != nil {
				t.Fatal(err)
			}
			other, err := w.revive(t.Context(), &savedModel{Spec: settled, State: m.fitted.State(), Nodes: d.Nodes, Y: d.Y})
			if err != nil {
				t.Fatal(err)
			}
			p, err := other.Predict(t.Context(), nodes)
			if err != nil {
				t.Fatal(err)
			}
			return other, p
		}
		mean, square, sd := make([]float64, len(nodes)), make([]float64, len(nodes)), 0.0
		said, said2 := 0.0, 0.0
		for k := range sets {
			other, p := with(uint64(100 + k))
			for i, v := range p.Mean {
				mean[i] += v / sets
				square[i] += v * v / sets
				sd += p.SD[i] * p.SD[i] / sets
			}
			if k >= asked {
				continue
			}
			l, err := other.Limits(t.Context(), nodes, p)
			if err != nil {
				t.Fatal(err)
			}
			if l.Walks == nil || l.Walks.Nodes != limitNodes {
				t.Fatalf("%+v: limits are %+v", spec, l)
			}
			said += l.Walks.Mean * l.Walks.Mean / asked
			said2 += math.Pow(l.Walks.Mean, 4) / asked
		}
		variance := 0.0
		for i := range mean {
			variance += (square[i] - mean[i]*mean[i]) * sets / (sets - 1)
		}
		truth := variance / sd
		se := math.Sqrt((said2-said*said)/(asked-1) + (said2-said*said)/sets)
		t.Logf("%s, %s scales: means are off by %.3f of their sd, said to be %.3f", m.spec.Method, m.spec.Scales, math.Sqrt(truth),
			math.Sqrt(said))
		if !(truth > 0) || math.Abs(said-truth) > 4*se {
			t.Errorf("%s, %s scales: squared error %v, said to be %v ± %v", m.spec.Method, m.spec.Scales, truth, said, se)
		}
	}
}

// Rows that are sampled again equal those of features of all rows, so results
// that depend only on them are the same.
func TestTwinNeedsFewRows(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	g, err := graph.BarabasiAlbert(500, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	d := gp.Data{Nodes: []int{3, 40, 200, 311}, Y: []float64{1, 2, 0, 1}}
	m, err := Fit(t.Context(), g, d, Spec{Expression: Expression{Method: "grf", Family: "diffusion", Scales: "many", Trend: "none"}, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	abilities := kernel.AbilitiesOf(m.posterior.Prior())
	fine, coarse := abilities.Fine, abilities.Coarse
	nodes := []int{7, 70, 450}
	twin, err := m.twin(t.Context(), fine, coarse, nodes)
	if err != nil {
		t.Fatal(err)
	}
	few := kernel.AbilitiesOf(twin.Prior()).Fine
	settled := m.spec
	settled.Seed = few.Features.Options().Seed
	w, err := NewTrainer(g, settled)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := w.revive(t.Context(), &savedModel{Spec: settled, State: m.fitted.State(), Nodes: d.Nodes, Y: d.Y})
	if err != nil {
		t.Fatal(err)
	}
	want, err := whole.posterior.Mean(t.Context(), nodes)
	if err != nil {
		t.Fatal(err)
	}
	got, err := twin.Mean(t.Context(), nodes)
	if err != nil {
		t.Fatal(err)
	}
	for k := range nodes {
		if math.Abs(got[k]-want[k]) > 1e-12 {
			t.Errorf("node %d: %v by the rows that are needed, %v by all", nodes[k], got[k], want[k])
		}
	}
	if few.Features.Size().Entries >= fine.Features.Size().Entries/4 {
		t.Errorf("%d entries for a few nodes, %d for all", few.Features.Size().Entries, fine.Features.Size().Entries)
	}
}
