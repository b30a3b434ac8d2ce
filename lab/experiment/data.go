package experiment

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"grfgp/lab/dataset"
)

// ready returns a Part.Ready that checks, once, whether a data set is on this machine.
func ready(name string) func() error {
	return sync.OnceValue(func() error {
		set, err := dataset.Named(name)
		if err != nil {
			return err
		}
		_, err = dataset.Default().Where(set)
		if errors.Is(err, dataset.ErrMissing) {
			return fmt.Errorf("%w: %w", ErrNoData, err)
		}
		return err
	})
}

// withData returns a Part.Run that loads data and passes it on.
func withData[D any](load func() (D, error), run func(context.Context, D) (*Result, error)) func(context.Context,
	func(done, total int64)) (*Result, error) {
	return func(ctx context.Context, _ func(done, total int64)) (*Result, error) {
		data, err := load()
		if err != nil {
			return nil, err
		}
		return run(ctx, data)
	}
}

// add adds tables and figures made from a data set. If err says that the set is missing,
// a finding notes what is left out instead.
func (s *Section) add(what, set string, tables []Table, figures []Figure, err error) error {
	if errors.Is(err, dataset.ErrMissing) {
		s.Findings = append(s.Findings, fmt.Sprintf("Not shown: %s. The data set %s, which it needs, is not on this machine; 'grfgp-lab dataset "+
			"list' says how to get it.", what, set))
		return nil
	}
	s.Tables, s.Figures = append(s.Tables, tables...), append(s.Figures, figures...)
	return err
}
