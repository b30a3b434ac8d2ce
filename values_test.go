package grfgp

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
)

// simulated returns measurements of each kind at 60 nodes of a ring of 90, of a smooth
// quantity: value, rate and logit are 1 + sin around the ring.
func simulated(t *testing.T, spec Spec) (*graph.Graph, gp.Data) {
	t.Helper()
	g, err := graph.Ring(90)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rng.New(7, "values", uint64(spec.kind())))
	var d gp.Data
	for _, i := range random.Perm(90)[:60] {
		f := 1 + math.Sin(2*math.Pi*float64(i)/90)
		y, exposure := f+0.1*random.NormFloat64(), 1.0
		switch spec.kind() {
		case gp.Counts:
			exposure = 2 + 8*random.Float64()
			y = float64(poisson(random, exposure*math.Exp(f)))
		case gp.Shares, gp.YesNo:
			if spec.kind() == gp.Shares {
				exposure = float64(5 + random.IntN(10))
			}
			y = 0
			for range int(exposure) {
				if random.Float64() < 1/(1+math.Exp(-f)) {
					y++
				}
			}
		}
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, spec.transform().Inverse(y))
		if spec.kind() == gp.Counts || spec.kind() == gp.Shares {
			d.Exposure = append(d.Exposure, exposure)
		}
	}
	return g, d
}

func poisson(r *rand.Rand, mean float64) int {
	n, p := 0, math.Exp(-mean)
	for u := r.Float64(); u > p; u *= r.Float64() {
		n++
	}
	return n
}

// kinds are all kinds of values, and transforms.
var kinds = []Spec{
	{Values: "student"}, {Values: "count"}, {Values: "share"}, {Values: "yes-no"},
	{Transform: "log"}, {Transform: "log1p"}, {Transform: "sqrt"}, {Values: "student", Transform: "log"},
}

// TestValues fits every kind of values: predictions are near the quantity and those of
// package gp, a model file gives them again to the bit, and so do rows in another order.
func TestValues(t *testing.T) {
	t.Parallel()
	for _, spec := range testkit.FewIfRaced(2, kinds) {
		spec.Family, spec.Roles = "diffusion", "none"
		name := spec.Values + " " + spec.Transform
		g, d := simulated(t, spec)
		m, err := Fit(t.Context(), g, d, spec)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		nodes := g.Nodes()
		p, err := m.Predict(t.Context(), nodes)
		if err != nil {
			t.Fatal(err)
		}
		lower, upper := p.Interval(0.95)
		inside := 0
		for k, i := range nodes {
			truth := spec.readable(1 + math.Sin(2*math.Pi*float64(i)/90))
			if lower[k] <= truth && truth <= upper[k] {
				inside++
			}
			if !(lower[k] < p.Mean[k] && p.Mean[k] < upper[k] && p.SD[k] > 0) {
				t.Fatalf("%s: mean %v ± %v, interval %v to %v", name, p.Mean[k], p.SD[k], lower[k], upper[k])
			}
		}
		least := 70 // of 90 along a ring, about 5 of which are independent
		if spec.kind() == gp.YesNo {
			// 60 yes or no can look as if the probability were the same everywhere: so they
			// did in 9 of 25 simulations, with 50 to 67 inside; the mean of all was 80, and 77 with
			// hyperparameters taken as known.
			least = 50
		}
		if inside < least {
			t.Errorf("%s: %d of 90 quantities are inside 95 %% intervals", name, inside)
		}
		responses, err := m.posterior.Responses(t.Context(), nodes)
		if err != nil {
			t.Fatal(err)
		}
		for k, r := range responses {
			if r = r.Under(spec.transform()); p.Mean[k] != r.Mean() || p.SD[k] != r.SD() || p.Above(2)[k] != r.Above(2) {
				t.Fatalf("%s: node %d has %v ± %v, by package gp %v ± %v", name, k, p.Mean[k], p.SD[k], r.Mean(), r.SD())
			}
			if k == 3 {
				break
			}
		}

		var file bytes.Buffer
		if err := m.Save(&file); err != nil {
			t.Fatal(err)
		}
		again, err := Load(t.Context(), &file, g)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		order := rand.New(rng.New(1, "order")).Perm(d.Len())
		other, err := Fit(t.Context(), g, d.Select(order), spec)
		if err != nil {
			t.Fatal(err)
		}
		for what, m := range map[string]*Model{"the model file": again, "another order of rows": other} {
			q, err := m.Predict(t.Context(), nodes)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(q.Mean, p.Mean) || !slices.Equal(q.SD, p.SD) {
				t.Errorf("%s: %s predicts otherwise", name, what)
			}
		}
		draws, err := m.Sample(t.Context(), nodes[:1], 2000, 1)
		if err != nil {
			t.Fatal(err)
		}
		values := slices.Clone(draws.RawRowView(0))
		slices.Sort(values)
		below := 0
		for _, v := range values {
			if v < p.At(0).Quantile(0.5) {
				below++
			}
		}
		if below < 880 || below > 1120 { // 1000 ± 5.4 sds of 22
			t.Errorf("%s: %d of 2000 draws are below the median", name, below)
		}
	}
}

