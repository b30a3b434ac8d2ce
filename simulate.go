package grfgp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"

	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/parallel"
	"grfgp/internal/rng"
)

// SimulateOptions say what is replayed.
type SimulateOptions struct {
	Goal     bayesopt.Goal
	Policies []string // of bayesopt.PolicyNames()
	Start    int      // nodes drawn at random first: the same ones for every policy
	Steps    int      // nodes measured after them, as the policy says
	Batch    int      // so many of them at a time; 0 means 1
	Seeds    int      // replays of every policy
	Seed     uint64
	Count    []int                   // readings of which the value of each node is the mean; nil: one each
	Scatter  []float64               // sum of squared deviations of these readings from it; nil: not known
	Retrain  bayesopt.Schedule       // First: the nodes to start from, but at least 5
	Looks    int                     // times that predictions are scored, where they are; 0 means 20
	Progress func(done, total int64) // measurements; called concurrently
}

func (o SimulateOptions) check(known int) (SimulateOptions, error) {
	if o.Batch == 0 {
		o.Batch = 1
	}
	if o.Looks == 0 {
		o.Looks = 20
	}
	if o.Progress == nil {
		o.Progress = func(_, _ int64) {}
	}
	switch {
	case len(o.Policies) == 0:
		return o, fmt.Errorf("%w: no policy to simulate; there are %q", bayesopt.ErrOptions, bayesopt.PolicyNames())
	case o.Start < 0 || o.Steps < 1 || o.Batch < 1 || o.Seeds < 1 || o.Looks < 1:
		return o, fmt.Errorf("%w: %d nodes to start from, %d steps of %d, %d seeds and %d looks", bayesopt.ErrOptions, o.Start, o.Steps, o.Batch, o.Seeds, o.Looks)
	case known < 2 || o.Start >= known:
		return o, fmt.Errorf("%w: the values of %d nodes are known, which leaves nothing to choose after %d to start from", bayesopt.ErrOptions, known, o.Start)
	}
	seen := map[string]bool{}
	for _, name := range o.Policies {
		if seen[name] {
			return o, fmt.Errorf("%w: the policy %q is named twice", bayesopt.ErrOptions, name)
		}
		seen[name] = true
	}
	o.Steps = min(o.Steps, known-o.Start)
	if o.Retrain.First == 0 {
		o.Retrain.First = max(5, o.Start) // nobody is asked before
	}
	return o, nil
}

// nodesAtOnce is the size of graph up to which replays run beside each other.
// Beyond, each needs memory by the hundred megabytes, and uses all processors by
// itself.
const nodesAtOnce = 100_000

// Simulate measures the nodes of a graph whose values are known already, as each
// policy would have, and keeps score. A value that is NaN is not known, and its
// node no candidate. What is uncovered is the value as it is known: where that is
// the mean of several readings, opts.Count says of how many. Policies start from the same nodes, seed by seed; features
// and eigenvectors are made once, by spec.Seed, and shared. What comes of a policy
// does not depend on the others. The result is the same at any GOMAXPROCS.
//
// When ctx ends it returns what is finished, and the error.
func Simulate(ctx context.Context, g *graph.Graph, truth []float64, spec Spec, opts SimulateOptions) (*Simulation, error) {
	if len(truth) != g.Len() {
		return nil, fmt.Errorf("%w: %d values for %d nodes", bayesopt.ErrOptions, len(truth), g.Len())
	}
	var known []int
	for i, v := range truth {
		if math.IsInf(v, 0) {
			return nil, fmt.Errorf("%w: the value of node %d is infinite", bayesopt.ErrOptions, i)
		}
		if !math.IsNaN(v) {
			known = append(known, i)
		}
	}
	for what, n := range map[string]int{"counts": len(opts.Count), "scatters": len(opts.Scatter)} {
		if n > 0 && n != g.Len() {
			return nil, fmt.Errorf("%w: %d %s of readings for %d nodes", bayesopt.ErrOptions, n, what, g.Len())
		}
	}
	opts, err := opts.check(len(known))
	if err != nil {
		return nil, err
	}
	s := &simulator{trainers: map[string]*Trainer{}, opts: opts, truth: truth, known: known}
	made := map[string]*Trainer{} // by method
	for _, name := range opts.Policies {
		if _, err := bayesopt.PolicyNamed(name, opts.Goal, g.Adjacency()); err != nil {
			return nil, err
		}
		// Scores need variances of many nodes, and the same kernels for all policies.
		fits := drawing(g, spec, opts.Goal.Seeks() && onlyDraws(name, opts.Goal))
		t := made[fits.Method]
		if t == nil {
			if t, err = NewTrainer(g, fits); err != nil {
				return nil, err
			}
			t.KeepFeatures()
			made[fits.Method] = t
		}
		s.trainers[name] = t
	}
	return s.run(ctx)
}

// simulator replays.
type simulator struct {
	trainers map[string]*Trainer // by policy
	opts     SimulateOptions
	truth    []float64
	known    []int
	best     float64 // of the truth, where the goal is to find it
	done     atomic.Int64
}

