package gp_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/testkit"
	"grfgp/kernel"
)

// "What is it now, where we did not look": a field on a ring of 60 nodes changes over
// 12 periods, and each node is seen in a third of them. Predictions for the last
// period, at the nodes not seen then, are better from a kernel over time than from the
// last period alone and than from the means over time. Over eight fields (seeds 1 to
// 8) the squared error of the first is at most 0.8 of that of each of the others.
//
// 95 % intervals hold 95 % of the values in all periods at nodes not seen: 8·480
// values, of which those near in space and time are alike. The coverages of the eight
// fields have a standard error of their mean, measured from their scatter; the mean
// must be within four of them, and within 0.03, of 0.95.
func TestOverTimePredicts(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const n, periods, fields = 60, 12, 8
	g, err := graph.Ring(n)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	times := make([]float64, periods)
	for p := range times {
		times[p] = float64(p)
	}
	over := kernel.OverTime(k, times)
	var errors [3]float64 // squared, of: over time, the last period alone, means over time
	var coverage []float64
	for field := range fields {
		truth, seen, now, pooled := changingField(t, over, n, uint64(field+1))
		unseen, last := lookedAway(seen.Nodes, n*periods), (periods-1)*n
		p := fitted(t, over, seen)
		mean, variance := predict(t, p, unseen)
		within := 0.0
		for a, r := range unseen {
			if math.Abs(truth[r]-mean[a]) < 1.959964*math.Sqrt(variance[a]) {
				within += 1 / float64(len(unseen))
			}
		}
		coverage = append(coverage, within)
		nodes := lookedAway(now.Nodes, n)
		alone, _ := predict(t, fitted(t, k, now), nodes)
		still, _ := predict(t, fitted(t, k, pooled), nodes)
		for a, r := range unseen[len(unseen)-len(nodes):] {
			if r != last+nodes[a] {
				t.Fatalf("node %d is compared with node %d", r-last, nodes[a])
			}
			for m, v := range []float64{mean[len(unseen)-len(nodes)+a], alone[a], still[a]} {
				errors[m] += (v - truth[r]) * (v - truth[r])
			}
		}
	}
	if errors[0] > 0.8*errors[1] || errors[0] > 0.8*errors[2] {
		t.Errorf("squared errors over time, of the last period alone and of means: %.4g, want the first at most 0.8 of the others", errors)
	}
	center, scatter := 0.0, 0.0
	for _, v := range coverage {
		center += v / fields
	}
	for _, v := range coverage {
		scatter += (v - center) * (v - center) / (fields - 1)
	}
	if off := math.Abs(center - 0.95); off > 4*math.Sqrt(scatter/fields) || off > 0.03 {
		t.Errorf("95 %% intervals hold %.3f, want 0.95 ± %.3f and ± 0.03; single fields %.3f", center, 4*math.Sqrt(scatter/fields), coverage)
	}
	t.Logf("squared errors %.4g, coverage %.3f", errors, center)
}

// changingField draws a field from the prior and measures each node in a third of the
// periods, with noise: all measurements, those of the last period, and those of all
// periods as if they were of one.
func changingField(t *testing.T, over kernel.Kernel, n int, seed uint64) (truth []float64, seen, now, pooled gp.Data) {
	t.Helper()
	cov, err := over.At([]float64{2, 6, 5, 2})
	if err != nil {
		t.Fatal(err)
	}
	f := mat.NewDense(over.Nodes(), 1, nil)
	if err := cov.Prior(t.Context(), f, seed); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 7))
	for k := range over.Nodes() {
		truth = append(truth, f.At(k, 0))
		if r.IntN(3) > 0 {
			continue
		}
		y := f.At(k, 0) + 0.2*r.NormFloat64()
		seen.Nodes, seen.Y = append(seen.Nodes, k), append(seen.Y, y)
		pooled.Nodes, pooled.Y = append(pooled.Nodes, k%n), append(pooled.Y, y)
		if k >= over.Nodes()-n {
			now.Nodes, now.Y = append(now.Nodes, k%n), append(now.Y, y)
		}
	}
	return truth, seen, now, pooled
}

// lookedAway returns the numbers below n that a list does not have.
func lookedAway(seen []int, n int) (rest []int) {
	has := map[int]bool{}
	for _, k := range seen {
		has[k] = true
	}
	for k := range n {
		if !has[k] {
			rest = append(rest, k)
		}
	}
	return rest
}

