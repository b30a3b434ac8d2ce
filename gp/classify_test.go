package gp

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp/internal/latent"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/walk"
)

// someLabels are labels of the small graph: its left, its right, and the triangle.
func someLabels(count int, seed uint64) Labels {
	l := Labels{Classes: 3}
	for _, i := range rand.New(rng.New(seed, "labels")).Perm(34)[:count] {
		c := 0
		switch {
		case i >= 30:
			c = 2
		case i%6 >= 3:
			c = 1
		}
		l.Nodes, l.Class = append(l.Nodes, i), append(l.Class, c)
	}
	return l
}

// startOf returns the starting values of a kernel and, if it is learned, of the
// noise.
func startOf(t testing.TB, k kernel.Kernel, m ClassMethod) (*params, []float64) {
	t.Helper()
	p, starts, err := newParams(k, nil, m == Dirichlet)
	if err != nil {
		t.Fatal(err)
	}
	return p, starts[0]
}

// The mean of many draws is the probability.
func TestClassSamples(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	g := smallGraph(t)
	k := kernel.UnitVariance(kernels(t, g)["grf"])
	for _, method := range []ClassMethod{Dirichlet, OneVsAll, Variational, RobustMax} {
		c, _, err := Classify(background, k, someLabels(15, 1), ClassifyOptions{Method: method, Steps: 25})
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.Probabilities(background, allNodes(34), nil)
		if err != nil {
			t.Fatal(err)
		}
		const draws = 4000
		all, err := c.Sample(background, allNodes(34), draws, 3, nil)
		if err != nil {
			t.Fatal(err)
		}
		few, err := c.Sample(background, []int{4, 33}, 2, 3, nil)
		if err != nil {
			t.Fatal(err)
		}
		about(t, "a draw among fewer", few[1].At(1, 2), all[1].At(33, 2), 1e-9)
		for i := range 34 {
			sum := 0.0
			for k := range 3 {
				mean := 0.0
				for _, one := range all {
					mean += one.At(i, k) / draws
				}
				// Draws have a standard error of at most 0.5/√4000 = 0.008.
				if math.Abs(mean-p.At(i, k)) > 0.045 {
					t.Errorf("%v: node %d, class %d: draws have mean %.3f, want %.3f", method, i, k, mean, p.At(i, k))
				}
				sum += p.At(i, k)
			}
			about(t, "sum", sum, 1, 1e-9)
		}
	}
}

// blocks is a graph of communities, its classes, and a kernel of unit variance.
func blocks(t testing.TB, size, classes int, within, between float64, seed uint64) (kernel.Kernel, []int) {
	t.Helper()
	sizes := make([]int, classes)
	for c := range sizes {
		sizes[c] = size
	}
	g, err := graph.StochasticBlock(sizes, func(a, b int) float64 {
		if a == b {
			return within / float64(size)
		}
		return between / float64(size*(classes-1))
	}, seed)
	if err != nil {
		t.Fatal(err)
	}
	opts := walk.Default()
	opts.MaxLen, opts.Walks, opts.Budget, opts.Scale = 5, 50, 100, g.WalkScale(graph.NormalizedAdjacency)
	f, err := walk.Sample(background, g.Normalized(graph.NormalizedAdjacency), opts)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.NewGRF(f, kernel.Matern{Nu: 2})
	if err != nil {
		t.Fatal(err)
	}
	class := make([]int, size*classes)
	for i := range class {
		class[i] = i / size
	}
	return kernel.UnitVariance(k), class
}

// pickLabels labels some nodes at random and returns the others.
func pickLabels(class []int, classes, count int, seed uint64) (l Labels, rest []int) {
	perm := rand.New(rng.New(seed, "labels")).Perm(len(class))
	l = Labels{Classes: classes}
	for _, i := range perm[:count] {
		l.Nodes, l.Class = append(l.Nodes, i), append(l.Class, class[i])
	}
	return l, perm[count:]
}

