package grfgp

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/covariate"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	"grfgp/kernel"
)

// described is a grid with columns of all kinds but words.
func described(t testing.TB, side int) (*graph.Graph, *covariate.Set, []float64) {
	t.Helper()
	g, err := graph.Grid(side, side)
	if err != nil {
		t.Fatal(err)
	}
	n := g.Len()
	draw := rand.New(rng.New(3, "columns of a test"))
	size, age, zone, kind, y := make([]float64, n), make([]float64, n), make([]string, n), make([]string, n), make([]float64, n)
	for i := range n {
		size[i], age[i] = 10+3*draw.NormFloat64(), 50*draw.Float64()
		if draw.IntN(6) == 0 {
			age[i] = math.NaN()
		}
		zone[i], kind[i] = []string{"a", "b", "c", "c"}[draw.IntN(4)], []string{"old", "new"}[draw.IntN(2)]
		y[i] = 0.5*size[i] + math.Sin(float64(i%side)) + 0.2*draw.NormFloat64()
		if zone[i] == "b" {
			y[i] += 2
		}
	}
	set, err := covariate.Encode([]covariate.Column{covariate.NewNumbers("size", size), covariate.NewNumbers("age", age),
		covariate.NewCategory("zone", zone), covariate.NewCategory("kind", kind)}, n, covariate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return g, set, y
}

// everyOther are measurements at two of three nodes.
func everyOther(y []float64) (d gp.Data) {
	for i, v := range y {
		if i%3 != 1 {
			d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, v)
		}
	}
	return d
}

