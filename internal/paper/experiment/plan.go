package experiment

import (
	"errors"
	"fmt"
	"strings"
)

// plan is what a run is about.
type plan struct {
	cells   []Cell
	found   []*Result // nil where the cell must run
	listed  int       // cells, with those that are left out
	missing []error   // for what want of data some are left out
}

// plan looks which cells are finished, and which of the others can be run.
func (e *Experiment) plan(opts Options, shelf Shelf, say func(string, ...any)) (*plan, error) {
	p := &plan{}
	var names []string
	seen, without := map[string]bool{}, map[string]int{}
	for _, c := range e.Cells(opts) {
		if seen[c.Name] || !nameForm.MatchString(c.Name) {
			panic(fmt.Sprintf("experiment: %s: the cell %q is named twice or oddly", e.Name, c.Name))
		}
		seen[c.Name] = true
		names = append(names, c.Name)
		if opts.Only != nil && !opts.Only.MatchString(c.Name) {
			continue
		}
		r, err := e.load(shelf, c, say)
		if err != nil {
			return nil, err
		}
		if r == nil && c.Ready != nil {
			err = c.Ready()
		}
		if errors.Is(err, errNeedless) {
			continue
		}
		p.listed++
		switch {
		case r == nil && opts.Finished:
		case errors.Is(err, ErrNoData):
			if without[err.Error()]++; without[err.Error()] == 1 {
				p.missing = append(p.missing, err)
			}
		case err != nil:
			return nil, err
		default:
			p.cells, p.found = append(p.cells, c), append(p.found, r)
		}
	}
	switch {
	case len(p.cells) > 0 || len(names) == 0:
	case p.listed == 0:
		return nil, fmt.Errorf("%w: none of %s matches %s; there are %s", ErrNoPart, e.Name, opts.Only, some(names, 4))
	case opts.Finished:
		return nil, fmt.Errorf("%w of %s here; run it without --finished, or name its folder", ErrUnfinished, e.Name)
	default:
		return nil, p.missing[0]
	}
	for k, why := range p.missing {
		p.missing[k] = fmt.Errorf("%d parts are left out: %w", without[why.Error()], why)
	}
	return p, nil
}

// Left is how many seconds of work are left, on two cores or so.
func Left(e *Experiment, opts Options, shelf Shelf) float64 {
	p, err := e.plan(opts, shelf, func(string, ...any) {})
	if err != nil {
		return 0 // Run says why
	}
	return p.work()
}

// some names the first few, and counts the others.
func some(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// kept counts the cells that are finished.
func (p *plan) kept() int {
	n := 0
	for _, r := range p.found {
		if r != nil {
			n++
		}
	}
	return n
}

// work is that of the cells that are not.
func (p *plan) work() float64 {
	sum := 0.0
	for k, c := range p.cells {
		if p.found[k] == nil {
			sum += c.work()
		}
	}
	return sum
}