// All methods find communities, and agree on the nodes that they are sure of.
func TestClassMethodsAgree(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	k, class := blocks(t, 100, 4, 7, 2, 1)
	l, rest := pickLabels(class, 4, 120, 1)
	sure := map[ClassMethod][]int{}
	for _, method := range []ClassMethod{Dirichlet, OneVsAll, Variational, RobustMax, Spreading} {
		c, r, err := Classify(background, k, l, ClassifyOptions{Method: method, Inducing: 120})
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.Probabilities(background, rest, nil)
		if err != nil {
			t.Fatal(err)
		}
		right := 0.0
		for i, node := range rest {
			best := latent.Argmax(p.RawRowView(i))
			if best == class[node] {
				right += 1 / float64(len(rest))
			}
			if p.At(i, best) > 0.9 {
				sure[method] = append(sure[method], 10*node+best)
			}
		}
		t.Logf("%v: %.3f right, sure of %d, %+v", method, right, len(sure[method]), r)
		if right < 0.8 {
			t.Errorf("%v: %.3f right, want at least 0.8", method, right)
		}
	}
	for _, method := range []ClassMethod{OneVsAll, Variational} {
		both := 0
		for _, v := range sure[method] {
			if slices.Contains(sure[Dirichlet], v) {
				both++
			}
		}
		if fewer := min(len(sure[method]), len(sure[Dirichlet])); fewer < 50 || 10*both < 9*fewer {
			t.Errorf("%v is sure of %d nodes, Dirichlet of %d, both of %d", method, len(sure[method]), len(sure[Dirichlet]), both)
		}
	}
}

// Samples, held-out labels and stacked systems predict as well as the exact way.
func TestClassifyIteratively(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	k, class := blocks(t, 200, 4, 7, 2, 1)
	l, rest := pickLabels(class, 4, 300, 1)
	var right [2]float64
	for s, solver := range []Solver{Exact, Iterative} {
		c, r, err := Classify(background, k, l, ClassifyOptions{Solver: solver})
		if err != nil {
			t.Fatal(err)
		}
		if (c.LeaveOneOut() == nil) != (solver == Iterative) {
			t.Errorf("%v: leaving one out is %v", solver, c.LeaveOneOut() != nil)
		}
		p, err := c.Probabilities(background, rest, nil)
		if err != nil {
			t.Fatal(err)
		}
		var class2 []int
		for _, i := range rest {
			class2 = append(class2, class[i])
		}
		score := ClassifyReport{}
		score.score(p, class2)
		right[s] = score.Accuracy
		t.Logf("%v: %+v; test %.3f right, score %.3f", solver, r, score.Accuracy, score.Score)
		if score.Score < -0.6 {
			t.Errorf("%v: log score %.3f", solver, score.Score)
		}
	}
	if math.Abs(right[0]-right[1]) > 0.03 {
		t.Errorf("exactly %.3f are right, by iteration %.3f", right[0], right[1])
	}
}

func TestLabelErrors(t *testing.T) {
	t.Parallel()
	k := kernel.UnitVariance(kernels(t, smallGraph(t))["grf"])
	for name, l := range map[string]Labels{
		"none":         {Classes: 2},
		"one class":    {Nodes: []int{1, 2}, Class: []int{1, 1}, Classes: 2},
		"at no node":   {Nodes: []int{1, 34}, Class: []int{0, 1}, Classes: 2},
		"no class":     {Nodes: []int{1, 2}, Class: []int{0, 2}, Classes: 2},
		"lengths":      {Nodes: []int{1, 2}, Class: []int{0}, Classes: 2},
		"a negative":   {Nodes: []int{1, 2}, Class: []int{0, -1}, Classes: 2},
		"no class at ": {Nodes: []int{1, 2}, Class: []int{0, 1}},
	} {
		if _, _, err := Classify(background, k, l, ClassifyOptions{}); !errors.Is(err, ErrData) {
			t.Errorf("%s: %v, want ErrData", name, err)
		}
	}
	if _, _, err := Classify(background, k, someLabels(5, 1), ClassifyOptions{Method: 9}); err == nil {
		t.Error("a method that is none was taken")
	}
	if _, _, err := Classify(background, k, someLabels(5, 1),
		ClassifyOptions{State: &ClassState{Theta: []float64{1}, Calibration: uncalibrated}}); err == nil {
		t.Error("a state of another kernel was taken")
	}
}

