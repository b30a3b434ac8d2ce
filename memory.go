package grfgp

import (
	"context"

	"grfgp/graph"
	"grfgp/plan"
	"grfgp/walk"
)

// Memory is an estimate of the memory and the time that a Job takes.
type Memory = plan.Memory

// Job is what is computed with a model, as far as its cost depends on it.
type Job = plan.Job

// EstimateMemory estimates the memory of a job before it begins. For features it samples
// walks from a few hundred nodes.
func EstimateMemory(ctx context.Context, g *graph.Graph, spec Spec, job Job) (Memory, error) {
	if err := spec.Check(); err != nil {
		return Memory{}, err
	}
	t := newWorkshop(g, spec)
	columns := min(job.Measurements, g.Len())
	if job.Classes > 0 {
		columns = min(job.Measurements, t.limits.ClassPatches.Rows())
	}
	method, hops, _ := t.decide(columns, spec.Variance == "unit" || job.Classes > 0)
	e := spec.members(forValues)[0]
	e.Method, e.Scales = method, "many"
	s := plan.Sizes{Job: job, Nodes: g.Len(), Entries: t.entries, Periods: spec.periods(), Uneven: t.uneven(), Method: method, Hops: hops,
		Fine:     t.fineHops(e, hops),
		OneScale: spec.Scales == "one", Solver: spec.Solver, Pairs: spec.Pairs, Rank: t.rank(),
		Divided: spec.Times == nil && job.Classes == 0 && spec.Variance != "unit" && spec.Covariates == nil}
	of, _ := t.offers(method)
	if c := spec.Covariates; c != nil && of.Has(CovariateTerm) {
		s.Columns += c.Dim()
	}
	if of.Has(RoleTerm) {
		s.Columns += plan.RoleColumns
	}
	if method == "grf" || method == "lowrank" {
		var err error
		if s.Rows, err = t.rows(ctx, hops); err != nil {
			return Memory{}, err
		}
	}
	return t.limits.Estimate(s), nil
}

// rank is the number of dimensions of the method lowrank.
func (b *workshop) rank() int {
	if b.spec.Rank > 0 {
		return b.spec.Rank
	}
	return b.limits.Rank
}

// What extreme Specs cost need not be sharp, but must be found in no time: the walkers of a Spec can be so many
// that a few rows of features take hours.
const (
	sampledWalks = 2000 // walkers up to which rows of features are sampled to count their entries
	reachedRows  = 16   // rows whose entries are counted by a search
)

// rows returns the sizes of features, from a few rows of them.
func (b *workshop) rows(ctx context.Context, hops int) (r plan.Rows, err error) {
	on, usual := b.walks(), walk.Default()
	entries := func(hops, walks int, hubWalks float64) float64 {
		opts := b.walkOptions(on, hops, walks, hubWalks)
		if opts.Walks > sampledWalks {
			return b.reached(opts)
		}
		f, failed := on.ground.Lazy(opts)
		if failed != nil {
			err = failed
			return 0
		}
		return f.EntriesPerRow()
	}
	r.Entries, r.OneHop = entries(hops, usual.Walks, usual.HubWalks), entries(1, usual.Walks, usual.HubWalks)
	if b.spec.Scales != "one" {
		r.Coarse = entries(b.limits.CoarseHops, b.limits.CoarseWalks, 0)
	}
	_, stored := b.graph.StoredLevels()
	r.Levels, r.Tables = !stored, on.tables()
	exact := r.Entries * float64(hops+1) / 2 * float64(b.entries) / float64(max(1, b.graph.Len()))
	r.Steps = min(float64(b.walkOptions(on, hops, usual.Walks, 0).Walks)*float64(hops), exact)
	if err == nil {
		err = ctx.Err()
	}
	return r, err
}

// reached returns how many nodes the walks of a row reach at most, on average over a few
// rows: those within MaxLen hops.
func (b *workshop) reached(opts walk.Options) float64 {
	n, total := b.graph.Len(), 0
	rows, search := min(n, reachedRows), graph.NewSearch(b.graph)
	for k := range rows {
		for _, hops := range search.From(k * n / rows) {
			if hops > opts.MaxLen {
				break
			}
			total++
		}
	}
	return min(float64(total)/float64(max(1, rows)), 2*float64(opts.Walks)*float64(opts.MaxLen+1))
}