func fitted(t *testing.T, k kernel.Kernel, d gp.Data) *gp.Posterior {
	t.Helper()
	m, _, err := gp.Fit(t.Context(), k, d, gp.FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Condition(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func predict(t *testing.T, p *gp.Posterior, nodes []int) (mean, variance []float64) {
	t.Helper()
	mean, err := p.Mean(t.Context(), nodes)
	if err != nil {
		t.Fatal(err)
	}
	if variance, err = p.Variance(t.Context(), nodes); err != nil {
		t.Fatal(err)
	}
	return mean, variance
}

// The iterative solver gives the same means over time as the exact one.
func TestOverTimeIteratively(t *testing.T) {
	t.Parallel()
	g, err := graph.Ring(60)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	over := kernel.OverTime(k, []float64{0, 1, 2, 3, 4, 5})
	_, seen, _, _ := changingField(t, over, 60, 3)
	rows := lookedAway(seen.Nodes, over.Nodes())
	var means [2][]float64
	for s, solver := range []gp.Solver{gp.Exact, gp.Iterative} {
		m, err := gp.NewModel(over, gp.State{Theta: []float64{2, 6, 5, 2}, Noise: 0.04, MeanVar: 1, Units: gp.Units{Scale: 1}, Solver: solver})
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Condition(t.Context(), seen)
		if err != nil {
			t.Fatal(err)
		}
		if means[s], err = p.Mean(t.Context(), rows); err != nil {
			t.Fatal(err)
		}
	}
	for a, v := range means[0] {
		if math.Abs(v-means[1][a]) > 1e-3 {
			t.Fatalf("number %d: %v exactly, %v by iteration", rows[a], v, means[1][a])
		}
	}
}

// A value from the past says something about the present, and less with every period.
func ExampleModel_overTime() {
	g, err := graph.Ring(20)
	if err != nil {
		panic(err)
	}
	k, err := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	if err != nil {
		panic(err)
	}
	over := kernel.OverTime(k, []float64{2019, 2020, 2021, 2022}) // node i in period p is 20p + i
	m, err := gp.NewModel(over, gp.State{Theta: []float64{4, 8, 2, 3}, Noise: 0.01, Units: gp.Units{Scale: 1}, Solver: gp.Exact})
	if err != nil {
		panic(err)
	}
	p, err := m.Condition(context.Background(), gp.Data{Nodes: []int{0*20 + 5}, Y: []float64{1}}) // node 5 in 2019
	if err != nil {
		panic(err)
	}
	mean, err := p.Mean(context.Background(), []int{0*20 + 5, 1*20 + 5, 3*20 + 5, 3*20 + 15}) // in 2019, 2020 and 2022, and far away in 2022
	fmt.Printf("%.2f %v\n", mean, err)
	// Output: [0.98 0.69 0.41 0.00] <nil>
}

// From a table with times to predictions for each period.
func ExampleDataOf_overTime() {
	ctx := context.Background()
	net, err := graphio.ReadGraph(ctx, graphio.Reader("roads", strings.NewReader("from,to\na,b\nb,c\nc,d\n")), graphio.Options{})
	if err != nil {
		panic(err)
	}
	table := strings.NewReader("year,a,b,c,d\n2022,3,4,,\n2023,,6,5,\n2024,7,,,8\n")
	read, err := graphio.ReadMeasurements(ctx, graphio.Reader("levels", table), net.Graph, graphio.Options{Times: graphio.TimesKeep})
	if err != nil {
		panic(err)
	}
	n, periods := net.Graph.Len(), read.Periods(0)
	data, err := gp.DataOf(read.OverTime(periods, n))
	if err != nil {
		panic(err)
	}
	k, err := kernel.NewDense(net.Graph.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	if err != nil {
		panic(err)
	}
	m, err := gp.NewModel(kernel.OverTime(k, periods.Times),
		gp.State{Theta: []float64{4, 2, 3, 1}, Noise: 0.1, MeanVar: 1, Units: gp.Units{Center: 5, Scale: 1}, Solver: gp.Exact})
	if err != nil {
		panic(err)
	}
	p, err := m.Condition(ctx, data)
	if err != nil {
		panic(err)
	}
	c, _ := net.Graph.IDs().Lookup([]byte("c"))
	for period, name := range periods.Names {
		mean, err := p.Mean(ctx, []int{period*n + c})
		fmt.Printf("c in %s: %.1f %v\n", name, mean[0], err)
	}
	// Output:
	// c in 2022: 4.8 <nil>
	// c in 2023: 5.4 <nil>
	// c in 2024: 7.2 <nil>
}
