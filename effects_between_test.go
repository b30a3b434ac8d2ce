package grfgp

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/covariate"
	"grfgp/effects"
	"grfgp/gp"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
)

// meanWhere is the mean of f over the nodes with x on one side of a bound.
func meanWhere(f, x []float64, bound, side float64) float64 {
	sum, n := 0.0, 0.0
	for i, v := range x {
		if side*(v-bound) >= 0 {
			sum, n = sum+f[i], n+1
		}
	}
	return sum / n
}

// atLearned returns the model without the uncertainty of its hyperparameters, as effects
// have it.
func atLearned(t *testing.T, m *Model, d gp.Data) *Model {
	t.Helper()
	k, err := m.of.chosenKernel(context.Background(), m.spec.Expression)
	if err != nil {
		t.Fatal(err)
	}
	out, state := *m, m.fitted.State()
	state.Alternatives = nil
	if out.fitted, err = gp.NewModel(k, state); err != nil {
		t.Fatal(err)
	}
	own, err := m.spec.ownData(m.of.places(), d)
	if err != nil {
		t.Fatal(err)
	}
	if out.posterior, err = out.fitted.Condition(context.Background(), own); err != nil {
		t.Fatal(err)
	}
	return &out
}

// Differences between nodes are those of the posterior means, with the variance that
// the posterior covariance of all nodes gives at the learned hyperparameters; with times,
// in the last period.
func TestBetween(t *testing.T) {
	t.Parallel()
	g, set, y := described(t, 7)
	for _, c := range []struct {
		terms Terms
		times []float64
	}{{terms: GraphTerm | CovariateTerm}, {terms: CovariateTerm | RoleTerm},
		{terms: GraphTerm | CovariateTerm, times: []float64{1, 2}}} {
		d := everyOther(y)
		if c.times != nil {
			for k := range d.Nodes {
				d.Nodes[k] = Place(g, d.Nodes[k], k%2)
			}
		}
		m, err := Fit(context.Background(), g, d, Spec{Expression: Expression{Terms: c.terms, Family: "diffusion", Scales: "one", Trend: "none",
			Variance: "natural", Laplacian: normalized, Method: "dense"}, Covariates: set, Times: c.times, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		m = atLearned(t, m, d)
		e, err := m.Effects(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		places := Places(g, g.Nodes(), max(len(c.times)-1, 0))
		known := takenAsKnown(t, m, d)
		mean, err := known.posterior.Mean(context.Background(), places)
		if err != nil {
			t.Fatal(err)
		}
		cov, err := known.posterior.Covariance(context.Background(), places, places)
		if err != nil {
			t.Fatal(err)
		}
		k := 0
		for _, o := range effects.Sources(set) {
			for _, mv := range o.Moves {
				got := e.Columns[k].Between
				k++
				w := make([]float64, g.Len())
				for i := range w {
					switch mv.Side(set.X, i) {
					case 1:
						w[i] = 1 / float64(got.High)
					case -1:
						w[i] = -1 / float64(got.Low)
					}
				}
				want, variance := 0.0, 0.0
				for i, a := range w {
					want += a * mean[i]
					for j, b := range w {
						variance += a * b * cov.At(i, j)
					}
				}
				if sd := math.Sqrt(variance); math.Abs(got.Mean-want) > 1e-8*sd || math.Abs(got.SD-sd) > 1e-6*sd {
					t.Errorf("%v, %s %s: %.6g ± %.6g, want %.6g ± %.6g", c.terms, o.Name, mv.Effect.Of, got.Mean, got.SD, want, sd)
				}
			}
		}
	}
}

// Groups leave out nodes without a value, and their sizes are those of the quartiles.
func TestGroupsOfNodes(t *testing.T) {
	t.Parallel()
	_, set, _ := described(t, 7)
	for _, o := range effects.Sources(set) {
		for _, mv := range o.Moves {
			low, high := 0, 0
			for i := range set.Nodes {
				s := mv.Side(set.X, i)
				if s < 0 {
					low++
				} else if s > 0 {
					high++
				}
				if mv.Absent(set.X, i) && s != 0 {
					t.Errorf("%s: node %d without a value is in a group", o.Name, i)
				}
			}
			known := set.Nodes - mv.Reading.Missing
			if mv.Effect.Of == "" && (low < known/4 || low > known/4+1 || high < known/4 || high > known/4+1) || mv.Effect.Of != "" && low+
				high != known {
				t.Errorf("%s %s: groups of %d and %d of %d nodes", o.Name, mv.Effect.Of, low, high, known)
			}
		}
	}
}

// Two columns that say nearly the same share an effect: neither need have a clear one,
// and the words still say that the quantity is higher where they are high.
func TestBetweenOfAlikeColumns(t *testing.T) {
	t.Parallel()
	g, _, _ := described(t, 9)
	draw := rand.New(rng.New(5, "alike columns"))
	capacity, lanes, y := make([]float64, g.Len()), make([]float64, g.Len()), make([]float64, g.Len())
	for i := range y {
		capacity[i] = draw.NormFloat64()
		lanes[i] = capacity[i] + 0.05*draw.NormFloat64()
		y[i] = capacity[i] + lanes[i] + 0.5*draw.NormFloat64()
	}
	set, err := covariate.Encode([]covariate.Column{covariate.NewNumbers("capacity", capacity), covariate.NewNumbers("lanes", lanes)}, g.Len(),
		covariate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := Fit(context.Background(), g, everyOther(y), Spec{Expression: Expression{Terms: CovariateTerm, Method: "dense"},
		Covariates: set, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Effects(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range e.Columns {
		if !f.Between.Clear() || f.Between.SD > f.SD/2 || f.Between.Mean < 0 {
			t.Errorf("%s: %.3g ± %.3g, between nodes %.3g ± %.3g", f.Column, f.Mean, f.SD, f.Between.Mean, f.Between.SD)
		}
		f.Lower, f.Upper = -1, 1
		told := (&Effects{Columns: []Effect{f}}).Words("volume")
		if !strings.HasPrefix(told[0], "volume is higher where "+f.Column+" is high, with all that differs there: +") ||
			!strings.HasPrefix(told[1], "no clear effect of "+f.Column+", all else equal") {
			t.Errorf("%q", told)
		}
	}
	if words := strings.Join(e.Words("volume"), "; "); !strings.Contains(words, "all columns together") {
		t.Error(words)
	}
}

// The smooth function of covariates and roles, averaged over one of the two, is that of
// the entries of its kernel, and the parts of the prediction add up to it.
func TestDividedParts(t *testing.T) {
	t.Parallel()
	g, set, y := described(t, 7)
	m, err := Fit(context.Background(), g, everyOther(y),
		Spec{Expression: Expression{Terms: GraphTerm | CovariateTerm | RoleTerm, Family: "diffusion", Scales: "one", Trend: "none",
			Variance: "natural", Laplacian: normalized, Method: "dense"}, Covariates: set, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.parts(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	matern := func(columns, roles, to int) float64 {
		sum := 0.0
		for b, block := range p.known.Blocks {
			from, length := roles, p.thetaOf(p.known.Smooth, p.known.Path)[1+b]
			if b < p.columns {
				from = columns
			}
			for c, v := range block.X.RawRowView(from) {
				sum += (v - block.X.At(to, c)) * (v - block.X.At(to, c)) / length / length
			}
		}
		r := math.Sqrt(3 * sum)
		return p.thetaOf(p.known.Smooth, p.known.Path)[0] * (1 + r) * math.Exp(-r)
	}
	nodes, others := []int{0, 5, 48}, evenly(g.Len(), dividedAverages)
	for _, ofColumns := range []bool{true, false} {
		got, err := p.averaged(context.Background(), m, nodes, ofColumns)
		if err != nil {
			t.Fatal(err)
		}
		cross := mat.NewDense(len(p.nodes), len(nodes), nil)
		for k, i := range nodes {
			for a, node := range p.nodes {
				sum := 0.0
				for _, other := range others {
					if ofColumns {
						sum += matern(i, other, node) / float64(len(others))
					} else {
						sum += matern(other, i, node) / float64(len(others))
					}
				}
				cross.Set(a, k, sum)
			}
		}
		want, _, err := m.posterior.Functionals(context.Background(), cross, nil)
		if err != nil {
			t.Fatal(err)
		}
		for k := range nodes {
			if math.Abs(got[k]-want[k]) > 1e-8 {
				t.Errorf("of columns %v, node %d: %v, want %v", ofColumns, nodes[k], got[k], want[k])
			}
		}
	}
	e, err := m.Effects(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, part := range e.Parts {
		names = append(names, part.Name)
	}
	if got := strings.Join(names, ", "); got != "graph, covariates, roles, covariates × roles, noise" {
		t.Errorf("parts %s", got)
	}
}

// A column that has nothing to do with the quantity has a difference between these very
// nodes, which is as large as that of random groups and is not told.
func TestBetweenByChance(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	g, _, _ := described(t, 9)
	told := 0
	for r := range 10 {
		draw := rand.New(rng.New(uint64(r), "columns by chance"))
		lanes, colour, y := make([]float64, g.Len()), make([]float64, g.Len()), make([]float64, g.Len())
		for i := range y {
			lanes[i], colour[i] = draw.NormFloat64(), draw.NormFloat64()
			y[i] = 3*lanes[i] + 0.2*draw.NormFloat64()
		}
		set, err := covariate.Encode([]covariate.Column{covariate.NewNumbers("lanes", lanes), covariate.NewNumbers("colour", colour)}, g.Len(),
			covariate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := Fit(context.Background(), g, everyOther(y), Spec{Expression: Expression{Terms: CovariateTerm, Method: "dense"},
			Covariates: set, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		e, err := m.Effects(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if !e.Columns[0].Between.BeyondChance() {
			t.Errorf("lanes: %+v", e.Columns[0].Between)
		}
		if e.Columns[1].Between.BeyondChance() {
			told++
		}
	}
	if told > 3 { // one in twenty by chance; four of ten with a probability of 1e-3
		t.Errorf("%d of 10 columns by chance are told", told)
	}
}
