package gp

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"grfgp/graph"
	"grfgp/internal/testkit"
	"grfgp/plan"
	"grfgp/solve"
)

func TestPatches(t *testing.T) {
	t.Parallel()
	nodes := []int{50, 40, 30, 20, 10, 0, 60, 70, 80, 90} // in order: 5 4 3 2 1 0 6 7 8 9
	for _, c := range []struct {
		windows, size, scattered int
		want                     [][]int
	}{
		{2, 4, 0, [][]int{{4, 3, 2, 1}, {1, 0, 6, 7}}},
		{2, 4, 3, [][]int{{4, 3, 2, 1}, {1, 0, 6, 7}, {4, 0, 8}}},
		{1, 99, 99, [][]int{{5, 4, 3, 2, 1, 0, 6, 7, 8, 9}, {5, 4, 3, 2, 1, 0, 6, 7, 8, 9}}},
	} {
		if got := patches(nodes, plan.Patches{Windows: c.windows, Size: c.size, Scattered: c.scattered}); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%d windows of %d and %d scattered: %v, want %v", c.windows, c.size, c.scattered, got, c.want)
		}
	}
}

// bump is highest at 2 and has no factor at 3.
type bump struct{ failure error }

func (b bump) at(_ context.Context, theta []float64) (evaluation, error) {
	if theta[0] == 3 {
		return nil, fmt.Errorf("a bump: %w", b.failure)
	}
	return place(theta[0]), nil
}

// place is a bump somewhere.
type place float64

func (p place) logLikelihood() float64 { return float64(-(p - 2) * (p - 2)) }
func (p place) gradient(context.Context) ([]float64, error) {
	return []float64{float64(-2 * (p - 2))}, nil
}
func (place) free() {}

// evaluate returns a log likelihood with its gradient.
func evaluate(of component, theta []float64) (float64, []float64, error) {
	at, err := of.at(background, theta)
	if err != nil {
		return 0, nil, err
	}
	grad, err := at.gradient(background)
	return at.logLikelihood(), grad, err
}

func TestBestStart(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, c := range []struct {
		starts  [][]float64
		failure error
		want    []float64
		err     error
	}{
		{[][]float64{{3}}, broken, []float64{3}, nil}, // nothing to choose
		{[][]float64{{0}, {2}, {1}}, nil, []float64{2}, nil},
		{[][]float64{{0}, {3}, {1}}, solve.ErrNotPositiveDefinite, []float64{1}, nil},
		{[][]float64{{3}, {3}}, solve.ErrNotPositiveDefinite, []float64{3}, nil},
		{[][]float64{{0}, {3}, {1}}, broken, nil, broken},
	} {
		got, err := bestStart(background, composite[bump]{{c.failure}, {c.failure}}, c.starts, false)
		if !slices.Equal(got, c.want) || !errors.Is(err, c.err) {
			t.Errorf("of %v: %v and error %v, want %v and %v", c.starts, got, err, c.want, c.err)
		}
	}
	value, grad, err := evaluate(composite[bump]{{}, {}}, []float64{1})
	if value != -2 || !slices.Equal(grad, []float64{4}) || err != nil {
		t.Errorf("the composite of two: %v, %v, %v", value, grad, err)
	}
}

// TestPartsTogether: the likelihood of patches and its gradient are the sums over patches that are evaluated one after
// another, to the bit, at any number of threads, and so are the scores; the error is that of the first patch.
func TestPartsTogether(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	g, err := graph.Ring(3000)
	if err != nil {
		t.Fatal(err)
	}
	for name, k := range ringKernels(t, g) {
		var want float64
		var wantGrad, wantScores []float64
		for _, threads := range testkit.FewIfRaced(2, []int{1, 7, 2, 16}) {
			runtime.GOMAXPROCS(threads)
			l, theta := likelihoodOf(t, k, someData(3000, 1800, 6), 1)
			m := &Model{kernel: k, meanVar: l.meanVar}
			all := m.parts(l.params, m.patches(l.data, plan.Patches{Windows: 4, Size: 80, Scattered: 150}))
			if threads == 1 {
				wantGrad = make([]float64, len(theta))
				sum := 0.0
				for _, p := range all {
					value, grad, err := evaluate(p, theta)
					if err != nil {
						t.Fatal(err)
					}
					sum += value
					for j, v := range grad {
						wantGrad[j] += v
					}
				}
				want = sum
				for _, p := range all {
					p.(*marginal).seen = nil
					wantScores = append(wantScores, step[score](t)(p.score(background, theta)).leaveOneOut)
				}
			}
			value, grad, err := evaluate(all, theta)
			if err != nil {
				t.Fatal(err)
			}
			var scores []float64
			for _, p := range all {
				scores = append(scores, p.(*marginal).seen[0].leaveOneOut)
			}
			if value != want || !slices.Equal(grad, wantGrad) {
				t.Errorf("%s at %d threads: %v and %v, want %v and %v", name, threads, value, grad, want, wantGrad)
			}
			near(t, name+": leave-one-out score", scores, wantScores, 1e-6)
		}
	}
	first, second := errors.New("first"), errors.New("second")
	err = eachPart(4, func(k int) error { return []error{nil, first, nil, second}[k] })
	if err != first {
		t.Errorf("error %v", err)
	}
}
