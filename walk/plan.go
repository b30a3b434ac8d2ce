package walk

import (
	"cmp"
	"context"
	"time"

	"grfgp/sparse"
)

// Plan describes the features that Sample would return: the options, with the
// number of walkers filled in, and their cost and error.
type Plan struct {
	Options  Options
	Estimate Estimate // of rows Options.Lo to Options.Hi
	Reached  bool     // the goal's error is reached; true if the walkers were given
	Fits     bool     // the features fit into the goal's memory
}

// NewPlan completes options and estimates cost and error by pilot runs. With
// opts.Walks = 0 Tune chooses the number of walkers for all rows, so that shards of
// one sample agree; only Estimate and Fits depend on opts.Lo and opts.Hi.
func NewPlan(ctx context.Context, w *sparse.CSR, opts Options, coeff []float64, goal Goal) (Plan, error) {
	p := Plan{Options: opts, Reached: true}
	var err error
	if opts.Walks == 0 {
		all := opts
		all.Walks, all.Lo, all.Hi = Default().Walks, 0, 0 // a start for Tune
		if p.Options, p.Estimate, p.Reached, err = Tune(ctx, w, all, coeff, goal); err != nil {
			return p, err
		}
		p.Options.Lo, p.Options.Hi = opts.Lo, opts.Hi
	}
	if opts.Walks > 0 || opts.Hi > 0 {
		if p.Estimate, err = Pilot(ctx, w, p.Options, coeff, cmp.Or(goal.Rows, pilotRows)); err != nil {
			return p, err
		}
	}
	p.Fits = goal.Bytes == 0 || p.Estimate.PeakBytes <= goal.Bytes
	return p, nil
}

// EstimateTime estimates how long Sample would take for all rows, by sampling
// 2,048 of them.
func EstimateTime(ctx context.Context, w *sparse.CSR, opts Options) (time.Duration, error) {
	const rows = 2048
	n, _ := w.Dims()
	sample := func(lo, hi int) (time.Duration, error) {
		part := opts
		part.Lo, part.Hi = lo, hi
		start := time.Now()
		_, err := Sample(ctx, w, part)
		return time.Since(start), err
	}
	lo := max(0, n/2-rows/2)
	hi := min(n, lo+rows)
	fixed, err := sample(hi, hi) // does not grow with the rows
	if err != nil {
		return 0, err
	}
	whole, err := sample(lo, hi)
	if err != nil {
		return 0, err
	}
	return fixed + time.Duration(float64(max(0, whole-fixed))*float64(n)/float64(hi-lo)), nil
}
