package variational

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/solve"
	"grfgp/walk"
)

// background is the context of tests without an end.
var background = context.Background()

// testKernel is a kernel of unit variance on 5 rows of 6 nodes, a triangle and a
// node alone.
func testKernel(t testing.TB, name string) kernel.Kernel {
	t.Helper()
	var e graph.Edges
	add := func(u, v int) { e.U, e.V = append(e.U, uint32(u)), append(e.V, uint32(v)) }
	for i := range 30 {
		if i%6 < 5 {
			add(i, i+1)
		}
		if i < 24 {
			add(i, i+6)
		}
	}
	add(30, 31)
	add(31, 32)
	add(32, 30)
	g, _, err := graph.FromEdges(graph.NumberIDs(34), e, graph.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w := g.Normalized(graph.NormalizedAdjacency)
	opts := walk.Default()
	opts.MaxLen, opts.Walks, opts.Budget, opts.Scale = 6, 8, 4, g.WalkScale(graph.NormalizedAdjacency)
	f, err := walk.Sample(background, w, opts)
	if err != nil {
		t.Fatal(err)
	}
	var k kernel.Kernel
	switch name {
	case "grf":
		k, err = kernel.NewGRF(f, kernel.Diffusion{})
	case "free":
		k, err = kernel.NewGRF(f, kernel.Free{Len: 4})
	case "series":
		k, err = kernel.NewSeries(w, kernel.Matern{Nu: 1.5}, 60)
	default:
		k, err = kernel.NewDense(w, kernel.Diffusion{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return kernel.UnitVariance(k)
}

// someLabels are labels of three classes.
func someLabels(count int, seed uint64) Problem {
	p := Problem{Classes: 3}
	for _, i := range rand.New(rng.New(seed, "labels")).Perm(34)[:count] {
		c := 0
		switch {
		case i >= 30:
			c = 2
		case i%6 >= 3:
			c = 1
		}
		p.Nodes, p.Class = append(p.Nodes, i), append(p.Class, c)
	}
	return p
}

func about(t testing.TB, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*(1+math.Abs(want))) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// newFit is a small problem, with most labels as inducing nodes.
func newFit(t testing.TB, kernelName string, p Problem, size int, robust bool) (*fit, []float64) {
	t.Helper()
	p.Kernel, p.Steps = testKernel(t, kernelName), 60
	f := &fit{Problem: p, likelihood: newSoftmaxLikelihood(p.Classes)}
	if robust {
		f.likelihood = newRobustMax()
	}
	theta := kernel.Starts(p.Kernel)[0]
	theta[0] = 3
	var err error
	if f.at, err = f.choose(background, theta, size); err != nil {
		t.Fatal(err)
	}
	return f, theta
}

// climbed returns q after the climb of the bound, and the bound.
func (f *fit) climbed(t testing.TB, theta []float64) (*variational, *inducing, *mat.Dense, []float64, *bound) {
	t.Helper()
	z, a, prior, err := f.prepare(background, theta)
	if err != nil {
		t.Fatal(err)
	}
	q, err := newVariational(len(f.at), f.Classes)
	if err != nil {
		t.Fatal(err)
	}
	for range f.Steps {
		if q, err = q.step(a, newBound(q, a, prior, f.Class, f.likelihood), 0.5); err != nil {
			t.Fatal(err)
		}
	}
	return q, z, a, prior, newBound(q, a, prior, f.Class, f.likelihood)
}

// Derivatives of expectations by means and variances are those of differences.
func TestClassLikelihoods(t *testing.T) {
	t.Parallel()
	mean, variance := []float64{0.3, -1, 0.8}, []float64{0.5, 1.5, 0.2}
	for name, l := range map[string]classLikelihood{"softmax": newSoftmaxLikelihood(3), "robustmax": newRobustMax()} {
		dm, dv, scratch := make([]float64, 3), make([]float64, 3), make([]float64, 3)
		for class := range 3 {
			l.expect(dm, dv, mean, variance, class)
			for c := range 3 {
				const h = 1e-5
				slope := func(x []float64) float64 {
					at := x[c]
					x[c] = at + h
					up := l.expect(scratch, make([]float64, 3), mean, variance, class)
					x[c] = at - h
					down := l.expect(scratch, make([]float64, 3), mean, variance, class)
					x[c] = at
					return (up - down) / (2 * h)
				}
				about(t, fmt.Sprint(name, " by mean ", c), dm[c], slope(mean), 1e-6)
				about(t, fmt.Sprint(name, " by variance ", c), dv[c], slope(variance), 1e-6)
			}
		}
	}
	// Chances that each latent function is the largest add up to one.
	sum := 0.0
	for class := range 3 {
		sum += newRobustMax().largest(nil, nil, mean, variance, class)
	}
	about(t, "sum", sum, 1, 1e-4)
}

// The derivative of the bound by hyperparameters is that of differences.
func TestBoundGradient(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"grf", "free", "series", "dense"} {
		for _, robust := range []bool{false, true} {
			f, theta := newFit(t, name, someLabels(14, 1), 9, robust)
			f.Steps = 3 // not at the optimum
			q, z, a, _, b := f.climbed(t, theta)
			grad := make([]float64, len(theta))
			if err := b.gradient(background, grad, q, z, a, f.Nodes, f.at); err != nil {
				t.Fatal(err)
			}
			for j := range theta {
				const h = 1e-5
				value := func(by float64) float64 {
					moved := slices.Clone(theta)
					moved[j] += by
					_, a, prior, err := f.prepare(background, moved)
					if err != nil {
						t.Fatal(err)
					}
					return newBound(q, a, prior, f.Class, f.likelihood).value
				}
				about(t, fmt.Sprint(name, " robust ", robust, " slope ", j), grad[j], (value(h)-value(-h))/(2*h), 1e-4)
			}
		}
	}
}

// Natural gradients end where no change of a mean or of a covariance raises the
// bound.
func TestNaturalGradients(t *testing.T) {
	t.Parallel()
	f, theta := newFit(t, "grf", someLabels(14, 1), 9, false)
	q, _, a, prior, b := f.climbed(t, theta)
	value := func(q *variational) float64 { return newBound(q, a, prior, f.Class, f.likelihood).value }
	about(t, "value", value(q), b.value, 1e-12)
	for i := range 9 {
		for c := range 3 {
			const h = 1e-4
			at := q.mean.At(i, c)
			q.mean.Set(i, c, at+h)
			up := value(q)
			q.mean.Set(i, c, at-h)
			down := value(q)
			q.mean.Set(i, c, at)
			if slope := (up - down) / (2 * h); math.Abs(slope) > 1e-3 {
				t.Errorf("slope by mean (%d, %d) is %.2g", i, c, slope)
			}
		}
	}
	// Scaling every precision by hand lowers it.
	for _, by := range []float64{0.9, 1.1} {
		other := *q
		other.lambda, other.precision = nil, nil
		for _, lambda := range q.lambda {
			var scaled mat.SymDense
			scaled.ScaleSym(by, lambda)
			other.lambda = append(other.lambda, &scaled)
			chol, err := solve.NewCholesky(&scaled)
			if err != nil {
				t.Fatal(err)
			}
			other.precision = append(other.precision, chol)
		}
		if v := value(&other); v >= b.value {
			t.Errorf("precisions times %v have bound %v, above %v", by, v, b.value)
		}
	}
}

// The bound is below the evidence, here by a sum over a grid of all latent values:
// three labels, two classes, six variables.
func TestBoundBelowEvidence(t *testing.T) {
	t.Parallel()
	l := Problem{Nodes: []int{0, 1, 5}, Class: []int{0, 0, 1}, Classes: 2}
	for _, robust := range []bool{false, true} {
		f, theta := newFit(t, "dense", l, 3, robust)
		_, _, _, _, b := f.climbed(t, theta)
		evidence := f.evidence(t, theta, robust)
		t.Logf("robust %v: bound %.5f, log evidence %.5f", robust, b.value, evidence)
		if b.value > evidence+1e-3 {
			t.Errorf("robust %v: the bound %.5f is above the log evidence %.5f", robust, b.value, evidence)
		}
		if !robust && evidence-b.value > 0.6 {
			t.Errorf("the bound %.5f is far below the log evidence %.5f", b.value, evidence)
		}
	}
}

// evidence is log E Π p(y_i | f_i) over the prior. With two classes the likelihood
// depends on f_0 − f_1 alone, which is normal with twice the covariance: three
// variables.
func (f *fit) evidence(t testing.TB, theta []float64, robust bool) float64 {
	t.Helper()
	z, _, _, err := f.prepare(background, theta)
	if err != nil {
		t.Fatal(err)
	}
	m := len(f.at)
	l := mat.NewTriDense(m, mat.Lower, z.l.Data)
	const step, most = 0.2, 6.0
	total, mass := 0.0, 0.0
	v, d := mat.NewVecDense(m, nil), mat.NewVecDense(m, nil)
	for x := -most; x <= most; x += step {
		for y := -most; y <= most; y += step {
			for w := -most; w <= most; w += step {
				v.SetVec(0, x)
				v.SetVec(1, y)
				v.SetVec(2, w)
				d.MulVec(l, v)
				p := math.Exp(-(x*x + y*y + w*w) / 2)
				mass += p
				for k, at := range f.at {
					gap := math.Sqrt2 * d.AtVec(k)
					if f.Class[at] == 1 {
						gap = -gap
					}
					switch {
					case !robust:
						p /= 1 + math.Exp(-gap)
					case gap > 0:
						p *= 1 - robustError
					default:
						p *= robustError
					}
				}
				total += p
			}
		}
	}
	return math.Log(total / mass)
}

// Taking a label out of q is nearly what fitting without it gives.
func TestVariationalLeaveOneOut(t *testing.T) {
	t.Parallel()
	l := someLabels(14, 1)
	f, theta := newFit(t, "grf", l, 14, false)
	_, _, _, _, b := f.climbed(t, theta)
	left := b.leaveOneOut()
	for k := range 5 {
		others := slices.DeleteFunc([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}, func(j int) bool { return j == k })
		g := *f
		g.Nodes, g.Class = nil, nil
		for _, j := range others {
			g.Nodes, g.Class = append(g.Nodes, l.Nodes[j]), append(g.Class, l.Class[j])
		}
		var err error
		if g.at, err = g.choose(background, theta, 13); err != nil {
			t.Fatal(err)
		}
		q, z, _, _, _ := g.climbed(t, theta)
		a, err := z.project(background, l.Nodes[k:k+1])
		if err != nil {
			t.Fatal(err)
		}
		prior := []float64{0}
		if err := z.cov.Diag(background, prior, l.Nodes[k:k+1]); err != nil {
			t.Fatal(err)
		}
		want := q.marginals(a, prior)
		for c := range 3 {
			if gap := math.Abs(left.Mean.At(k, c) - want.Mean.At(0, c)); gap > 0.15 {
				t.Errorf("label %d, class %d: mean %.3f, want %.3f", k, c, left.Mean.At(k, c), want.Mean.At(0, c))
			}
			about(t, fmt.Sprintf("variance of label %d, class %d", k, c), left.Variance.At(k, c), want.Variance.At(0, c), 0.15)
		}
	}
}
