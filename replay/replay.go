// Package replay measures how well acquisition policies search: it simulates a
// search on values that are already known, reveals a value when a policy picks
// its node, and compares policies with each other and with random picks. Start
// with [Run].
//
// Every policy is replayed with several seeds. A seed determines the random
// starting nodes, which are the same for all policies, so that policies are
// compared seed by seed (paired differences). The loss after each measurement
// depends on the goal:
//
//	Maximize, Minimize  regret: |best known value − best measured value|
//	Learn               root mean square error of predictions at nodes not measured
//	Threshold           share of known nodes predicted on the wrong side of the level
//
// Losses are on the scale that people read: counts and shares are compared as rates,
// values per unit of exposure, with the predicted rates, and errors are weighted by
// exposures, because the variance of a rate is inverse to its exposure. The rates of
// few trials are noisy, and so is the best of them.
//
// For Maximize and Minimize the expected regret of nodes drawn uniformly is
// computed exactly, without replays. Result.Verdict compares a policy with random
// picks or uniform draws by Student's t test.
//
// Policies are values: those of package bayesopt, or any type with a Pick method.
package replay

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/parallel"
	"grfgp/internal/rng"
	"grfgp/plan"
)

// Policy is an acquisition policy and its name in the results.
type Policy struct {
	Name string
	bayesopt.Policy
}

// Named returns policies of package bayesopt by their names (bayesopt.PolicyNames),
// set up for a goal on a graph.
func Named(goal bayesopt.Goal, g *graph.Graph, names ...string) ([]Policy, error) {
	var all []Policy
	for _, name := range names {
		p, err := bayesopt.PolicyNamed(name, goal, g.Adjacency())
		if err != nil {
			return nil, err
		}
		all = append(all, Policy{name, p})
	}
	return all, nil
}

// Options are the options of Run. The zero value replays the default policy of
// Maximize and random picks.
type Options struct {
	Goal     bayesopt.Goal           // zero: Maximize
	Policies []Policy                // names are distinct; nil: Goal.Policy() and bayesopt.Random
	Start    int                     // random nodes measured before a policy is asked, the same for every policy; 0: none
	Steps    int                     // nodes measured after them; 0 means a quarter of the known nodes, but at most 50
	Batch    int                     // nodes asked for at a time; 0 means 1
	Seeds    int                     // replays of every policy; 0 means LeastSeeds
	Seed     uint64                  // of starting nodes and policies
	Count    []int                   // by node: number of measurements whose mean the value is; nil: one each
	Scatter  []float64               // by node: sum of their squared deviations from it; nil: not known
	Exposure []float64               // by node: of counts, or number tested of shares; nil: 1 each
	Retrain  bayesopt.Schedule       // when to fit hyperparameters; First = 0 means Start, but at least 5
	Looks    int                     // number of times that predictions are scored, for Learn and Threshold; 0 means 20
	Progress func(done, total int64) // counts measurements; called concurrently; may be nil
}

// complete checks the options and fills in defaults.
func (o Options) complete(known int) (Options, error) {
	if o.Policies == nil {
		o.Policies = []Policy{{o.Goal.PolicyName(), o.Goal.Policy()}, {"random", bayesopt.Random{}}}
	}
	if o.Steps == 0 {
		o.Steps = max(1, min(50, known/4))
	}
	if o.Batch == 0 {
		o.Batch = 1
	}
	if o.Seeds == 0 {
		o.Seeds = LeastSeeds
	}
	if o.Looks == 0 {
		o.Looks = 20
	}
	if o.Progress == nil {
		o.Progress = func(_, _ int64) {}
	}
	switch {
	case len(o.Policies) == 0:
		return o, fmt.Errorf("%w: there is no policy to replay", bayesopt.ErrOptions)
	case o.Start < 0 || o.Steps < 0 || o.Batch < 0 || o.Seeds < 0 || o.Looks < 0:
		return o, fmt.Errorf("%w: %d starting nodes, %d steps of %d, %d seeds and %d looks", bayesopt.ErrOptions, o.Start, o.Steps, o.Batch,
			o.Seeds, o.Looks)
	case known < 2 || o.Start >= known:
		return o, fmt.Errorf("%w: the values of %d nodes are known, which leaves nothing to choose after %d starting nodes", bayesopt.ErrOptions,
			known, o.Start)
	}
	seen := map[string]bool{}
	for _, p := range o.Policies {
		if p.Policy == nil || p.Name == "" || seen[p.Name] {
			return o, fmt.Errorf("%w: the policy %q has no name, no value, or the name of another", bayesopt.ErrOptions, p.Name)
		}
		seen[p.Name] = true
	}
	o.Steps = min(o.Steps, known-o.Start)
	if o.Retrain.First == 0 {
		o.Retrain.First = max(5, o.Start) // no policy is asked before that
	}
	return o, nil
}

