package gp

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Whatever solves it, a posterior refuses nodes that are none and a negative
// number of draws, and of nothing it gives nothing.
func TestPosteriorOfOddQuestions(t *testing.T) {
	t.Parallel()
	k, d := kernels(t, smallGraph(t))["grf"], someData(34, 10, 1)
	for _, solver := range []Solver{Exact, Iterative} {
		m, _, err := Fit(background, k, d, FitOptions{Solver: solver})
		if err != nil {
			t.Fatal(err)
		}
		p := step[*Posterior](t)(m.Condition(background, d))
		for _, bad := range [][]int{{-1}, {3, 34}} {
			_, mean := p.Mean(background, bad)
			_, variance := p.Variance(background, bad)
			_, sample := p.Sample(background, bad, 2, 1)
			_, rows := p.Covariance(background, bad, []int{1})
			_, cols := p.Covariance(background, []int{1}, bad)
			for q, err := range []error{mean, variance, sample, rows, cols} {
				if err == nil {
					t.Errorf("%v: question %d at %v was answered", solver, q, bad)
				}
			}
		}
		if _, err := p.Sample(background, []int{1}, -1, 1); err == nil {
			t.Errorf("%v: -1 draws were made", solver)
		}
		mean, variance := step[[]float64](t)(p.Mean(background, nil)), step[[]float64](t)(p.Variance(background, nil))
		if len(mean) != 0 || len(variance) != 0 {
			t.Errorf("%v: of no nodes %v and %v", solver, mean, variance)
		}
		draw := step[*mat.Dense](t)
		for _, s := range []*mat.Dense{draw(p.Sample(background, nil, 3, 1)), draw(p.Sample(background, []int{1, 2}, 0, 1)),
			draw(p.Covariance(background, nil, []int{1}))} {
			if !s.IsEmpty() {
				t.Errorf("%v: %v of nothing", solver, s)
			}
		}
	}
}

// What the caller does to the measurements afterwards is of no account.
func TestPosteriorKeepsItsData(t *testing.T) {
	t.Parallel()
	k, d := kernels(t, smallGraph(t))["dense"], someData(34, 10, 1)
	m, _, err := Fit(background, k, d, FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p := step[*Posterior](t)(m.Condition(background, d))
	before := fmt.Sprint(step[[]float64](t)(p.Mean(background, allNodes(34))))
	for i := range d.Nodes {
		d.Nodes[i], d.Y[i] = 0, 99
	}
	if after := fmt.Sprint(step[[]float64](t)(p.Mean(background, allNodes(34)))); after != before {
		t.Errorf("%s after the data was written over, %s before", after, before)
	}
}
