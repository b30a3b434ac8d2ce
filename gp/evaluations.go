package gp

import (
	"context"

	"grfgp/plan"
	"grfgp/progress"
)

// evaluations reports evaluations of a likelihood as progress; nil: to nobody.
type evaluations struct {
	work     *progress.Work
	n        int
	expected float64
}

// newEvaluations counts evaluations at starts and of a climb of at most maxIter
// iterations.
func newEvaluations(w *progress.Work, starts, maxIter int) *evaluations {
	if w == nil {
		return nil
	}
	e := &evaluations{work: w, expected: min(plan.Evaluations, float64(maxIter)) + 1}
	if starts > 1 {
		e.expected += float64(starts)
	}
	return e
}

// expect adds evaluations to the expected ones.
func (e *evaluations) expect(n float64) {
	if e != nil {
		e.expected += n
	}
}

// add counts one evaluation.
func (e *evaluations) add() {
	if e != nil {
		e.n++
		e.work.Rounds(e.n, e.expected)
	}
}

// counted is a component whose evaluations are counted.
type counted struct {
	component
	count *evaluations
}

func (c counted) at(ctx context.Context, theta []float64) (evaluation, error) {
	defer c.count.add()
	return c.component.at(ctx, theta)
}
