package grfgp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/bayesopt"
	"grfgp/internal/rng"
)

// LabelOptions say which nodes may be suggested for a label.
type LabelOptions struct {
	Allowed []int // nodes, distinct and without a label
	Pending []int // nodes that somebody is about to label: as if they had been
	Limits  bayesopt.Limits
	Seed    uint64
}

// LabelSuggestion is a node whose label would tell much.
type LabelSuggestion struct {
	Node          int
	Probabilities []float64
	Cost          float64
	// Reduction is the share of what is uncertain about the classes of all nodes
	// that the label would take away, given those suggested before: of the mean
	// posterior variance of the probabilities, by the best linear estimate.
	Reduction float64
}

const (
	labelDraws   = 256
	labelNumbers = 2e7 // of all covariances
	labelMost    = 2000
)

// SuggestLabels picks up to n nodes whose labels would tell most about the classes
// of all nodes, one after the other, each as if those before it had been labelled:
// look-alikes tell little once one of them is known. Costs divide what they tell.
// On large graphs a part of the nodes is considered: the least certain and some at
// random.
//
// A label at node i is an indicator per class, with the mean p_i and the variance
// p_i·(1 − p_i) given the probabilities p. With the covariances k_ij of p over
// posterior draws it takes k_ij²/(k_ii + E[p_i·(1 − p_i)]) from the variance of p_j.
func (c *Classification) SuggestLabels(ctx context.Context, n int, opts LabelOptions) ([]LabelSuggestion, bayesopt.Reason, error) {
	s, err := c.newLabelPicker(ctx, n, opts)
	if err != nil {
		return nil, "", err
	}
	for at := range opts.Pending {
		s.candidates.Take(at)
		s.learn(at)
	}
	var picks []LabelSuggestion
	for len(picks) < n {
		if err := ctx.Err(); err != nil {
			return nil, "", err
		}
		best, most, gain := -1, math.Inf(-1), 0.0
		for at := range s.candidates.Len() {
			if !s.candidates.Open(at) {
				continue
			}
			g := s.gain(at)
			if v := g / s.candidates.Cost(at); v > most {
				best, most, gain = at, v, g
			}
		}
		if best < 0 {
			return picks, s.candidates.Short(), nil
		}
		share := 0.0
		if total := s.total(); total > 0 {
			share = min(1, max(0, gain/total))
		}
		picks = append(picks, LabelSuggestion{s.nodes[best], s.p.RawRowView(best), s.candidates.Cost(best), share})
		s.candidates.Take(best)
		s.learn(best)
	}
	return picks, bayesopt.Enough, nil
}

// labelPicker holds the covariances of class probabilities between some nodes:
// pending ones, candidates, and targets that stand for all nodes.
type labelPicker struct {
	nodes      []int
	candidates *bayesopt.Candidates // the first of nodes
	target     []bool
	targets    float64 // how many
	all        float64 // nodes of the graph
	p          *mat.Dense
	cov        []*mat.Dense // by class
	noise      [][]float64  // by class and node: the mean variance of an indicator given the probabilities
	draws      float64
}

func (c *Classification) newLabelPicker(ctx context.Context, n int, opts LabelOptions) (*labelPicker, error) {
	s := &labelPicker{all: float64(len(c.place)), draws: labelDraws}
	if err := s.choose(ctx, c, n, opts); err != nil {
		return nil, err
	}
	draws, err := c.Sample(ctx, s.nodes, labelDraws, opts.Seed)
	if err != nil {
		return nil, err
	}
	widen(draws, c.choice.Fit.Spread)
	if s.p, err = c.Probabilities(ctx, s.nodes); err != nil {
		return nil, err
	}
	z := mat.NewDense(len(s.nodes), labelDraws, nil)
	for class := range c.Classes() {
		noise := make([]float64, len(s.nodes))
		for i := range s.nodes {
			row, mean := z.RawRowView(i), 0.0
			for d, draw := range draws {
				row[d] = draw.At(i, class)
				mean += row[d] / labelDraws
				noise[i] += row[d] * (1 - row[d]) / labelDraws
			}
			for d := range row {
				row[d] = (row[d] - mean) / math.Sqrt(labelDraws-1)
			}
		}
		k := mat.NewDense(len(s.nodes), len(s.nodes), nil)
		k.Mul(z, z.T())
		s.cov, s.noise = append(s.cov, k), append(s.noise, noise)
	}
	return s, nil
}