// Run replays searches on known values, one per node; NaN marks a node whose value
// is not known, which is not a candidate. Features and eigenvectors are computed
// once, with spec.Seed, and shared. The result of a policy does not depend on the
// other policies, nor on GOMAXPROCS.
//
// If ctx ends, Run returns the finished replays together with the error.
func Run(ctx context.Context, g *graph.Graph, values []float64, spec grfgp.Spec, opts Options) (*Result, error) {
	if len(values) != g.Len() {
		return nil, fmt.Errorf("%w: %d values for %d nodes", bayesopt.ErrOptions, len(values), g.Len())
	}
	var known []int
	for i, v := range values {
		if math.IsInf(v, 0) {
			return nil, fmt.Errorf("%w: the value of node %d is infinite", bayesopt.ErrOptions, i)
		}
		if !math.IsNaN(v) {
			known = append(known, i)
		}
	}
	for _, of := range []struct {
		what string
		n    int
	}{{"counts", len(opts.Count)}, {"scatters", len(opts.Scatter)}, {"exposures", len(opts.Exposure)}} {
		if of.n > 0 && of.n != g.Len() {
			return nil, fmt.Errorf("%w: %d %s of measurements for %d nodes", bayesopt.ErrOptions, of.n, of.what, g.Len())
		}
	}
	if err := spec.CheckData(g.Len(), opts.data(values, known)); err != nil {
		return nil, fmt.Errorf("%w: %w", bayesopt.ErrOptions, err)
	}
	opts, err := opts.complete(len(known))
	if err != nil {
		return nil, err
	}
	s := &searches{trainers: map[string]*grfgp.Trainer{}, opts: opts, told: values, values: opts.rates(values), known: known}
	made := map[string]*grfgp.Trainer{} // by method
	for _, p := range opts.Policies {
		by := p.Policy
		if !opts.Goal.Seeks() { // scores need variances of many nodes, by the same kernels for all policies
			by = nil
		}
		suited := spec.ForSearch(g, by)
		t := made[suited.Method]
		if t == nil {
			if t, err = grfgp.NewTrainer(g, suited); err != nil {
				return nil, err
			}
			t.KeepFeatures()
			made[suited.Method] = t
		}
		s.trainers[p.Name] = t
	}
	return s.run(ctx)
}

// data returns the measurements of some nodes.
func (o *Options) data(values []float64, nodes []int) gp.Data {
	d := gp.Data{Nodes: nodes, Y: at(values, nodes), Scatter: at(o.Scatter, nodes), Exposure: at(o.Exposure, nodes)}
	d.Count = at(o.Count, nodes)
	return d
}

// at returns the elements of a list for some nodes, nil of an empty list.
func at[T any](list []T, nodes []int) (some []T) {
	if len(list) == 0 {
		return nil
	}
	for _, i := range nodes {
		some = append(some, list[i])
	}
	return some
}

// rates returns the values per unit of exposure.
func (o *Options) rates(values []float64) []float64 {
	if len(o.Exposure) == 0 {
		return values
	}
	all := slices.Clone(values)
	for i := range all {
		all[i] /= o.Exposure[i]
	}
	return all
}

// searches holds the data that all replays of Run share.
type searches struct {
	trainers map[string]*grfgp.Trainer // by policy
	opts     Options
	told     []float64 // by node
	values   []float64 // on the scale of predictions: told, or rates
	known    []int
	best     float64 // known value, for Maximize and Minimize
	done     atomic.Int64
}

