package gp

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	"grfgp/plan"
)

// repeated returns several readings of each of some nodes, in mixed order, and
// the same by node: means, counts and scatters, computed in two passes.
func repeated(n, nodes int, seed uint64) (rows, means Data) {
	random := rand.New(rng.New(seed, "repeated"))
	for k, i := range random.Perm(n)[:nodes] {
		for range 1 + k%4 {
			rows.Nodes = append(rows.Nodes, i)
			rows.Y = append(rows.Y, 50+2*math.Sin(float64(i)/4)+0.7*random.NormFloat64())
		}
	}
	random.Shuffle(rows.Len(), func(a, b int) {
		rows.Nodes[a], rows.Nodes[b] = rows.Nodes[b], rows.Nodes[a]
		rows.Y[a], rows.Y[b] = rows.Y[b], rows.Y[a]
	})
	for _, i := range rows.Nodes {
		if slices.Contains(means.Nodes, i) {
			continue
		}
		count, sum, scatter := 0, 0.0, 0.0
		for k, j := range rows.Nodes {
			if i == j {
				count++
				sum += rows.Y[k]
			}
		}
		mean := sum / float64(count)
		for k, j := range rows.Nodes {
			if i == j {
				scatter += (rows.Y[k] - mean) * (rows.Y[k] - mean)
			}
		}
		if count == 1 {
			scatter = 0
		}
		means.Nodes, means.Y = append(means.Nodes, i), append(means.Y, mean)
		means.Count, means.Scatter = append(means.Count, count), append(means.Scatter, scatter)
	}
	return rows, means
}

// rowsOfNodes returns the rows at some nodes.
func rowsOfNodes(d Data, nodes []int) Data {
	var chosen []int
	for k, i := range d.Nodes {
		if slices.Contains(nodes, i) {
			chosen = append(chosen, k)
		}
	}
	return d.Select(chosen)
}

func TestPool(t *testing.T) {
	t.Parallel()
	rows, means := repeated(34, 12, 1)
	p := rows.Pool()
	if !slices.Equal(p.Nodes, means.Nodes) || !slices.Equal(p.Count, means.Count) {
		t.Fatalf("nodes %v read %v times, want %v and %v", p.Nodes, p.Count, means.Nodes, means.Count)
	}
	near(t, "mean", p.Y, means.Y, 1e-13)
	near(t, "scatter", p.Scatter, means.Scatter, 1e-12)
	halves, err := means.Append(rows)
	if err != nil {
		t.Fatal(err)
	}
	twice := halves.Pool() // means of means, and every reading once more
	near(t, "mean of all twice", twice.Y, means.Y, 1e-13)
	for k, v := range twice.Scatter {
		if twice.Count[k] != 2*means.Count[k] || math.Abs(v-2*means.Scatter[k]) > 1e-12*max(1, v) {
			t.Errorf("node %d: %d readings of scatter %v, want %d and %v", twice.Nodes[k], twice.Count[k], v, 2*means.Count[k], 2*means.Scatter[k])
		}
	}
	for name, d := range map[string]Data{
		"every node once":   means,
		"noises":            {Nodes: []int{1, 1}, Y: []float64{1, 2}, NoiseVar: []float64{1, 2}},
		"scatter not known": {Nodes: []int{1, 1}, Y: []float64{1, 2}, Count: []int{2, 1}},
	} {
		if got := d.Pool(); got.Len() != d.Len() || &got.Y[0] != &d.Y[0] {
			t.Errorf("%s: pooled to %+v", name, got)
		}
	}
}

func TestAppend(t *testing.T) {
	t.Parallel()
	single, noisy := Data{Nodes: []int{1}, Y: []float64{2}}, Data{Nodes: []int{1}, Y: []float64{2}, NoiseVar: []float64{3}}
	counted := Data{Nodes: []int{4}, Y: []float64{5}, Count: []int{6}}
	means := Data{Nodes: []int{4}, Y: []float64{5}, Count: []int{6}, Scatter: []float64{7}}
	for _, c := range []struct {
		a, b    Data
		count   []int
		scatter []float64
		refused string
	}{
		{Data{}, means, []int{6}, []float64{7}, ""},
		{means, Data{}, []int{6}, []float64{7}, ""},
		{single, single, nil, nil, ""},
		{single, means, []int{1, 6}, []float64{0, 7}, ""},
		{means, single, []int{6, 1}, []float64{7, 0}, ""},
		{single, counted, []int{1, 6}, nil, ""},
		{counted, single, []int{6, 1}, nil, ""},
		{counted, counted, []int{6, 6}, nil, ""},
		{counted, means, nil, nil, "scatter"},
		{means, counted, nil, nil, "scatter"},
		{noisy, single, nil, nil, "noise variances"},
		{single, noisy, nil, nil, "noise variances"},
	} {
		got, err := c.a.Append(c.b)
		if c.refused != "" {
			if !errors.Is(err, ErrData) || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%+v and %+v: %v, want it refused for %s", c.a, c.b, err, c.refused)
			}
			continue
		}
		if err != nil || !slices.Equal(got.Count, c.count) || !slices.Equal(got.Scatter, c.scatter) || got.Len() != c.a.Len()+c.b.Len() {
			t.Errorf("%+v and %+v: %+v, %v", c.a, c.b, got, err)
		}
	}
}