func (s *simulator) run(ctx context.Context) (*Simulation, error) {
	o := s.opts
	sim := &Simulation{
		Goal: o.Goal, Policies: o.Policies, Known: len(s.known), Start: o.Start, Steps: o.Steps, Seeds: o.Seeds,
		Replays: make([]Replay, o.Seeds*len(o.Policies)),
	}
	if o.Goal.Seeks() {
		sim.findBest(s.truth, s.known)
		s.best = sim.Best.Value
		sim.Uniform = uniformRegret(s.truth, s.known, s.best, o.Start+o.Steps)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	replay := func(_, r int) (err error) {
		mine := &sim.Replays[r]
		err = s.replay(ctx, mine)
		if o.Goal.Seeks() {
			mine.Curve = s.regret(mine.Nodes)
		}
		if err != nil && ctx.Err() == nil {
			stop() // the others
			return fmt.Errorf("policy %s, seed %d: %w", mine.Policy, mine.Seed, err)
		}
		return err
	}
	for r := range sim.Replays {
		sim.Replays[r] = Replay{Policy: o.Policies[r%len(o.Policies)], Seed: r / len(o.Policies)}
	}
	var err error
	if len(s.truth) <= nodesAtOnce {
		err = parallel.Blocks(ctx, len(sim.Replays), replay)
	} else {
		for r := 0; r < len(sim.Replays) && err == nil; r++ {
			err = replay(0, r)
		}
	}
	return sim, err
}

// replay measures by one policy.
func (s *simulator) replay(ctx context.Context, r *Replay) error {
	opts := bayesopt.Options{Goal: s.opts.Goal, Seed: rng.New(s.opts.Seed, "simulate", uint64(r.Seed)).Uint64(), Retrain: s.opts.Retrain}
	if len(s.known) < len(s.truth) {
		opts.Allowed = s.known
		if r.Policy == "learn" { // what is not known is not scored
			opts.Policy = bayesopt.VarianceReduction{Over: s.known}
		}
	}
	o, err := s.trainers[r.Policy].Optimizer(r.Policy, opts)
	if err != nil {
		return err
	}
	tell := func(node int) error {
		r.Nodes = append(r.Nodes, node)
		d := gp.Data{Nodes: []int{node}, Y: []float64{s.truth[node]}}
		if len(s.opts.Count) > 0 {
			d.Count = []int{s.opts.Count[node]}
		}
		if len(s.opts.Scatter) > 0 {
			d.Scatter = []float64{s.opts.Scatter[node]}
		}
		return o.TellAll(d)
	}
	random := rand.New(rng.New(s.opts.Seed, "simulate start", uint64(r.Seed)))
	for _, at := range random.Perm(len(s.known))[:s.opts.Start] {
		if err := tell(s.known[at]); err != nil {
			return err
		}
	}
	total := s.opts.Start + s.opts.Steps
	every, look := max(1, s.opts.Steps/s.opts.Looks), s.opts.Start
	for {
		if len(r.Nodes) >= look || len(r.Nodes) == total {
			if err := s.look(ctx, o, r); err != nil {
				return err
			}
			look = len(r.Nodes) + every
		}
		if len(r.Nodes) == total {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		nodes, _, err := o.Next(ctx, bayesopt.Request{Count: min(s.opts.Batch, total-len(r.Nodes))})
		if err != nil {
			return err
		}
		if len(nodes) == 0 {
			return errors.New("nothing was suggested while nodes are left") // cannot be
		}
		for _, node := range nodes {
			if err := tell(node); err != nil {
				return err
			}
		}
		s.opts.Progress(s.done.Add(int64(len(nodes))), int64(s.opts.Steps*len(s.opts.Policies)*s.opts.Seeds))
	}
	r.Done, r.Effort = true, o.Effort()
	return nil
}

// regret returns how far the best value seen is from the best of all, after
// every measurement.
func (s *simulator) regret(nodes []int) []Point {
	curve, least := make([]Point, len(nodes)), math.Inf(1)
	for k, i := range nodes {
		least = min(least, math.Abs(s.best-s.truth[i]))
		curve[k] = Point{Measured: k + 1, Loss: least}
	}
	return curve
}

// look scores predictions, where the goal has to do with them and there is a
// model.
func (s *simulator) look(ctx context.Context, o *Optimizer, r *Replay) error {
	if s.opts.Goal.Seeks() {
		return nil
	}
	p, err := o.Update(ctx)
	if errors.Is(err, bayesopt.ErrNoModel) {
		return nil
	}
	if err != nil {
		return err
	}
	measured := make([]bool, len(s.truth))
	for _, i := range r.Nodes {
		measured[i] = true
	}
	rest := make([]int, 0, len(s.known))
	for _, i := range s.known {
		if !measured[i] {
			rest = append(rest, i)
		}
	}
	point := Point{Measured: len(r.Nodes)}
	if len(rest) > 0 {
		if level, ok := s.opts.Goal.Level(); ok {
			point.Loss, err = s.misjudged(ctx, p, rest, level)
		} else {
			point.Loss, point.SD, err = s.missed(ctx, p, rest)
		}
	}
	r.Curve = append(r.Curve, point)
	return err
}

// misjudged is the share of all known nodes whose mean is on the wrong side of a
// level; those measured are on the right one.
func (s *simulator) misjudged(ctx context.Context, p *gp.Posterior, rest []int, level float64) (float64, error) {
	mean, err := p.Mean(ctx, rest)
	wrong := 0
	for k, m := range mean {
		if (m > level) != (s.truth[rest[k]] > level) {
			wrong++
		}
	}
	return float64(wrong) / float64(len(s.known)), err
}

// missed is the root mean square error of predictions of the rest, and the mean of
// their standard deviations.
func (s *simulator) missed(ctx context.Context, p *gp.Posterior, rest []int) (rmse, sd float64, err error) {
	q, err := predict(ctx, p, rest)
	if err != nil {
		return 0, 0, err
	}
	for k, m := range q.Mean {
		e := m - s.truth[rest[k]]
		rmse += e * e / float64(len(rest))
		sd += q.SD[k] / float64(len(rest))
	}
	return math.Sqrt(rmse), sd, nil
}
