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

func (b bump) logLikelihood(_ context.Context, theta []float64) (float64, error) {
	if theta[0] == 3 {
		return 0, fmt.Errorf("a bump: %w", b.failure)
	}
	return -(theta[0] - 2) * (theta[0] - 2), nil
}

func (b bump) evaluate(ctx context.Context, theta []float64) (float64, []float64, error) {
	value, err := b.logLikelihood(ctx, theta)
	return value, []float64{-2 * (theta[0] - 2)}, err
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
		got, err := bestStart(background, []bump{{c.failure}, {c.failure}}, c.starts, false, nil)
		if !slices.Equal(got, c.want) || !errors.Is(err, c.err) {
			t.Errorf("of %v: %v and error %v, want %v and %v", c.starts, got, err, c.want, c.err)
		}
	}
	value, grad, err := compositeObjective([]bump{{}, {}})(background, []float64{1})
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
		var want, wantGrad, wantScores []float64
		for _, threads := range testkit.FewIfRaced(2, []int{1, 7, 2, 16}) {
			runtime.GOMAXPROCS(threads)
			l, theta := likelihoodOf(t, k, someData(3000, 1800, 6), 1)
			parts := l.patches(plan.Patches{Windows: 4, Size: 80, Scattered: 150})
			cache(parts, plan.Default().CacheBytes)
			all := make([]*scored, len(parts))
			for p := range all {
				all[p] = &scored{marginal: parts[p]}
			}
			if threads == 1 {
				wantGrad = make([]float64, len(theta))
				sum := 0.0
				for _, p := range all {
					value, grad, err := p.evaluate(background, theta)
					if err != nil {
						t.Fatal(err)
					}
					sum += value
					for j, v := range grad {
						wantGrad[j] += v
					}
				}
				want = []float64{sum, sum}
				for _, p := range all {
					wantScores = append(wantScores, step[score](t)(p.score(background, theta)).leaveOneOut)
				}
			}
			value, steep, err := together(all)(background, theta)
			if err != nil {
				t.Fatal(err)
			}
			got := []float64{value, step[float64](t)(compositeLogLikelihood(background, all, theta))}
			grad := step[[]float64](t)(steep())
			var scores []float64
			for _, p := range all {
				scores = append(scores, p.seen[0].leaveOneOut)
			}
			if !slices.Equal(got, want) || !slices.Equal(grad, wantGrad) {
				t.Errorf("%s at %d threads: %v and %v, want %v and %v", name, threads, got, grad, want, wantGrad)
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