// Likelihood and gradient of means with their counts and scatters are those of
// all readings, for every kernel, with the noise learned and with it known.
func TestMeansHaveTheLikelihoodOfReadings(t *testing.T) {
	t.Parallel()
	g := smallGraph(t)
	rows, means := repeated(g.Len(), 14, 2)
	units, err := unitsOf(rows, FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	same, err := unitsOf(means, FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "units", []float64{same.Center, same.Scale}, []float64{units.Center, units.Scale}, 1e-12)
	for name, k := range kernels(t, g) {
		for _, known := range []bool{false, true} {
			p, starts, err := newParams(k, nil, known)
			if err != nil {
				t.Fatal(err)
			}
			p.known = 0.3
			theta := starts[0]
			want, wantGrad, err := evaluate(newMarginal(k, units.standard(rows), 1, p), theta)
			if err != nil {
				t.Fatal(err)
			}
			got, grad, err := evaluate(newMarginal(k, units.standard(means), 1, p), theta)
			if err != nil {
				t.Fatal(err)
			}
			near(t, name+": log likelihood", []float64{got}, []float64{want}, 1e-9)
			near(t, name+": gradient", grad, wantGrad, 1e-9)
		}
	}
}

// What is learned from means with their counts and scatters is what is learned
// from all readings, however systems are solved and whatever part is taken.
func TestMeansTeachWhatReadingsTeach(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	side := testkit.Size(15, 25)
	g, err := graph.Grid(side, side)
	if err != nil {
		t.Fatal(err)
	}
	k := kernels(t, g)["grf"]
	count := g.Len() * 16 / 25
	rows, means := repeated(g.Len(), count, 3)
	noise := 0.7
	for name, opts := range map[string]FitOptions{
		"exact":       {Solver: Exact},
		"iterative":   {Solver: Iterative, Epochs: 10},
		"sketch":      {Solver: Exact, Subsample: count * 17 / 4},
		"known noise": {Solver: Exact, NoiseSD: &noise},
		"fixed":       {Solver: Iterative, Fixed: true},
	} {
		m, r, err := Fit(background, k, rows, opts)
		if err != nil {
			t.Fatal(err)
		}
		given := means
		if name == "iterative" {
			given = rows.Pool() // to the bit, for a residual that is just above its tolerance costs another iteration
		}
		same, s, err := Fit(background, k, given, opts)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name+": hyperparameters", same.Theta(), m.Theta(), 1e-9)
		near(t, name+": noise, likelihood, leave-one-out", []float64{s.NoiseSD, s.LogLikelihood, s.LogLikelihoodSE, s.LOOScore},
			[]float64{r.NoiseSD, r.LogLikelihood, r.LogLikelihoodSE, r.LOOScore}, 1e-9)
		if name == "sketch" {
			continue
		}
		// Against the likelihood of all rows, which knows nothing of pooling.
		p := &params{list: k.Params(), known: m.noise}
		want, _, err := evaluate(newMarginal(k, m.units.standard(rows), m.meanVar, p), m.theta)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(r.LogLikelihood-want) > 1e-9*math.Abs(want)+5*r.LogLikelihoodSE {
			t.Errorf("%s: log likelihood %v ± %v, that of all readings is %v", name, r.LogLikelihood, r.LogLikelihoodSE, want)
		}
	}
}

