package gp

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
)

// single returns the factor of the regression of one class by itself.
func single(t testing.TB, r *regressions, theta []float64, class int) (*factor, Data) {
	t.Helper()
	own, other := r.sides(theta)
	d := Data{Nodes: r.nodes}
	lo, hi := r.members(class)
	for k := range r.nodes {
		s := other
		if lo <= k && k < hi {
			s = own
		}
		d.Y, d.NoiseVar = append(d.Y, s.target), append(d.NoiseVar, s.noise)
	}
	shape, _ := r.params.split(theta)
	l := newMarginal(r.kernel, d, r.meanVar, &params{list: r.params.list[:len(shape)]})
	f, err := l.factor(background, shape)
	if err != nil {
		t.Fatal(err)
	}
	return f, d
}

// One factor for all classes is what a factor for each would be: likelihood,
// weights, leaving one out, and prediction.
func TestSharedFactor(t *testing.T) {
	t.Parallel()
	g := smallGraph(t)
	for name, k := range kernels(t, g) {
		for _, method := range []ClassMethod{Dirichlet, OneVsAll} {
			t.Run(fmt.Sprint(name, " ", method), func(t *testing.T) {
				k := kernel.UnitVariance(k)
				p, theta := startOf(t, k, method)
				l := someLabels(20, 1)
				r, _ := newRegressions(method, k, l, p)
				f, err := r.factor(background, theta)
				if err != nil {
					t.Fatal(err)
				}
				left := f.leaveOneOut()
				some := []int{0, 7, 31, 33, r.nodes[0], r.nodes[len(r.nodes)-1]} // some of them have labels
				predicted, err := f.predict(background, some, nil)
				if err != nil {
					t.Fatal(err)
				}
				total := 0.0
				for c := range l.Classes {
					one, d := single(t, r, theta, c)
					total += one.lml
					mean, variance := one.leaveOneOut(d)
					for i := range d.Nodes {
						about(t, "alpha", f.alpha.At(i, c), one.alpha[i], 1e-9)
						about(t, "mean left out", left.Mean.At(i, c), mean[i], 1e-9)
						about(t, "variance left out", left.Variance.At(i, c), max(0, variance[i]-d.NoiseVar[i]), 1e-9)
					}
					cross := mat.NewDense(l.Len(), len(some), nil)
					if err := f.cov.Cross(r.nodes, some).Apply(background, cross, identity(len(some))); err != nil {
						t.Fatal(err)
					}
					prior := make([]float64, len(some))
					if err := f.cov.Diag(background, prior, some); err != nil {
						t.Fatal(err)
					}
					for q := range some {
						mean := 0.0
						for i := range d.Nodes {
							mean += cross.At(i, q) * one.alpha[i]
						}
						about(t, "mean", predicted.Mean.At(q, c), mean, 1e-9)
					}
					one.chol.SolveLower(cross, cross)
					for q := range some {
						less := mat.Dot(cross.ColView(q), cross.ColView(q))
						about(t, "variance", predicted.Variance.At(q, c), prior[q]-less, 1e-9)
					}
				}
				about(t, "log likelihood", f.lml, total, 1e-8)
			})
		}
	}
}

func about(t testing.TB, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*(1+math.Abs(want))) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// The gradient of the summed likelihood is that of differences.
func TestClassGradient(t *testing.T) {
	t.Parallel()
	g := smallGraph(t)
	for name, k := range kernels(t, g) {
		for _, method := range []ClassMethod{Dirichlet, OneVsAll} {
			p, theta := startOf(t, kernel.UnitVariance(k), method)
			r, _ := newRegressions(method, kernel.UnitVariance(k), someLabels(20, 1), p)
			f, err := r.factor(background, theta)
			if err != nil {
				t.Fatal(err)
			}
			grad, err := f.gradient(background)
			if err != nil {
				t.Fatal(err)
			}
			for j := range theta {
				const h = 1e-5
				value := func(by float64) float64 {
					moved := slices.Clone(theta)
					moved[j] += by
					f, err := r.factor(background, moved)
					if err != nil {
						t.Fatal(err)
					}
					return f.lml
				}
				about(t, fmt.Sprint(name, " ", method, " slope ", j), grad[j], (value(h)-value(-h))/(2*h), 1e-5)
			}
		}
	}
}

// Systems of all classes solved as one by iteration are those solved exactly.
func TestStackedClasses(t *testing.T) {
	t.Parallel()
	g := smallGraph(t)
	for name, k := range kernels(t, g) {
		for _, method := range []ClassMethod{Dirichlet, OneVsAll} {
			p, theta := startOf(t, kernel.UnitVariance(k), method)
			l := someLabels(25, 3)
			exact := tuner{kernel: kernel.UnitVariance(k), labels: l, params: p, method: method, solver: Exact}
			iterative := exact
			iterative.solver = Iterative
			a, err := exact.condition(background, l, theta, uncalibrated)
			if err != nil {
				t.Fatal(err)
			}
			b, err := iterative.condition(background, l, theta, uncalibrated)
			if err != nil {
				t.Fatal(err)
			}
			var gap mat.Dense
			gap.Sub(a.alpha, b.alpha)
			if worst := mat.Norm(&gap, 2) / mat.Norm(a.alpha, 2); worst > 1e-3 {
				t.Errorf("%s, %v: weights differ by %.2g", name, method, worst)
			}
			x, err := a.Sample(background, allNodes(34), 3, 5, nil)
			if err != nil {
				t.Fatal(err)
			}
			y, err := b.Sample(background, allNodes(34), 3, 5, nil)
			if err != nil {
				t.Fatal(err)
			}
			for s := range x {
				gap.Reset()
				gap.Sub(x[s], y[s])
				gap.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) }, &gap)
				if worst := mat.Max(&gap); worst > 0.05 {
					t.Errorf("%s, %v: draw %d differs by %.2g", name, method, s, worst)
				}
			}
		}
	}
}

// The gradient of the score of labels left out, against differences of the score.
func TestLeaveOutGradient(t *testing.T) {
	t.Parallel()
	g := smallGraph(t)
	for name, k := range kernels(t, g) {
		for _, method := range []ClassMethod{Dirichlet, OneVsAll} {
			t.Run(fmt.Sprint(name, " ", method), func(t *testing.T) {
				k := kernel.UnitVariance(k)
				p, theta := startOf(t, k, method)
				tune := &tuner{kernel: k, labels: someLabels(20, 1), params: p, method: method}
				tune.sample()
				of := &params{list: append(slices.Clone(p.list), kernel.Param{Name: "temperature", Start: 1, Positive: true})}
				at := func(theta []float64) (float64, []float64) {
					value, slope, err := evaluate(&leftOut{tuner: tune, params: of, spread: 0.7}, theta)
					if err != nil {
						t.Fatal(err)
					}
					return value, slope
				}
				theta = append(slices.Clone(theta), 0.6)
				_, grad := at(theta)
				for j, v := range theta {
					const step = 1e-5
					moved := slices.Clone(theta)
					moved[j] = v * (1 + step)
					up, _ := at(moved)
					moved[j] = v * (1 - step)
					down, _ := at(moved)
					want := (up - down) / (2 * step * v)
					if math.Abs(grad[j]-want) > 1e-5*max(1, math.Abs(want)) {
						t.Errorf("derivative %d: %v, want %v", j, grad[j], want)
					}
				}
			})
		}
	}
}