// A class with one label, one with none, two labels in all, and a node labelled
// twice: all work, and rows are probabilities.
func TestFewLabels(t *testing.T) {
	t.Parallel()
	k := kernel.UnitVariance(kernels(t, smallGraph(t))["grf"])
	for name, l := range map[string]Labels{
		"one member":     {Nodes: []int{0, 1, 2, 33}, Class: []int{0, 0, 0, 1}, Classes: 2},
		"no member":      {Nodes: []int{0, 1, 5}, Class: []int{0, 0, 2}, Classes: 3},
		"two labels":     {Nodes: []int{0, 5}, Class: []int{0, 1}, Classes: 2},
		"labelled twice": {Nodes: []int{0, 0, 5}, Class: []int{0, 1, 1}, Classes: 2},
	} {
		for m := range ClassMethodNames() {
			c, r, err := Classify(background, k, l, ClassifyOptions{Method: ClassMethod(m), Steps: 20})
			if err != nil {
				t.Errorf("%s, %v: %v", name, ClassMethod(m), err)
				continue
			}
			p, err := c.Probabilities(background, allNodes(34), nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 34 {
				sum := 0.0
				for _, v := range p.RawRowView(i) {
					sum += v
					if !(v >= 0) {
						t.Fatalf("%s, %v: node %d has chance %v (%+v)", name, ClassMethod(m), i, v, r)
					}
				}
				about(t, "sum", sum, 1, 1e-9)
			}
		}
	}
}

// The same bytes at any number of threads, and again from the state.
func TestClassifyDeterministic(t *testing.T) {
	k, class := blocks(t, 40, 3, 6, 2, 1)
	l, rest := pickLabels(class, 3, 50, 1)
	for m := range ClassMethodNames() {
		for _, solver := range []Solver{Exact, Iterative} {
			var first *mat.Dense
			var state ClassState
			for _, threads := range []int{1, 4} {
				before := runtime.GOMAXPROCS(threads)
				c, r, err := Classify(background, k, l, ClassifyOptions{Method: ClassMethod(m), Solver: solver, Steps: 10, Inducing: 30})
				runtime.GOMAXPROCS(before)
				if err != nil {
					t.Fatal(err)
				}
				p, err := c.Probabilities(background, rest, nil)
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first, state = p, r.ClassState
				} else if !mat.Equal(first, p) {
					t.Errorf("%v, %v: threads change the result", ClassMethod(m), solver)
				}
			}
			if ClassMethod(m) == Variational || ClassMethod(m) == RobustMax {
				continue // q is climbed to again, from elsewhere
			}
			c, _, err := Classify(background, k, l, ClassifyOptions{State: &state})
			if err != nil {
				t.Fatal(err)
			}
			if p, err := c.Probabilities(background, rest, nil); err != nil || !mat.Equal(first, p) {
				t.Errorf("%v, %v: the state gives something else (%v)", ClassMethod(m), solver, err)
			}
		}
	}
}

func TestClassMethodNames(t *testing.T) {
	t.Parallel()
	for m := range ClassMethodNames() {
		var back ClassMethod
		text, _ := ClassMethod(m).MarshalText()
		if err := back.UnmarshalText(text); err != nil || back != ClassMethod(m) {
			t.Errorf("%s came back as %v: %v", text, back, err)
		}
	}
	if err := new(ClassMethod).UnmarshalText([]byte("tea leaves")); err == nil {
		t.Error("tea leaves were taken")
	}
}