// The patches of a sketch have the likelihood of all readings in them.
func TestPatchesOfMeans(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	g, err := graph.Grid(25, 25)
	if err != nil {
		t.Fatal(err)
	}
	k := kernels(t, g)["grf"]
	rows, means := repeated(g.Len(), 400, 4)
	units, err := unitsOf(means, FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, starts, err := newParams(k, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	parts := (&Model{kernel: k}).patches(units.standard(means), plan.Patches{Windows: 4, Size: 300, Scattered: 50})
	for q, d := range parts {
		got, grad, err := evaluate(newMarginal(k, d, 1, p), starts[0])
		if err != nil {
			t.Fatal(err)
		}
		all := newMarginal(k, units.standard(rowsOfNodes(rows, d.Nodes)), 1, p)
		want, wantGrad, err := evaluate(all, starts[0])
		if err != nil {
			t.Fatal(err)
		}
		if all.data.Len() <= d.Len() {
			t.Errorf("patch %d has no repeats", q)
		}
		near(t, "log likelihood of a patch", []float64{got}, []float64{want}, 1e-9)
		near(t, "gradient of a patch", grad, wantGrad, 1e-9)
	}
}

// The stochastic gradient from means has the exact one of all readings as its
// mean: over 40 seeds, within five standard errors and the tolerance of the
// solves. Without counts the derivative by the noise would be twice what it is.
func TestProbesGiveTheGradientOfReadings(t *testing.T) {
	t.Parallel()
	const seeds = 40
	g, err := graph.Grid(15, 15)
	if err != nil {
		t.Fatal(err)
	}
	k := kernels(t, g)["grf"]
	rows, means := repeated(g.Len(), 120, 5)
	units, err := unitsOf(means, FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, starts, err := newParams(k, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	_, want, err := evaluate(newMarginal(k, units.standard(rows), 1, p), starts[0])
	if err != nil {
		t.Fatal(err)
	}
	sum, square := make([]float64, len(want)), make([]float64, len(want))
	for seed := range uint64(seeds) {
		grad, err := learnerOf(t, newMarginal(k, units.standard(means), 1, p), Stochastic{}, seed, starts[0]).step(background, starts[0])
		if err != nil {
			t.Fatal(err)
		}
		for j, v := range grad {
			sum[j] += v / seeds
			square[j] += v * v / seeds
		}
	}
	for j := range want {
		se := math.Sqrt((square[j] - sum[j]*sum[j]) / seeds)
		if off := math.Abs(sum[j] - want[j]); off > 5*se+0.02*math.Abs(want[j]) {
			t.Errorf("derivative by %s is %v ± %v by probes, %v exactly", p.list[j].Name, sum[j], se, want[j])
		}
	}
}

// Means, variances and samples given means are those given all readings; the
// scatter matters for learning alone. Where the noise is that of values, the
// counts matter only for what one more reading would have.
func TestMeansPredictWhatReadingsPredict(t *testing.T) {
	t.Parallel()
	g := smallGraph(t)
	numbers := step[[]float64](t)
	for name, k := range kernels(t, g) {
		rows, means := repeated(g.Len(), 14, 6)
		counted := means.Clone()
		counted.Scatter = nil
		m, _, err := Fit(background, k, rows, FitOptions{Solver: Exact})
		if err != nil {
			t.Fatal(err)
		}
		given := counted.Clone()
		for _, n := range given.Count {
			given.NoiseVar = append(given.NoiseVar, m.NoiseSD()*m.NoiseSD()/float64(n))
		}
		mean, cov := byFormula(t, m, rows)
		for what, d := range map[string]Data{"rows": rows, "means": means, "counts": counted, "noises": given} {
			p, err := m.Condition(background, d)
			if err != nil {
				t.Fatal(err)
			}
			all := allNodes(g.Len())
			near(t, name+", "+what+": mean", numbers(p.Mean(background, all)), mean, 1e-9)
			for i, v := range numbers(p.Variance(background, all)) {
				if math.Abs(v-cov.At(i, i)) > 1e-9 {
					t.Errorf("%s, %s: variance of node %d is %v, want %v", name, what, i, v, cov.At(i, i))
				}
			}
			near(t, name+", "+what+": noise of one more reading", []float64{math.Sqrt(p.NoiseVar())}, []float64{m.NoiseSD()}, 1e-9)
		}
	}
}

// With the solver that iterates, to its tolerance.
func TestIterativeMeans(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	g, err := graph.Grid(25, 25)
	if err != nil {
		t.Fatal(err)
	}
	rows, means := repeated(g.Len(), 300, 7)
	m, _, err := Fit(background, kernels(t, g)["grf"], means, FitOptions{Solver: Exact})
	if err != nil {
		t.Fatal(err)
	}
	numbers := step[[]float64](t)
	all := allNodes(g.Len())
	exact, err := m.Condition(background, rows)
	if err != nil {
		t.Fatal(err)
	}
	state := m.State()
	state.Solver = Iterative
	by, err := NewModel(m.kernel, state)
	if err != nil {
		t.Fatal(err)
	}
	p, err := by.Condition(background, means)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "mean", numbers(p.Mean(background, all)), numbers(exact.Mean(background, all)), 10*forMeans.loosest)
	want := numbers(exact.Variance(background, all))
	for i, v := range numbers(p.Variance(background, all)) {
		// Six standard errors of a variance from so many draws.
		if ratio := v / want[i]; math.Abs(ratio-1) > 6*math.Sqrt(2.0/varianceDraws) {
			t.Errorf("variance of node %d is %v times the exact one of all readings", i, ratio)
		}
	}
}

// Leaving out a mean is leaving out all its readings, and what is predicted is
// their mean: its noise is that of a reading over their number.
func TestLeaveOneOutOfMeans(t *testing.T) {
	t.Parallel()
	g := smallGraph(t)
	rows, means := repeated(g.Len(), 10, 8)
	m, r, err := Fit(background, kernels(t, g)["dense"], rows, FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Condition(background, means)
	if err != nil {
		t.Fatal(err)
	}
	mean, sd, err := p.LeaveOneOut()
	if err != nil {
		t.Fatal(err)
	}
	score := 0.0
	for k, i := range means.Nodes {
		rest := rowsOfNodes(rows, slices.DeleteFunc(slices.Clone(means.Nodes), func(j int) bool { return i == j }))
		mu, cov := byFormula(t, m, rest)
		want := math.Sqrt(cov.At(i, i) + m.NoiseSD()*m.NoiseSD()/float64(means.Count[k]))
		near(t, "left out", []float64{mean[k], sd[k]}, []float64{mu[i], want}, 1e-9)
		score += logNormal(means.Y[k]/m.units.Scale, mu[i]/m.units.Scale, want*want/m.units.Scale/m.units.Scale) / float64(means.Len())
	}
	near(t, "leave-one-out score", []float64{r.LOOScore}, []float64{score}, 1e-9)
}

// A posterior is extended by means as by readings.
func TestExtendByMeans(t *testing.T) {
	t.Parallel()
	g := smallGraph(t)
	rows, means := repeated(g.Len(), 12, 9)
	post, numbers := step[*Posterior](t), step[[]float64](t)
	for name, k := range kernels(t, g) {
		m, _, err := Fit(background, k, rows, FitOptions{})
		if err != nil {
			t.Fatal(err)
		}
		all := allNodes(g.Len())
		want := post(m.Condition(background, rows))
		base := post(m.Condition(background, means.Slice(0, 5)))
		got := post(post(base.Condition(background, means.Slice(5, 6))).Condition(background, means.Slice(6, 12)))
		near(t, name+": mean", numbers(got.Mean(background, all)), numbers(want.Mean(background, all)), 1e-9)
		near(t, name+": variance", numbers(got.Variance(background, all)), numbers(want.Variance(background, all)), 1e-9)
	}
}

func TestBadRepeats(t *testing.T) {
	t.Parallel()
	k := kernels(t, smallGraph(t))["dense"]
	zero := 0.0
	for what, c := range map[string]struct {
		d    Data
		opts FitOptions
	}{
		"2 nodes and 1 counts":   {Data{Nodes: []int{1, 2}, Y: []float64{1, 2}, Count: []int{1}}, FitOptions{}},
		"2 nodes and 1 scatters": {Data{Nodes: []int{1, 2}, Y: []float64{1, 2}, Count: []int{1, 2}, Scatter: []float64{1}}, FitOptions{}},
		"mean of 0 measurements": {Data{Nodes: []int{1, 2}, Y: []float64{1, 2}, Count: []int{1, 0}}, FitOptions{}},
		"is -1, want":            {Data{Nodes: []int{1, 2}, Y: []float64{1, 2}, Count: []int{2, 2}, Scatter: []float64{1, -1}}, FitOptions{}},
		"is NaN, want": {Data{Nodes: []int{1, 2}, Y: []float64{1, 2}, Count: []int{2, 2}, Scatter: []float64{1, math.NaN()}},
			FitOptions{}},
		"a single one, which has no": {Data{Nodes: []int{1, 2}, Y: []float64{1, 2}, Scatter: []float64{1, 0}}, FitOptions{}},
		"noise is given as 0":        {Data{Nodes: []int{1, 1, 2}, Y: []float64{1, 2, 3}}, FitOptions{NoiseSD: &zero}},
	} {
		if _, _, err := Fit(background, k, c.d, c.opts); !errors.Is(err, ErrData) || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %q in it", err, what)
		}
	}
}
