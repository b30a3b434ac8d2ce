package gp

import (
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"grfgp/graph"
)

// step is a call that must not fail, for chains of them.
func step[V any](t *testing.T) func(V, error) V {
	return func(v V, err error) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Extending equals conditioning on everything, for every representation, with a
// node measured twice, and with noise given.
func TestExtendEqualsCondition(t *testing.T) {
	t.Parallel()
	g := smallGraph(t)
	n := g.Len()
	post, numbers := step[*Posterior](t), step[[]float64](t)
	for name, k := range kernels(t, g) {
		d := someData(n, 15, 1)
		d.Nodes, d.Y = append(d.Nodes, d.Nodes[0]), append(d.Y, d.Y[0]+0.5)
		given := d
		for range given.Nodes {
			given.NoiseVar = append(given.NoiseVar, 0.05+0.01*float64(len(given.NoiseVar)))
		}
		for what, d := range map[string]Data{"learned": d, "given noise": given} {
			t.Run(name+"/"+what, func(t *testing.T) {
				m, _, err := Fit(background, k, d.Slice(0, 9), FitOptions{})
				if err != nil {
					t.Fatal(err)
				}
				base := post(m.Condition(background, d.Slice(0, 9)))
				whole := post(m.Condition(background, d))
				bit := post(post(base.Condition(background, d.Slice(9, 10))).Condition(background, d.Slice(10, d.Len())))
				once := post(base.Condition(background, d.Slice(9, d.Len())))
				all := allNodes(n)
				want := numbers(whole.Mean(background, all))
				near(t, "mean", numbers(bit.Mean(background, all)), want, 1e-9)
				near(t, "variance", numbers(bit.Variance(background, all)), numbers(whole.Variance(background, all)), 1e-9)
				if !slices.Equal(bit.alpha, once.alpha) {
					t.Error("bit by bit is not as in one go")
				}
				draw, err1 := bit.Sample(background, all, 2, 3)
				other, err2 := whole.Sample(background, all, 2, 3)
				if err := errors.Join(err1, err2); err != nil {
					t.Fatal(err)
				}
				near(t, "sample", draw.RawMatrix().Data, other.RawMatrix().Data, 1e-8)
				// What was extended is as it was.
				again := post(m.Condition(background, d.Slice(0, 9)))
				near(t, "old variance", numbers(base.Variance(background, all)), numbers(again.Variance(background, all)), 0)
			})
		}
	}
}

// Posteriors that part from one another do not meet again, whoever is first.
func TestExtendInTwoWays(t *testing.T) {
	t.Parallel()
	g := smallGraph(t)
	k := kernels(t, g)["grf"]
	d := someData(g.Len(), 30, 2)
	post, numbers := step[*Posterior](t), step[[]float64](t)
	m, _, err := Fit(background, k, d, FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	base := post(post(m.Condition(background, d.Slice(0, 5))).Condition(background, d.Slice(5, 6)))
	ways := make([]*Posterior, 8)
	var wg sync.WaitGroup
	for w := range ways {
		wg.Go(func() {
			p := base
			for k := 6; k < 20 && err == nil; k++ {
				at := 6 + (k+3*w)%24
				p, _ = p.Condition(background, d.Slice(at, at+1))
			}
			ways[w] = p
		})
	}
	wg.Wait()
	for w, p := range ways {
		e := d.Slice(0, 6)
		for k := 6; k < 20; k++ {
			at := 6 + (k+3*w)%24
			e.Nodes, e.Y = append(slices.Clip(e.Nodes), d.Nodes[at]), append(slices.Clip(e.Y), d.Y[at])
		}
		want := post(m.Condition(background, e))
		all := allNodes(g.Len())
		near(t, "variance", numbers(p.Variance(background, all)), numbers(want.Variance(background, all)), 1e-9)
	}
}

// By iteration, extending agrees with conditioning to the tolerance of solves,
// whatever the way.
func TestExtendByIteration(t *testing.T) {
	t.Parallel()
	g, err := graph.Grid(15, 15)
	if err != nil {
		t.Fatal(err)
	}
	k := kernels(t, g)["grf"]
	d := someData(225, 150, 5)
	post, numbers := step[*Posterior](t), step[[]float64](t)
	m, _, err := Fit(background, k, d.Slice(0, 100), FitOptions{Solver: Iterative})
	if err != nil {
		t.Fatal(err)
	}
	base := post(m.Condition(background, d.Slice(0, 100)))
	once := post(base.Condition(background, d.Slice(100, 150)))
	bit := post(post(base.Condition(background, d.Slice(100, 120))).Condition(background, d.Slice(120, 150)))
	if !slices.Equal(once.alpha, bit.alpha) {
		t.Error("bit by bit is not as in one go")
	}
	want := post(m.Condition(background, d))
	near(t, "mean", numbers(once.Mean(background, allNodes(225))), numbers(want.Mean(background, allNodes(225))), 5*forMeans.loosest)
}

func TestExtendRefuses(t *testing.T) {
	t.Parallel()
	g := smallGraph(t)
	d := someData(g.Len(), 10, 2)
	m, _, err := Fit(background, kernels(t, g)["dense"], d, FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p := step[*Posterior](t)(m.Condition(background, d))
	for what, bad := range map[string]Data{
		"a node beyond":  {Nodes: []int{34}, Y: []float64{1}},
		"not a number":   {Nodes: []int{3}, Y: []float64{math.NaN()}},
		"noise of a few": {Nodes: []int{3}, Y: []float64{1}, NoiseVar: []float64{1}},
	} {
		if _, err := p.Condition(background, bad); !errors.Is(err, ErrData) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if same, err := p.Condition(background, Data{}); same != p || err != nil {
		t.Errorf("nothing more: %v", err)
	}
}

func TestCovarianceEqualsFormula(t *testing.T) {
	t.Parallel()
	g := smallGraph(t)
	d := someData(g.Len(), 12, 6)
	all := allNodes(g.Len())
	for name, k := range kernels(t, g) {
		m, _, err := Fit(background, k, d, FitOptions{})
		if err != nil {
			t.Fatal(err)
		}
		p := step[*Posterior](t)(m.Condition(background, d))
		_, want := byFormula(t, m, d)
		got, err := p.Covariance(background, all, all)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name+" covariance", got.RawMatrix().Data, want.RawMatrix().Data, 1e-8)
		if v := p.NoiseVar(); math.Abs(math.Sqrt(v)-m.NoiseSD()) > 1e-12 {
			t.Errorf("noise variance %v for a noise of %v", v, m.NoiseSD())
		}
	}
}

// A constant is refused whatever its mean is rounded to: ⅙ of 2, six times, is
// not 2.
func TestConstantIsRefused(t *testing.T) {
	t.Parallel()
	k := kernels(t, smallGraph(t))["dense"]
	for n := 1; n < 12; n++ {
		d := Data{Nodes: allNodes(n), Y: make([]float64, n)}
		for i := range d.Y {
			d.Y[i] = 2
		}
		if _, _, err := Fit(background, k, d, FitOptions{}); !errors.Is(err, ErrData) {
			t.Errorf("%d equal values: %v", n, err)
		}
	}
}

// Standardized residuals are what the mean and variance before each measurement say.
func TestStandardizedResiduals(t *testing.T) {
	t.Parallel()
	g := smallGraph(t)
	d := someData(g.Len(), 12, 7)
	m, _, err := Fit(background, kernels(t, g)["grf"], d, FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	post, numbers := step[*Posterior](t), step[[]float64](t)
	z := numbers(post(m.Condition(background, d)).StandardizedResiduals())
	for k := 1; k < d.Len(); k++ {
		before := post(m.Condition(background, d.Slice(0, k)))
		at := d.Nodes[k : k+1]
		mean, variance := numbers(before.Mean(background, at)), numbers(before.Variance(background, at))
		near(t, "residual", z[k:k+1], []float64{(d.Y[k] - mean[0]) / math.Sqrt(variance[0]+before.NoiseVar())}, 1e-9)
	}
}