// Effects are those of the covariance matrix of measurements and of every node in every
// state, written out entry by entry.
func TestEffectsDense(t *testing.T) {
	t.Parallel()
	g, set, y := described(t, 7)
	d := everyOther(y)
	for _, terms := range []Terms{GraphTerm | CovariateTerm, CovariateTerm, GraphTerm | CovariateTerm | ProductTerm,
		GraphTerm | CovariateTerm | RoleTerm} {
		t.Run(terms.String(), func(t *testing.T) {
			t.Parallel()
			m, err := Fit(context.Background(), g, d, Spec{Expression: Expression{Terms: terms, Family: "diffusion", Scales: "one", Trend: "none",
				Variance: "natural", Laplacian: normalized, Method: "dense"}, Covariates: set, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			e, err := m.Effects(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			want := denseEffects(t, m, g, set)
			if len(e.Columns) != len(want) || len(want) != 6 {
				t.Fatalf("%d effects, want %d", len(e.Columns), len(want))
			}
			for k, f := range e.Columns {
				if math.Abs(f.Mean-want[k].mean) > 1e-8*want[k].sd+1e-9 || math.Abs(f.SD-want[k].sd) > 1e-8*want[k].sd+1e-7 {
					t.Errorf("%s %s: %.6g ± %.6g, want %.6g ± %.6g", f.Column, f.Of, f.Mean, f.SD, want[k].mean, want[k].sd)
				}
			}
			partsAddUp(t, m, e)
		})
	}
}

// Both solvers have the same effects of the same kernel, here of Fourier features.
func TestEffectsOfSolvers(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	g, set, y := described(t, 7)
	m, err := Fit(context.Background(), g, everyOther(y),
		Spec{Expression: Expression{Terms: GraphTerm | CovariateTerm, Family: "diffusion", Scales: "one", Trend: "none", Variance: "natural",
			Laplacian: normalized, Method: "dense"}, Covariates: set, Solver: "iterative", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.of.chosenKernel(context.Background(), m.spec.Expression)
	if err != nil {
		t.Fatal(err)
	}
	exact, state := *m, m.fitted.State()
	state.Solver = gp.Exact
	if exact.fitted, err = gp.NewModel(k, state); err != nil {
		t.Fatal(err)
	}
	own, err := m.spec.ownData(g.Len(), m.data)
	if err != nil {
		t.Fatal(err)
	}
	if exact.posterior, err = exact.fitted.Condition(context.Background(), own); err != nil {
		t.Fatal(err)
	}
	if m.posterior.Factored() || !exact.posterior.Factored() {
		t.Fatal("the solvers are the same")
	}
	got, err := m.Effects(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	want, err := exact.Effects(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for k, f := range got.Columns {
		if w := want.Columns[k]; math.Abs(f.Mean-w.Mean) > 0.02*w.SD || math.Abs(f.SD-w.SD) > 0.02*w.SD {
			t.Errorf("%s: %.6g ± %.6g, want %.6g ± %.6g", f.Column, f.Mean, f.SD, w.Mean, w.SD)
		}
	}
}

// partsAddUp compares the parts with the prediction: their names are those of the
// terms, and shares sum to 1.
func partsAddUp(t *testing.T, m *Model, e *Effects) {
	t.Helper()
	sum := 0.0
	for _, p := range e.Parts {
		sum += p.Share
	}
	if math.Abs(sum-1) > 1e-12 || e.Parts[len(e.Parts)-1].Name != "noise" {
		t.Errorf("parts %+v", e.Parts)
	}
	p, err := m.parts(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	nodes := m.of.graph.Nodes()
	total := make([]float64, len(nodes))
	for _, term := range p.named() {
		cov, err := term.kernel.At(term.theta)
		if err != nil {
			t.Fatal(err)
		}
		mean, err := m.posterior.TermMean(context.Background(), cov, nodes)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range mean {
			total[i] += v
		}
	}
	predicted, err := m.Predict(context.Background(), nodes)
	if err != nil {
		t.Fatal(err)
	}
	// The terms and the unknown mean, a constant, make up the prediction.
	for i := range total {
		if off := predicted.Mean[i] - total[i] - (predicted.Mean[0] - total[0]); math.Abs(off) > 1e-6 {
			t.Fatalf("node %d: the terms miss %.3g of the prediction", i, off)
		}
	}
}

type normal struct{ mean, sd float64 }

// denseEffects computes the effects of described from entries of the kernel.
func denseEffects(t *testing.T, m *Model, g *graph.Graph, set *covariate.Set) []normal {
	t.Helper()
	state := m.fitted.State()
	theta := state.Theta
	p, err := m.parts(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	gram := func(k kernel.Kernel, theta []float64) *mat.SymDense {
		out := mat.NewSymDense(g.Len(), nil)
		if k == nil {
			return out
		}
		cov, err := k.At(theta)
		if err != nil {
			t.Fatal(err)
		}
		if err := cov.Gram(context.Background(), out, g.Nodes()); err != nil {
			t.Fatal(err)
		}
		return out
	}
	terms := m.spec.Terms
	at := 0
	next := func(n int) []float64 { at += n; return theta[at-n : at] }
	near := mat.NewSymDense(g.Len(), nil)
	if terms.Has(GraphTerm) {
		next(2)
	}
	linear := next(1)[0] // of columns
	next(len(p.known.Linear) - 1)
	smooth := next(1 + len(p.known.Blocks))
	var product []float64
	if terms.Has(ProductTerm) {
		own := next(2 + len(p.known.Blocks))
		near = gram(p.near, own[:2])
		product = append([]float64{1}, own[2:]...)
	}
	total, err := m.of.chosenKernel(context.Background(), m.spec.Expression)
	if err != nil {
		t.Fatal(err)
	}
	whole := gram(total, theta)
	measured := m.posterior.Measured()
	h := mat.NewSymDense(len(measured), nil)
	for a, i := range measured {
		for b, j := range measured {
			v := whole.At(i, j) + state.MeanVar
			if a == b {
				v += state.Noise
			}
			h.SetSym(a, b, v)
		}
	}
	var inverse mat.Dense
	if err := inverse.Inverse(h); err != nil {
		t.Fatal(err)
	}
	// A point is a node with other columns.
	type point struct {
		node int
		x    []float64
	}
	lengths := func(a, b point, theta []float64) float64 {
		sum := 0.0
		for k, block := range p.known.Blocks {
			if k < len(set.Groups) {
				for c, of := range set.Group {
					if of == k {
						sum += (a.x[c] - b.x[c]) * (a.x[c] - b.x[c]) / theta[1+k] / theta[1+k]
					}
				}
				continue
			}
			for c, v := range block.X.RawRowView(a.node) {
				sum += (v - block.X.At(b.node, c)) * (v - block.X.At(b.node, c)) / theta[1+k] / theta[1+k]
			}
		}
		r := math.Sqrt(3 * sum)
		return theta[0] * (1 + r) * math.Exp(-r)
	}
	meanSquare := 0.0
	for i := range g.Len() {
		for _, v := range set.X.RawRowView(i) {
			meanSquare += v * v / float64(g.Len())
		}
	}
	cov := func(a, b point) float64 {
		v := lengths(a, b, smooth)
		if product != nil {
			v += near.At(a.node, b.node) * lengths(a, b, product)
		}
		for c := range a.x {
			v += linear / meanSquare * a.x[c] * b.x[c]
		}
		return v
	}
	plain := func(node int) point { return point{node, set.X.RawRowView(node)} }
	type weighted struct {
		point
		w float64
	}
	posterior := func(points []weighted) normal {
		c := mat.NewVecDense(len(measured), nil)
		prior := 0.0
		for _, a := range points {
			for r, i := range measured {
				c.SetVec(r, c.AtVec(r)+a.w*cov(a.point, plain(i)))
			}
			for _, b := range points {
				prior += a.w * b.w * cov(a.point, b.point)
			}
		}
		var gain mat.VecDense
		gain.MulVec(&inverse, c)
		mean := 0.0
		own, err := m.spec.ownData(g.Len(), m.data)
		if err != nil {
			t.Fatal(err)
		}
		for r := range measured {
			mean += gain.AtVec(r) * (own.Y[r] - state.Units.Center)
		}
		return normal{mean, state.Units.Scale * math.Sqrt(prior-mat.Dot(&gain, c))}
	}
	column := func(name string) int { return slices.Index(set.Names, name) }
	// Every node is in every state; 49 nodes are fewer than the largest sample.
	change := func(to, from func(x []float64)) (all []weighted) {
		for i := range g.Len() {
			a, b := slices.Clone(set.X.RawRowView(i)), slices.Clone(set.X.RawRowView(i))
			to(a)
			from(b)
			all = append(all, weighted{point{i, a}, 1 / float64(g.Len())}, weighted{point{i, b}, -1 / float64(g.Len())})
		}
		return all
	}
	var out []normal
	for _, name := range []string{"size", "age"} {
		c := column(name)
		r := set.Readings[c]
		set := func(v float64) func(x []float64) {
			return func(x []float64) {
				x[c] = r.Position(v)
				if name == "age" { // known, so it is not missing
					absent := c + 1
					lowest := math.Inf(1)
					for i := range g.Len() {
						lowest = min(lowest, set.X.At(i, absent))
					}
					x[absent] = lowest
				}
			}
		}
		out = append(out, posterior(change(set(r.High), set(r.Low))))
	}
	zones := []int{column("zone=a"), column("zone=b"), column("zone=c")}
	count := make([]float64, 3)
	on, off := make([]float64, 3), make([]float64, 3)
	for k, c := range zones {
		on[k], off[k] = math.Inf(-1), math.Inf(1)
		for i := range g.Len() {
			on[k], off[k] = max(on[k], set.X.At(i, c)), min(off[k], set.X.At(i, c))
		}
		for i := range g.Len() {
			if set.X.At(i, c) == on[k] {
				count[k]++
			}
		}
	}
	in := func(k int) func(x []float64) {
		return func(x []float64) {
			for j, c := range zones {
				x[c] = off[j]
			}
			x[zones[k]] = on[k]
		}
	}
	for k := range zones {
		var all []weighted
		for j := range zones {
			if j != k {
				for _, w := range change(in(k), in(j)) {
					w.w *= count[j] / (float64(g.Len()) - count[k])
					all = append(all, w)
				}
			}
		}
		out = append(out, posterior(all))
	}
	c := -1
	for k, r := range set.Readings {
		if r.Column == "kind" {
			c = k
		}
	}
	values := mat.Col(nil, c, set.X)
	low, high := slices.Min(values), slices.Max(values)
	return append(out, posterior(change(func(x []float64) { x[c] = high }, func(x []float64) { x[c] = low })))
}

// The interval of a linear effect holds the true one as often as it says, and so does
// that of the difference between nodes, whose true one is that of the function drawn. Of 80 replicas
// a share of 0.95 has fewer than 68 with probability 2e-4, so the test fails by chance
// in one of 5,000 choices of the seed; of 8 in the quick suite it has fewer than 5 with
// probability 4e-4.
func TestEffectsCoverage(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const side, slope = 9, 0.7
	replicas, least := testkit.Size(8, 80), testkit.Size(5, 68)
	g, err := graph.Grid(side, side)
	if err != nil {
		t.Fatal(err)
	}
	held, between := 0, 0
	for r := range replicas {
		draw := rand.New(rng.New(uint64(r), "replicas of effects"))
		x, y, smooth := make([]float64, g.Len()), make([]float64, g.Len()), make([]float64, g.Len())
		phase := 6 * draw.Float64()
		for i := range x {
			x[i] = 20 + 5*draw.NormFloat64()
			smooth[i] = slope*x[i] + math.Sin(phase+float64(i%side)/2) + math.Cos(phase+float64(i/side)/2)
			y[i] = smooth[i] + draw.NormFloat64()
		}
		set, err := covariate.Encode([]covariate.Column{covariate.NewNumbers("load", x)}, g.Len(), covariate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := Fit(context.Background(), g, everyOther(y),
			Spec{Expression: Expression{Terms: GraphTerm | CovariateTerm, Family: "diffusion", Scales: "one", Trend: "none", Variance: "natural",
				Laplacian: normalized, Method: "dense"}, Covariates: set, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		e, err := m.Effects(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		f, of := e.Columns[0], set.Readings[0]
		truth := slope * (of.High - of.Low)
		if f.Lower <= truth && truth <= f.Upper {
			held++
		}
		if truth := meanWhere(smooth, x, of.High, 1) - meanWhere(smooth, x, of.Low, -1); f.Between.Lower <= truth && truth <= f.Between.Upper {
			between++
		}
		if !f.Clear() || f.Mean < 0 || !strings.HasPrefix(e.Words("flow")[0], "flow rises with load: +") {
			t.Errorf("replica %d: %+v, %q", r, f, e.Words("flow"))
		}
		if f.PerUnit != nil && math.Abs(*f.PerUnit-slope*of.Scale) > 8*f.SD {
			t.Errorf("replica %d: %.3g %s, want %.3g", r, *f.PerUnit, f.Unit, slope*of.Scale)
		}
	}
	if held < least {
		t.Errorf("%d of %d intervals hold the true effect, want %d or more", held, replicas, least)
	}
	if between < least {
		t.Errorf("%d of %d intervals hold the true difference, want %d or more", between, replicas, least)
	}
}

// Effects of Fourier features are those of the same features at other rows, models
// over time have the effects of the last period, and a loaded model has the effects of
// the saved one.
func TestEffectsOfOtherModels(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	g, set, y := described(t, 8)
	spec := Spec{Expression: Expression{Terms: GraphTerm | CovariateTerm, Family: "diffusion", Scales: "one", Trend: "none",
		Variance: "natural", Laplacian: normalized, Method: "dense"}, Covariates: set, Seed: 1}
	exact, err := Fit(context.Background(), g, everyOther(y), spec)
	if err != nil {
		t.Fatal(err)
	}
	want, err := exact.Effects(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	near := func(name string, m *Model, sds float64) {
		t.Helper()
		got, err := m.Effects(context.Background())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for k, f := range got.Columns {
			if w := want.Columns[k]; math.Abs(f.Mean-w.Mean) > sds*w.SD+1e-9 || f.SD > (1+sds)*w.SD+1e-9 {
				t.Errorf("%s, %s: %.4g ± %.4g, want %.4g ± %.4g", name, f.Column, f.Mean, f.SD, w.Mean, w.SD)
			}
		}
	}
	fourier := spec
	fourier.Pairs = 512
	m, err := Fit(context.Background(), g, everyOther(y), fourier)
	if err != nil {
		t.Fatal(err)
	}
	near("Fourier features", m, 1)

	var file bytes.Buffer
	if err := exact.Save(&file); err != nil {
		t.Fatal(err)
	}
	saved := bytes.NewReader(file.Bytes())
	if names, err := SavedColumns(saved); err != nil || fmt.Sprint(names) != "[size age zone kind]" {
		t.Errorf("%v: columns %v", err, names)
	}
	if m, err = Load(context.Background(), &file, g, Spec{Covariates: set}); err != nil {
		t.Fatal(err)
	}
	near("loaded", m, 0)

	timed := spec
	timed.Times = []float64{1, 2}
	d := everyOther(y)
	for _, i := range slices.Clone(d.Nodes) {
		d.Nodes, d.Y = append(d.Nodes, Place(g, i, 1)), append(d.Y, y[i]+0.1*float64(i%2))
	}
	if m, err = Fit(context.Background(), g, d, timed); err != nil {
		t.Fatal(err)
	}
	near("over time", m, 2)
	timed.TimeModel = "separate"
	if m, err = Fit(context.Background(), g, d, timed); err != nil {
		t.Fatal(err)
	}
	near("separate periods", m, 2)
}
