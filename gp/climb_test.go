package gp

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	"grfgp/kernel"
)

// rosenbrock is a valley of banana shape, with its minimum 0 at (1, 1).
func rosenbrock(x []float64) (point, error) {
	a, b := 1-x[0], x[1]-x[0]*x[0]
	return point{x: x, f: a*a + 100*b*b, grad: []float64{-2*a - 400*x[0]*b, 200 * b}}, nil
}

func TestDescent(t *testing.T) {
	t.Parallel()
	d, err := newDescent([]float64{-1.2, 1}, rosenbrock, nil)
	if err != nil {
		t.Fatal(err)
	}
	steps, moved := 0, true
	for ; moved && d.now.slope() > 1e-9 && steps < 60; steps++ {
		if moved, err = d.step(rosenbrock); err != nil {
			t.Fatal(err)
		}
	}
	if d.now.f > 1e-18 || steps == 60 {
		t.Errorf("value %g at %v after %d steps", d.now.f, d.now.x, steps)
	}
}

// With the matrix of second derivatives, the minimum of a quadratic function takes one step, however
// long its valley is; also from where the function is not defined on the way.
func TestDescentWithCurvature(t *testing.T) {
	t.Parallel()
	scale := []float64{1, 1e4, 1e-2}
	quadratic := func(x []float64) (point, error) {
		p := point{x: x, grad: make([]float64, len(x))}
		for j, s := range scale {
			p.f += s * x[j] * x[j] / 2
			p.grad[j] = s * x[j]
		}
		return p, nil
	}
	known := &curvature{inverse: []float64{1, 0, 0, 0, 1e-4, 0, 0, 0, 1e2}, values: 10}
	d, err := newDescent([]float64{0.5, -0.9, 1}, quadratic, known)
	if err != nil {
		t.Fatal(err)
	}
	if moved, err := d.step(quadratic); !moved || err != nil || d.now.f > 1e-20 || d.foretold != 1 || d.promise() > 1e-20 {
		t.Errorf("moved %v, %v: value %g, promise %g", moved, err, d.now.f, d.promise())
	}
	if of := known.of(20); of.inverse[4] != 0.5e-4 || known.inverse[4] != 1e-4 {
		t.Errorf("of twice the values: %v from %v", of.inverse, known.inverse)
	}
}

// A function that is not defined beyond a wall has its minimum near the wall.
func TestDescentAtWall(t *testing.T) {
	t.Parallel()
	wall := func(x []float64) (point, error) {
		if x[0] >= 1 {
			return point{x: x, f: math.Inf(1)}, nil
		}
		return point{x: x, f: -x[0] - 1e-3*math.Log(1-x[0]), grad: []float64{-1 + 1e-3/(1-x[0])}}, nil
	}
	d, err := newDescent([]float64{-3}, wall, nil)
	for moved := true; moved && err == nil && d.now.slope() > 1e-6; {
		moved, err = d.step(wall)
	}
	if err != nil || math.Abs(d.now.x[0]-0.999) > 1e-6 {
		t.Errorf("%v at %v", err, d.now.x)
	}
}

// A fit from a fit to a sample takes a fraction of the evaluations, and finds the same optimum.
func TestFitFromSample(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	g, err := graph.Grid(20, 20)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rng.New(1, "fit from a sample"))
	var d Data
	for i := range 400 {
		if i%4 != 3 {
			d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, math.Sin(float64(i%20)/3)+math.Cos(float64(i/20)/4)+0.2*random.NormFloat64())
		}
	}
	ctx := context.Background()
	sample, _, err := Fit(ctx, k, d, FitOptions{Subsample: 170, Tol: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	starts := [][]float64{sample.Theta()}
	_, cold, err := Fit(ctx, k, d, FitOptions{Starts: starts, Tol: 0.03})
	if err != nil {
		t.Fatal(err)
	}
	_, warm, err := Fit(ctx, k, d, FitOptions{Starts: starts, Tol: 0.03, From: sample})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(warm.LogLikelihood-cold.LogLikelihood) > 0.03 || 3*warm.Evaluations > 2*cold.Evaluations {
		t.Errorf("log likelihood %.4f after %d evaluations; %.4f after %d from the hyperparameters alone", warm.LogLikelihood, warm.Evaluations,
			cold.LogLikelihood, cold.Evaluations)
	}
	t.Log(warm.Evaluations, cold.Evaluations, warm.LogLikelihood, cold.LogLikelihood)
}

// Where the curvature of all variables but one is known, a quadratic function takes few steps, however long its valley is: one
// for the known variables, and some for the new one.
func TestDescentBesideCurvature(t *testing.T) {
	t.Parallel()
	scale := []float64{1e4, 30, 1e-2} // the second variable is new
	quadratic := func(x []float64) (point, error) {
		p := point{x: x, grad: make([]float64, len(x))}
		for j, s := range scale {
			p.f += s * x[j] * x[j] / 2
			p.grad[j] = s * x[j]
		}
		return p, nil
	}
	known := &curvature{inverse: []float64{1e-4, 0, 0, 1e2}, values: 10}
	steps := func(from *curvature) int {
		d, err := newDescent([]float64{1e-3, 0.4, 1}, quadratic, from)
		if err != nil {
			t.Fatal(err)
		}
		for step := range 100 {
			if d.now.f < 1e-9 {
				return step
			}
			if _, err := d.step(quadratic); err != nil {
				t.Fatal(err)
			}
		}
		return 100
	}
	if with, without := steps(known.at(2, []int{0, -1, 1})), steps(nil); with > 6 || 2*with > without {
		t.Errorf("%d steps with a curvature, %d without", with, without)
	}
	want := []float64{1e-4, 0, 0, 0, 0, 0, 0, 0, 1e2}
	if got := known.at(2, []int{0, -1, 1}); !slices.Equal(got.inverse, want) || !slices.Equal(got.unknown, []int{1}) {
		t.Errorf("beside: %v", got)
	}
}