// TestTransformOfModel: a model with a transform is the Gaussian model of transformed
// values, and its intervals contain the same measurements.
func TestTransformOfModel(t *testing.T) {
	t.Parallel()
	spec := Spec{Expression: Expression{Family: "diffusion"}, Transform: "log", Roles: "none"}
	g, d := simulated(t, spec)
	m, err := Fit(t.Context(), g, d, spec)
	if err != nil {
		t.Fatal(err)
	}
	logs := d.Clone()
	for k, y := range d.Y {
		logs.Y[k] = math.Log(y)
	}
	plain, err := Fit(t.Context(), g, logs, Spec{Expression: Expression{Family: "diffusion"}, Roles: "none"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(t.Context(), d.Nodes)
	if err != nil {
		t.Fatal(err)
	}
	q, err := plain.Predict(t.Context(), d.Nodes)
	if err != nil {
		t.Fatal(err)
	}
	lower, upper := p.ReadingInterval(0.5, 1)
	logLower, logUpper := q.ReadingInterval(0.5, 1)
	for k := range d.Nodes {
		if got, want := p.At(k).Quantile(0.5), math.Exp(q.Mean[k]); math.Abs(got-want) > 1e-12*want {
			t.Fatalf("median %v, exp of the median of logarithms %v", got, want)
		}
		if (lower[k] <= d.Y[k] && d.Y[k] <= upper[k]) != (logLower[k] <= logs.Y[k] && logs.Y[k] <= logUpper[k]) {
			t.Errorf("measurement %d is inside on one scale only", k)
		}
	}
}

func TestSpecRefusesValues(t *testing.T) {
	t.Parallel()
	number := func(v float64) *float64 { return &v }
	for _, bad := range []struct {
		spec Spec
		says string
	}{
		{Spec{Values: "number"}, "no kind of values"},
		{Spec{Transform: "exp"}, "no transform"},
		{Spec{Values: "count", Transform: "log"}, "leave out the transform"},
		{Spec{Values: "share", NoiseSD: number(1)}, "have no noise"},
		{Spec{Values: "count", Mean: number(0)}, "rate above 0"},
		{Spec{Values: "yes-no", Mean: number(1)}, "between 0 and 1"},
		{Spec{Transform: "log", Mean: number(-1)}, "scale of the values"},
	} {
		if err := bad.spec.Check(); !errors.Is(err, ErrSpec) || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("%+v: %v, want %q", bad.spec, err, bad.says)
		}
	}
	g, d := simulated(t, Spec{})
	for _, bad := range []struct {
		spec Spec
		y    float64
		says string
	}{
		{Spec{Transform: "log"}, 0, "log1p"}, {Spec{Values: "count"}, 0.5, "no count"}, {Spec{Values: "yes-no"}, 2, "0 or 1"},
	} {
		for k := range d.Y {
			d.Y[k] = 1
		}
		d.Y[11] = bad.y
		if _, err := Fit(t.Context(), g, d, bad.spec); !errors.Is(err, gp.ErrData) || !strings.Contains(err.Error(), bad.says) ||
			!strings.Contains(err.Error(), "measurement 11") {
			t.Errorf("%+v: %v, want %q", bad.spec, err, bad.says)
		}
	}
}

// TestOptimizerOfValues: suggestions are on the scale that people read, and thresholds
// too. Their hyperparameters are taken as known; with uncertain ones, predictions have the
// same means on the scale of the model, and larger sds.
func TestOptimizerOfValues(t *testing.T) {
	t.Parallel()
	for _, spec := range append(testkit.FewIfRaced(2, kinds), Spec{}) {
		spec.Family, spec.Roles = "diffusion", "none"
		g, d := simulated(t, spec)
		level := spec.readable(1.3)
		o, err := NewOptimizer(g, spec, bayesopt.Options{Goal: bayesopt.Threshold(level)})
		if err != nil {
			t.Fatal(err)
		}
		if err := o.TellAll(Sorted(d)); err != nil {
			t.Fatalf("%+v: %v", spec, err)
		}
		a, err := o.Ask(t.Context(), bayesopt.Request{Count: 4})
		if err != nil {
			t.Fatal(err)
		}
		s, err := o.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		uncertain, err := s.WithAlternatives(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, pick := range a.Suggestions {
			p, err := s.Predict(t.Context(), []int{pick.Node})
			if err != nil {
				t.Fatal(err)
			}
			wide, err := uncertain.Predict(t.Context(), []int{pick.Node})
			if err != nil {
				t.Fatal(err)
			}
			mean, sd := p.At(0).Latent()
			if same, more := wide.At(0).Latent(); same != mean || more <= sd {
				t.Errorf("%s %s: %v ± %v with uncertain hyperparameters, %v ± %v with known ones", spec.Values, spec.Transform, same, more, mean, sd)
			}
			near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*(1+math.Abs(b)) }
			if !near(pick.Mean, p.Mean[0]) || !near(pick.SD, p.SD[0]) || !near(pick.Chance, p.Above(level)[0]) {
				t.Errorf("%s %s: suggestion %+v, prediction %v ± %v, above %v", spec.Values, spec.Transform, pick, p.Mean[0], p.SD[0], p.Above(level))
			}
		}
		whole, err := s.Predict(t.Context(), g.Nodes())
		if err != nil {
			t.Fatal(err)
		}
		harder, first := 0, a.Suggestions[0]
		for _, p := range whole.Above(level) {
			if math.Abs(p-0.5) < math.Abs(first.Chance-0.5) {
				harder++
			}
		}
		if harder > g.Len()/10 {
			t.Errorf("%s %s: the first node is above with probability %v, and %d nodes are harder to tell", spec.Values, spec.Transform,
				first.Chance, harder)
		}
		if spec.Values == "count" {
			if err := o.Tell(0, 0.5); !errors.Is(err, bayesopt.ErrNode) {
				t.Errorf("half a count: %v", err)
			}
			if _, err := NewOptimizer(g, spec, bayesopt.Options{Goal: bayesopt.Threshold(-1)}); !errors.Is(err, bayesopt.ErrOptions) {
				t.Errorf("a threshold of −1 for rates: %v", err)
			}
		}
	}
}
