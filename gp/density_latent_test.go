package gp

import (
	"math"
	"testing"
)

// latentCase returns a posterior of simulated values on a ring of which the first 24
// nodes are measured.
func latentCase(t *testing.T, v Values) (*Model, *Posterior, Data) {
	t.Helper()
	s, size := stateOf(v)
	if v == Student {
		s.Units = Units{5, 2}
	}
	m := ringModel(t, 36, s)
	f := wave(36)
	d := simulated(v, allNodes(36)[:24], f, size, s.Shape, 0.2, 9)
	if v == Student {
		for k := range d.Y {
			d.Y[k] = 5 + 2*d.Y[k]
		}
	}
	p, err := m.Condition(background, d)
	if err != nil {
		t.Fatal(err)
	}
	return m, p, d
}

// TestLeaveOneOutOfValues compares with leaving out one measurement after the other:
// the approximation keeps the pseudo-measurements of the others.
func TestLeaveOneOutOfValues(t *testing.T) {
	t.Parallel()
	for _, v := range nonGaussian {
		m, p, d := latentCase(t, v)
		mean, sd, err := p.LeaveOneOut()
		if err != nil {
			t.Fatal(err)
		}
		var groups [][]int
		for k := range d.Y {
			groups = append(groups, []int{k})
		}
		held, err := m.HeldOutLogDensity(background, d, groups)
		if err != nil {
			t.Fatal(err)
		}
		worst, density := 0.0, 0.0
		for k := range d.Y {
			var rows []int
			for r := range d.Y {
				if r != k {
					rows = append(rows, r)
				}
			}
			q, err := m.Condition(background, d.Select(rows))
			if err != nil {
				t.Fatal(err)
			}
			r, err := q.Responses(background, d.Nodes[k:k+1])
			if err != nil {
				t.Fatal(err)
			}
			one := r[0].Measurement(d.exposure(k))
			worst = max(worst, math.Abs(mean[k]-one.Mean())/one.SD(), math.Abs(sd[k]/one.SD()-1))
			want := one.LogDensity(d.Y[k])
			if v == Student {
				want += math.Log(2)
			}
			density = max(density, math.Abs(held[k]-want))
		}
		t.Logf("%v: off by up to %.3f sds and %.3f nats", v, worst, density)
		if worst > 0.3 || density > 0.3 {
			t.Errorf("%v: off by up to %.3f sds and %.3f nats", v, worst, density)
		}
	}
}

// TestLogDensityOfValues compares with Response, and the density of several, each given those before it, with the
// difference of two marginal likelihoods.
func TestLogDensityOfValues(t *testing.T) {
	t.Parallel()
	for _, v := range nonGaussian {
		_, p, d := latentCase(t, v)
		test := d.Select([]int{0, 3, 5, 6, 7})
		for k := range test.Nodes {
			test.Nodes[k] += 24
		}
		got, err := p.LogDensity(background, test)
		if err != nil {
			t.Fatal(err)
		}
		all, err := p.Responses(background, test.Nodes)
		if err != nil {
			t.Fatal(err)
		}
		for k, r := range all {
			near(t, v.String(), got[k:k+1], []float64{r.Measurement(test.exposure(k)).LogDensity(test.Y[k])}, 1e-8)
		}
		joint := oneByOne(t, p, test)
		q, err := p.Condition(background, test)
		if err != nil {
			t.Fatal(err)
		}
		before, _, _ := p.LogMarginalLikelihood(background)
		after, _, _ := q.LogMarginalLikelihood(background)
		t.Logf("%v: %.3f and %.3f", v, joint, after-before)
		if math.Abs(joint-(after-before)) > 0.25 {
			t.Errorf("%v: joint log density %v, difference of log likelihoods %v", v, joint, after-before)
		}
	}
}

// TestMarginalLikelihoodOfOneNode compares Laplace's approximation with quadrature.
func TestMarginalLikelihoodOfOneNode(t *testing.T) {
	t.Parallel()
	for _, v := range nonGaussian {
		s, size := stateOf(v)
		m := ringModel(t, 36, s)
		d := simulated(v, []int{4}, []float64{0.5}, size, s.Shape, 0.2, 3)
		p, err := m.Condition(background, d)
		if err != nil {
			t.Fatal(err)
		}
		diag := make([]float64, 1)
		if err := p.cov.Diag(background, diag, []int{4}); err != nil {
			t.Fatal(err)
		}
		want := m.Response(s.Units.Center, diag[0]).Measurement(d.exposure(0)).LogDensity(d.Y[0])
		got, se, err := p.LogMarginalLikelihood(background)
		t.Logf("%v: %.4f, exactly %.4f", v, got, want)
		if err != nil || se != 0 || math.Abs(got-want) > 0.2 {
			t.Errorf("%v: log likelihood %v, want %v (%v)", v, got, want, err)
		}
	}
}

// TestNormalScores: under the model, scores have mean 0 and variance 1 within five
// standard errors over 10 data sets of 24 measurements (a little less for yes-no, whose
// scores take two values near ±0.67 and more).
func TestNormalScores(t *testing.T) {
	t.Parallel()
	for _, v := range []Values{Student, Counts, Shares} {
		sum, square, n := 0.0, 0.0, 0.0
		for seed := range uint64(10) {
			s, size := stateOf(v)
			m := ringModel(t, 36, s)
			f := priorDraw(t, m, seed)
			d := simulated(v, allNodes(36)[:24], f, size, s.Shape, math.Sqrt(s.Noise), seed)
			p, err := m.Condition(background, d)
			if err != nil {
				t.Fatal(err)
			}
			z, err := p.StandardizedResiduals()
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range z {
				sum, square, n = sum+x, square+x*x, n+1
			}
		}
		t.Logf("%v: mean %.3f, variance %.3f", v, sum/n, square/n)
		if math.Abs(sum/n) > 5/math.Sqrt(n) || math.Abs(square/n-1) > 5*math.Sqrt(2/n) {
			t.Errorf("%v: scores have mean %v and mean square %v", v, sum/n, square/n)
		}
	}
}