func (s *searches) run(ctx context.Context) (*Result, error) {
	o := s.opts
	result := &Result{
		Goal: o.Goal, Known: len(s.known), Start: o.Start, Steps: o.Steps, Seeds: o.Seeds,
		Replays: make([]Replay, o.Seeds*len(o.Policies)),
	}
	for _, p := range o.Policies {
		if _, ok := p.Policy.(bayesopt.Random); ok {
			result.Random = p.Name
		}
		result.Policies = append(result.Policies, p.Name)
	}
	if o.Goal.Seeks() {
		result.findBest(s.values, s.known)
		s.best = result.Best.Value
		result.Uniform = uniformRegret(s.values, s.known, s.best, o.Start+o.Steps)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	replay := func(_, r int) (err error) {
		mine := &result.Replays[r]
		err = s.replay(ctx, mine, o.Policies[r%len(o.Policies)].Policy)
		if o.Goal.Seeks() {
			mine.Curve = s.regret(mine.Nodes)
		}
		if err != nil && ctx.Err() == nil {
			stop() // stops the other replays
			return fmt.Errorf("policy %s, seed %d: %w", mine.Policy, mine.Seed, err)
		}
		return err
	}
	for r := range result.Replays {
		result.Replays[r] = Replay{Policy: o.Policies[r%len(o.Policies)].Name, Seed: r / len(o.Policies)}
	}
	var err error
	if len(s.values) <= plan.Default().ReplayNodes {
		err = parallel.Blocks(ctx, len(result.Replays), replay)
	} else {
		for r := 0; r < len(result.Replays) && err == nil; r++ {
			err = replay(0, r)
		}
	}
	return result, err
}

// optimizer returns the optimizer of one replay.
func (s *searches) optimizer(r *Replay, policy bayesopt.Policy) (*grfgp.Optimizer, error) {
	opts := bayesopt.Options{Goal: s.opts.Goal, Policy: policy, Seed: rng.New(s.opts.Seed, "simulate", uint64(r.Seed)).Uint64(),
		Retrain: s.opts.Retrain}
	if len(s.known) < len(s.values) {
		opts.Allowed = s.known
		if v, ok := policy.(bayesopt.VarianceReduction); ok && v.Over == nil { // only known nodes are scored
			v.Over = s.known
			opts.Policy = v
		}
	}
	return s.trainers[r.Policy].Optimizer(opts)
}

// replay searches by one policy.
func (s *searches) replay(ctx context.Context, r *Replay, policy bayesopt.Policy) error {
	o, err := s.optimizer(r, policy)
	if err != nil {
		return err
	}
	measure := func(nodes []int) error {
		for _, node := range nodes {
			r.Nodes = append(r.Nodes, node)
			if err := o.TellAll(s.opts.data(s.told, []int{node})); err != nil {
				return err
			}
		}
		return nil
	}
	random := rand.New(rng.New(s.opts.Seed, "simulate start", uint64(r.Seed)))
	if err := measure(selected(s.known, random.Perm(len(s.known))[:s.opts.Start])); err != nil {
		return err
	}
	total := s.opts.Start + s.opts.Steps
	every, look := max(1, s.opts.Steps/s.opts.Looks), s.opts.Start
	for {
		if len(r.Nodes) >= look || len(r.Nodes) == total {
			if err := s.score(ctx, o, r); err != nil {
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
			return errors.New("the policy suggested no node while some are left")
		}
		if err := measure(nodes); err != nil {
			return err
		}
		s.opts.Progress(s.done.Add(int64(len(nodes))), int64(s.opts.Steps*len(s.opts.Policies)*s.opts.Seeds))
	}
	r.Done, r.Effort = true, o.Effort()
	return nil
}

// selected returns the elements of a list at some indices.
func selected(list, at []int) []int {
	some := make([]int, len(at))
	for k, i := range at {
		some[k] = list[i]
	}
	return some
}

// regret returns the difference between the best known value and the best
// measured value, after every measurement.
func (s *searches) regret(nodes []int) []Point {
	curve, least := make([]Point, len(nodes)), math.Inf(1)
	for k, i := range nodes {
		least = min(least, math.Abs(s.best-s.values[i]))
		curve[k] = Point{Measured: k + 1, Loss: least}
	}
	return curve
}

// score appends the loss of predictions to the curve, for Learn and Threshold, if
// there is a model.
func (s *searches) score(ctx context.Context, o *grfgp.Optimizer, r *Replay) error {
	if s.opts.Goal.Seeks() {
		return nil
	}
	p, err := o.Snapshot(ctx)
	if errors.Is(err, bayesopt.ErrNoModel) {
		return nil
	}
	if err != nil {
		return err
	}
	measured := make([]bool, len(s.values))
	for _, i := range r.Nodes {
		measured[i] = true
	}
	rest := slices.DeleteFunc(slices.Clone(s.known), func(i int) bool { return measured[i] })
	point := Point{Measured: len(r.Nodes)}
	if len(rest) > 0 {
		if level, ok := s.opts.Goal.Level(); ok {
			point.Loss, err = s.misjudged(ctx, p, rest, level)
		} else {
			point.Loss, point.SD, err = s.predictionError(ctx, p, rest)
		}
	}
	r.Curve = append(r.Curve, point)
	return err
}

// misjudged is the share of all known nodes whose predicted mean is on the wrong
// side of a level; measured nodes count as correct.
func (s *searches) misjudged(ctx context.Context, p *grfgp.Snapshot, rest []int, level float64) (float64, error) {
	q, err := p.Predict(ctx, rest)
	wrong := 0
	for k, m := range q.Mean {
		if (m > level) != (s.values[rest[k]] > level) {
			wrong++
		}
	}
	return float64(wrong) / float64(len(s.known)), err
}

// predictionError is the root mean square error of predictions, weighted by exposures,
// and the mean of their standard deviations.
func (s *searches) predictionError(ctx context.Context, p *grfgp.Snapshot, rest []int) (rmse, sd float64, err error) {
	q, err := p.Predict(ctx, rest)
	if err != nil {
		return 0, 0, err
	}
	weight := func(i int) float64 { return 1 }
	total := float64(len(rest))
	if len(s.opts.Exposure) > 0 {
		weight = func(i int) float64 { return s.opts.Exposure[i] }
		total = 0
		for _, i := range rest {
			total += weight(i)
		}
	}
	for k, m := range q.Mean {
		e := m - s.values[rest[k]]
		rmse += e * e * weight(rest[k]) / total
		sd += q.SD[k] / float64(len(rest))
	}
	return math.Sqrt(rmse), sd, nil
}
