package experiment

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"grfgp/internal/paper/dataset"
)

// ready says whether a set that cells need is here. It is looked for once.
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

// on is the Run of a cell that needs data.
func on[D any](load func() (D, error), run func(context.Context, D) (*Result, error)) func(context.Context, func(done, total int64)) (*Result, error) {
	return func(ctx context.Context, _ func(done, total int64)) (*Result, error) {
		data, err := load()
		if err != nil {
			return nil, err
		}
		return run(ctx, data)
	}
}

// add adds what was made from a data set to a section. Where the set is not here it
// is left out, and said to be.
func (s *Section) add(what, set string, tables []Table, figures []Figure, err error) error {
	if errors.Is(err, dataset.ErrMissing) {
		s.Findings = append(s.Findings, fmt.Sprintf("Left out: %s, for which the data set %s is needed. It is not here; 'grfgp dataset list' says how to get it.", what, set))
		return nil
	}
	s.Tables, s.Figures = append(s.Tables, tables...), append(s.Figures, figures...)
	return err
}
