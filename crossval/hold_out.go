package crossval

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"

	"grfgp/internal/ranks"
	"grfgp/progress"
)

// holdOut calls compute for every fold, with the rows outside it (train) and inside it
// (test), and takes the results in the order of the folds. It skips folds without rows
// and a fold that has all rows. Ranks share the folds, and all take the results of all,
// which travel as gob: fields that are not exported do not.
func holdOut[R any](ctx context.Context, o Options, fold []int, compute func(f int, train, test []int, w *progress.Work) (R, error),
	take func(f int, r R)) error {
	size := o.Ranks.Size()
	for first := 0; first < o.Folds; first += size {
		own, work := outcome[R]{}, o.Progress.Part(float64(size), float64(max(0, o.Folds-first-size)))
		if f := first + o.Ranks.Rank(); f < o.Folds {
			own = hold(fold, f, func(train, test []int) (r outcome[R]) {
				var err error
				if r.Result, err = compute(f, train, test, work); err != nil {
					r.err = fmt.Errorf("fold %d of %d: %w", f+1, o.Folds, err)
					r.Failure = r.err.Error()
				}
				r.Held = true
				return r
			})
		}
		all, err := exchanged(ctx, o.Ranks, own)
		if err != nil {
			return err
		}
		for k, r := range all {
			if r.err != nil {
				return r.err
			}
			if r.Held {
				take(first+k, r.Result)
			}
		}
	}
	o.Progress.Done()
	return nil
}

// outcome is the result of a fold.
type outcome[R any] struct {
	Held    bool // the fold has rows inside and outside
	Result  R
	Failure string
	err     error
}

// hold calls compute with the rows of a fold, if it has some inside and outside.
func hold[R any](fold []int, f int, compute func(train, test []int) outcome[R]) outcome[R] {
	var train, test []int
	for r := range fold {
		if fold[r] == f {
			test = append(test, r)
		} else {
			train = append(train, r)
		}
	}
	if len(test) == 0 || len(train) == 0 {
		return outcome[R]{}
	}
	return compute(train, test)
}

// exchanged returns the outcomes of all ranks.
func exchanged[R any](ctx context.Context, g *ranks.Group, own outcome[R]) ([]outcome[R], error) {
	if g.Alone() {
		return []outcome[R]{own}, nil
	}
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(own); err != nil {
		return nil, fmt.Errorf("result of a fold: %w", err)
	}
	bytesOf, starts, err := ranks.Gather(ctx, g, text.Bytes())
	if err != nil {
		return nil, err
	}
	all := make([]outcome[R], g.Size())
	for r := range all {
		if err := gob.NewDecoder(bytes.NewReader(bytesOf[starts[r]:starts[r+1]])).Decode(&all[r]); err != nil {
			return nil, fmt.Errorf("result of a fold: %w", err)
		}
		switch {
		case all[r].Failure == "":
		case r == g.Rank():
			all[r].err = own.err
		default:
			all[r].err = errors.New(all[r].Failure)
		}
	}
	return all, nil
}
