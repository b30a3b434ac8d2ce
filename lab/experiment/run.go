package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"grfgp/internal/ranks"
)

// Watch receives messages and progress of a run. Nil functions are not called.
type Watch struct {
	// Say receives messages for the user.
	Say func(format string, args ...any)
	// Progress is called while parts run, from any goroutine but never concurrently.
	Progress func(Progress)
}

// Progress is the state of a run.
type Progress struct {
	Part            string  // the part that runs, or has just finished
	Cached          int     // parts that were in the cache
	Finished, Parts int     // parts computed by this run, and all parts
	Done, Work      float64 // finished and total work of this run, in seconds as Part.Work
}

// Run computes the parts that were not in the cache, in order, and returns the results
// of all. If a part fails or ctx ends, finished parts are in the cache, and the next run
// continues from there. Parts without data are skipped, with a message.
func (plan *Plan) Run(ctx context.Context, watch Watch) (*Results, error) {
	var mu sync.Mutex
	tell := func(p Progress) {
		if watch.Progress != nil {
			mu.Lock()
			defer mu.Unlock()
			watch.Progress(p)
		}
	}
	for _, why := range plan.skipped {
		if watch.Say != nil {
			watch.Say("%s: %v", plan.experiment.Name, why)
		}
	}
	if err := plan.lead(ctx); err != nil {
		return nil, err
	}
	p := Progress{Parts: len(plan.parts), Work: plan.Work(), Cached: plan.cached()}
	for i, c := range plan.parts {
		if plan.results[i] != nil {
			continue
		}
		p.Part = c.Name
		tell(p)
		r, err := plan.compute(ctx, c, func(done, total int64) {
			if total > 0 {
				now := p
				now.Done += c.work() * min(1, float64(done)/float64(total))
				tell(now)
			}
		})
		if err != nil {
			return nil, err
		}
		plan.results[i] = r
		p.Done += c.work()
		p.Finished++
		tell(p)
	}
	all := &Results{Cached: p.Cached, Listed: plan.listed, arrays: map[string]map[string][]float64{}}
	for i, c := range plan.parts {
		all.add(c.Name, plan.results[i])
	}
	return all, nil
}

// lead tells the other ranks which parts will be computed.
func (plan *Plan) lead(ctx context.Context) error {
	if plan.ranks.Alone() {
		return nil
	}
	var names []byte
	for i, c := range plan.parts {
		if plan.results[i] == nil {
			names = append(names, c.Name+"\n"...)
		}
	}
	_, _, err := ranks.Gather(ctx, plan.ranks, names)
	return err
}

// Follow computes the parts of a Shared experiment that rank 0 computes in Plan.Run, on the
// other ranks.
func (e *Experiment) Follow(ctx context.Context, opts Options) error {
	names, _, err := ranks.Gather(ctx, opts.Ranks, []byte(nil))
	if err != nil {
		return err
	}
	parts := e.Parts(opts)
	for name := range strings.Lines(string(names)) {
		name = strings.TrimSuffix(name, "\n")
		at := slices.IndexFunc(parts, func(c Part) bool { return c.Name == name })
		if at < 0 {
			return fmt.Errorf("%s: rank 0 computes %s, which is no part here: start all ranks with the same command", e.Name, name)
		}
		if _, err := parts[at].Run(ctx, func(_, _ int64) {}); err != nil {
			return e.failed(parts[at], err)
		}
	}
	return nil
}

// compute runs a part, caches its result, and returns it as a later run would load it.
func (plan *Plan) compute(ctx context.Context, c Part, progress func(done, total int64)) (*Result, error) {
	e := plan.experiment
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, err := c.Run(ctx, progress)
	if err != nil {
		return nil, e.failed(c, err)
	}
	name, settings, err := e.key(c)
	if err != nil {
		return nil, err
	}
	data, err := e.encode(c, settings, r)
	if err != nil {
		return nil, e.failed(c, err)
	}
	if err := plan.cache.Save(name, data); err != nil {
		return nil, e.failed(c, fmt.Errorf("saving the result: %w", err))
	}
	return e.decode(c, settings, data)
}

func (e *Experiment) failed(c Part, err error) error {
	return fmt.Errorf("%s, %s: %w", e.Name, c.Name, err)
}
