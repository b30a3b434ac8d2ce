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
	t := &Trainer{spec: spec, limits: plan.Default(), matrices: map[string]*matrix{}}
	t.setMatrix(g)
	columns := min(job.Measurements, g.Len())
	if job.Classes > 0 {
		columns = min(job.Measurements, t.limits.ClassPatches.Rows())
	}
	method, hops, _ := t.decide(columns, spec.Variance == "unit" || job.Classes > 0)
	s := plan.Sizes{Job: job, Nodes: g.Len(), Entries: t.entries, Periods: spec.periods(), Uneven: t.uneven(), Method: method, Hops: hops,
		Fine:     t.fineHops(true, method, hops),
		OneScale: spec.Scales == "one", Solver: spec.Solver, Pairs: spec.Pairs, Rank: t.rank(),
		Divided: spec.Times == nil && job.Classes == 0 && spec.Variance != "unit" && spec.Covariates == nil}
	of, _ := t.offers(method)
	if c := spec.Covariates; c != nil && of.has(covariateTerm) {
		s.Columns += c.Dim()
	}
	if of.has(roleTerm) {
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
func (t *Trainer) rank() int {
	if t.spec.Rank > 0 {
		return t.spec.Rank
	}
	return t.limits.Rank
}

// What extreme Specs cost need not be sharp, but must be found in no time: the walkers of a Spec can be so many
// that a few rows of features take hours.
const (
	sampledWalks = 2000 // walkers up to which rows of features are sampled to count their entries
	reachedRows  = 16   // rows whose entries are counted by a search
)

// rows returns the sizes of features, from a few rows of them.
func (t *Trainer) rows(ctx context.Context, hops int) (r plan.Rows, err error) {
	on, usual := t.walks(), walk.Default()
	entries := func(hops, walks int, hubWalks float64) float64 {
		opts := t.walkOptions(on, hops, walks, hubWalks)
		if opts.Walks > sampledWalks {
			return t.reached(opts)
		}
		f, failed := on.ground.Lazy(opts)
		if failed != nil {
			err = failed
			return 0
		}
		return f.EntriesPerRow()
	}
	r.Entries, r.OneHop = entries(hops, usual.Walks, usual.HubWalks), entries(1, usual.Walks, usual.HubWalks)
	if t.spec.Scales != "one" {
		r.Coarse = entries(t.limits.CoarseHops, t.limits.CoarseWalks, 0)
	}
	_, stored := t.graph.StoredLevels()
	r.Levels, r.Tables = !stored, on.tables()
	exact := r.Entries * float64(hops+1) / 2 * float64(t.entries) / float64(max(1, t.graph.Len()))
	r.Steps = min(float64(t.walkOptions(on, hops, usual.Walks, 0).Walks)*float64(hops), exact)
	if err == nil {
		err = ctx.Err()
	}
	return r, err
}

// reached returns how many nodes the walks of a row reach at most, on average over a few
// rows: those within MaxLen hops.
func (t *Trainer) reached(opts walk.Options) float64 {
	n, total := t.graph.Len(), 0
	rows, search := min(n, reachedRows), graph.NewSearch(t.graph)
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