// widen undoes the spread of a calibration. It is set where labels are, and there
// functions are known well; what a label would tell elsewhere depends on how far
// apart they are by the model itself.
func widen(draws []*mat.Dense, spread float64) {
	if !(spread > 0 && spread < 1) {
		return
	}
	n, classes := draws[0].Dims()
	mean := make([]float64, classes)
	for i := range n {
		clear(mean)
		for _, p := range draws {
			row := p.RawRowView(i)
			for c, v := range row {
				row[c] = math.Log(max(v, 1e-300))
				mean[c] += row[c] / float64(len(draws))
			}
		}
		for _, p := range draws {
			row := p.RawRowView(i)
			for c, v := range row {
				row[c] = mean[c] + (v-mean[c])/spread
			}
			most, sum := slices.Max(row), 0.0
			for c, v := range row {
				row[c] = math.Exp(v - most)
				sum += row[c]
			}
			for c := range row {
				row[c] /= sum
			}
		}
	}
}

// choose decides which nodes are looked at.
func (s *labelPicker) choose(ctx context.Context, c *Classification, n int, opts LabelOptions) error {
	room := max(16, int(min(labelMost, math.Sqrt(labelNumbers/float64(c.Classes())))))
	allowed, targets := opts.Allowed, allOf(len(c.place))
	random := rand.New(rng.New(opts.Seed, "labels"))
	if len(c.place) > room {
		targets = sampled(targets, room/3, random)
		if pool := room - room/3 - len(opts.Pending); len(allowed) > pool {
			if n > pool {
				return fmt.Errorf("%w: %d labels at once beside %d pending, at most %d", bayesopt.ErrOptions, n, len(opts.Pending), max(0, pool))
			}
			var err error
			if allowed, err = c.leastCertain(ctx, allowed, pool, random); err != nil {
				return err
			}
		}
	}
	pending := make([]bool, len(c.place))
	first := slices.Clone(opts.Pending)
	for _, i := range opts.Pending {
		if i >= 0 && i < len(pending) {
			pending[i] = true
		}
	}
	for _, i := range allowed {
		if i < 0 || i >= len(pending) || !pending[i] {
			first = append(first, i)
		}
	}
	var err error
	if s.candidates, err = bayesopt.NewCandidates(len(c.place), first, opts.Limits); err != nil {
		return err
	}
	s.nodes = slices.Clone(first)
	at := make(map[int]int, len(first))
	for k, i := range s.nodes {
		at[i] = k
	}
	s.target = make([]bool, len(s.nodes))
	for _, i := range targets {
		k, known := at[i]
		if !known {
			k = len(s.nodes)
			s.nodes, s.target = append(s.nodes, i), append(s.target, false)
		}
		s.target[k] = true
	}
	s.targets = float64(len(targets))
	return nil
}

func allOf(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// sampled returns n of the nodes, in their order.
func sampled(nodes []int, n int, random *rand.Rand) []int {
	chosen := random.Perm(len(nodes))[:min(n, len(nodes))]
	slices.Sort(chosen)
	return renumbered(chosen, nodes)
}

// leastCertain returns n of the nodes: half of them have the smallest largest
// probability, and the others are drawn at random.
func (c *Classification) leastCertain(ctx context.Context, nodes []int, n int, random *rand.Rand) ([]int, error) {
	p, err := c.Probabilities(ctx, nodes)
	if err != nil {
		return nil, err
	}
	sure := make([]float64, len(nodes))
	for k := range sure {
		sure[k] = slices.Max(p.RawRowView(k))
	}
	order := allOf(len(nodes))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sure[a], sure[b]) })
	half := n / 2
	return append(renumbered(order[:half], nodes), sampled(renumbered(order[half:], nodes), n-half, random)...), nil
}

// indicator returns the variance of a label's indicator of a class.
func (s *labelPicker) indicator(at, class int) float64 {
	return s.noise[class][at] + max(0, s.cov[class].At(at, at)) + 1e-12
}

// gain returns what a label would take from the mean variance over all nodes. The
// squares of covariances that are 0 have an expectation above 0 over few draws,
// which is taken off.
func (s *labelPicker) gain(at int) float64 {
	sum := 0.0
	for class, k := range s.cov {
		row := k.RawRowView(at)
		own, others, count := row[at]*row[at], 0.0, 0.0
		for j, v := range row {
			if s.target[j] && j != at {
				others += v*v - row[at]*k.At(j, j)/s.draws
				count++
			}
		}
		if count > 0 {
			others *= (s.all - 1) / count
		}
		sum += (own + others) / s.all / s.indicator(at, class)
	}
	return sum
}

// total returns the mean variance over all nodes, of all classes.
func (s *labelPicker) total() float64 {
	sum := 0.0
	for _, k := range s.cov {
		for j := range s.nodes {
			if s.target[j] {
				sum += max(0, k.At(j, j)) / s.targets
			}
		}
	}
	return sum
}

// learn takes from all covariances what a label would.
func (s *labelPicker) learn(at int) {
	column := make([]float64, len(s.nodes))
	for class, k := range s.cov {
		copy(column, k.RawRowView(at))
		scale := 1 / s.indicator(at, class)
		for i, v := range column {
			if v == 0 {
				continue
			}
			row, by := k.RawRowView(i), v*scale
			for j, u := range column {
				row[j] -= by * u
			}
		}
	}
}
