package experiment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"sync"
)

// Watch is told how a run goes. Nil functions are not called.
type Watch struct {
	// Say is given sentences that a user should read.
	Say func(format string, args ...any)
	// Progress is called while cells run, from any goroutine but one at a time.
	Progress func(Progress)
}

// Progress is how far a run is.
type Progress struct {
	Cell         string  // that runs, or has just ended
	Kept         int     // cells that were there already
	Ended, Cells int     // cells of this run, and all of them
	Done, Work   float64 // of this run, in the unit of Cell.Work
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// Run computes the cells that are not on the shelf, in order, and returns the
// results of all. When a cell fails or ctx ends, what was finished is on the
// shelf, and the next Run goes on from there. Cells that lack data are left out, which
// is said; if that leaves none, it is an error.
func Run(ctx context.Context, e *Experiment, opts Options, shelf Shelf, watch Watch) (*Results, error) {
	if watch.Say == nil {
		watch.Say = func(string, ...any) {}
	}
	if watch.Progress == nil {
		watch.Progress = func(Progress) {}
	}
	var one sync.Mutex
	tell := func(p Progress) {
		one.Lock()
		defer one.Unlock()
		watch.Progress(p)
	}
	plan, err := e.plan(opts, shelf, watch.Say)
	if err != nil {
		return nil, err
	}
	for _, why := range plan.missing {
		watch.Say("%s: %v", e.Name, why)
	}
	cells, found := plan.cells, plan.found
	p := Progress{Cells: len(cells), Work: plan.work(), Kept: plan.kept()}
	for i, c := range cells {
		if found[i] != nil {
			continue
		}
		p.Cell = c.Name
		tell(p)
		r, err := e.compute(ctx, c, shelf, func(done, total int64) {
			if total > 0 {
				now := p
				now.Done += c.work() * min(1, float64(done)/float64(total))
				tell(now)
			}
		})
		if err != nil {
			return nil, err
		}
		found[i] = r
		p.Done += c.work()
		p.Ended++
		tell(p)
	}
	all := &Results{Kept: p.Kept, Listed: plan.listed, arrays: map[string]map[string][]float64{}}
	for i, c := range cells {
		all.add(c.Name, found[i])
	}
	return all, nil
}

func (c Cell) work() float64 {
	if c.Work > 0 {
		return c.Work
	}
	return 1
}

// load returns the result of a finished cell, nil if it must be run.
func (e *Experiment) load(shelf Shelf, c Cell, say func(string, ...any)) (*Result, error) {
	name, settings, err := e.key(c)
	if err != nil {
		return nil, err
	}
	data, err := shelf.Load(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("experiment: %s, %s: %w", e.Name, c.Name, err)
	}
	r, err := e.decode(c, settings, data)
	if err != nil {
		say("%s: the kept result of %s is %v; it is run again", e.Name, c.Name, err)
		return nil, nil
	}
	return r, nil
}

// compute runs a cell, keeps its result, and returns it as it will be read.
func (e *Experiment) compute(ctx context.Context, c Cell, shelf Shelf, progress func(done, total int64)) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, err := c.Run(ctx, progress)
	if err != nil {
		return nil, fmt.Errorf("experiment: %s, %s: %w", e.Name, c.Name, err)
	}
	name, settings, err := e.key(c)
	if err != nil {
		return nil, err
	}
	data, err := e.encode(c, settings, r)
	if err != nil {
		return nil, fmt.Errorf("experiment: %s, %s: %w", e.Name, c.Name, err)
	}
	if err := shelf.Save(name, data); err != nil {
		return nil, fmt.Errorf("experiment: keeping %s, %s: %w", e.Name, c.Name, err)
	}
	return e.decode(c, settings, data)
}
