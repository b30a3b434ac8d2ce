package bayesopt

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/rng"
	"grfgp/progress"
)

// ClassSurrogate is the classifier that SuggestLabels sees. A
// *grfgp.Classification is one.
type ClassSurrogate interface {
	// Nodes returns the number of nodes.
	Nodes() int
	// Classes returns the number of classes.
	Classes() int
	// Spread returns the factor by which the calibration has scaled the deviations of
	// the latent functions from their means; 0 means 1.
	Spread() float64
	// Probabilities returns the probability of each class, a row per node.
	Probabilities(ctx context.Context, nodes []int) (*mat.Dense, error)
	// Sample returns posterior draws of these probabilities.
	Sample(ctx context.Context, nodes []int, draws int, seed uint64) ([]*mat.Dense, error)
}

// LabelOptions are the options of SuggestLabels.
type LabelOptions struct {
	Allowed []int    // nodes that may be suggested, distinct and without a label
	Pending []int    // nodes suggested before, not labelled yet: treated as labelled
	Limits  Limits   // costs and groups of nodes
	Budget  *float64 // most that the suggested nodes may cost together; nil: no limit
	Seed    uint64   // of posterior draws and samples of nodes

	Progress *progress.Work // is told how far the choice is; nil: nobody is
}

// tellingSurrogate is a ClassSurrogate that can tell how far it is.
type tellingSurrogate interface {
	ProbabilitiesProgress(ctx context.Context, nodes []int, w *progress.Work) (*mat.Dense, error)
	SampleProgress(ctx context.Context, nodes []int, draws int, seed uint64, w *progress.Work) ([]*mat.Dense, error)
}

func probabilities(ctx context.Context, c ClassSurrogate, nodes []int, w *progress.Work) (*mat.Dense, error) {
	if t, ok := c.(tellingSurrogate); ok {
		return t.ProbabilitiesProgress(ctx, nodes, w)
	}
	return c.Probabilities(ctx, nodes)
}

func sample(ctx context.Context, c ClassSurrogate, nodes []int, seed uint64, w *progress.Work) ([]*mat.Dense, error) {
	if t, ok := c.(tellingSurrogate); ok {
		return t.SampleProgress(ctx, nodes, labelDraws, seed, w)
	}
	return c.Sample(ctx, nodes, labelDraws, seed)
}

// LabelSuggestion is a node to label.
type LabelSuggestion struct {
	Node          int
	Probabilities []float64
	Cost          float64
	// Reduction is the share of the total posterior variance of the class
	// probabilities that the label would explain, given the suggestions before, by
	// a linear estimate.
	Reduction float64
}

const (
	labelDraws   = 256
	labelNumbers = 2e7       // covariances in memory
	labelMost    = 2000      // nodes considered
	labelChance  = 16. / 256 // squared correlations below it (4 standard errors) are sampling noise of the draws
)

// SuggestLabels picks up to n nodes to label: those whose labels would most
// reduce the posterior variance of the class probabilities, summed over all
// nodes. It picks one node after the other, each given the labels of the earlier
// picks, so that a batch spreads out. With costs nodes are ranked by reduction
// per cost. On large graphs it considers the least certain nodes and a random
// sample of the others. The Reason says why there are fewer than n.
//
// Let f be the latent function of a class, p its probability, and take covariances
// over posterior draws. A label at node i explains the share
//
//	e_i = cov(f_i, p_i)² / (var f_i · E p_i · (1 − E p_i))
//
// of var f_i, and e_i·corr(f_i, f_j)² of var f_j; var p_j is reduced by the same
// share.
func SuggestLabels(ctx context.Context, c ClassSurrogate, n int, opts LabelOptions) ([]LabelSuggestion, Reason, error) {
	s, err := newLabelPicker(ctx, c, n, opts)
	if err != nil {
		return nil, "", err
	}
	for at := range opts.Pending {
		s.candidates.Take(at)
		s.learn(at)
	}
	var picks []LabelSuggestion
	picking := opts.Progress.Part(1, 0)
	picking.Step("picking nodes")
	for len(picks) < n {
		picking.Count(int64(len(picks)), int64(n))
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
			opts.Progress.Done()
			return picks, s.candidates.Short(), nil
		}
		share := 0.0
		if total := s.total(); total > 0 {
			share = min(1, gain/total)
		}
		picks = append(picks, LabelSuggestion{s.nodes[best], s.p.RawRowView(best), s.candidates.Cost(best), share})
		s.candidates.Take(best)
		s.learn(best)
	}
	opts.Progress.Done()
	return picks, Enough, nil
}

// labelPicker holds the posterior covariances of pending nodes, candidates, and a
// weighted sample that represents all nodes.
type labelPicker struct {
	nodes      []int
	candidates *Candidates // the first of nodes
	weight     []float64   // number of nodes that a node represents
	p          *mat.Dense
	classes    []labelClass
}

// labelClass holds the posterior covariances of one class.
type labelClass struct {
	cov   *mat.Dense // of latent functions
	noise []float64  // variance of the noise with which a label at node i observes f_i
	scale []float64  // var p_i / var f_i
}

func newLabelPicker(ctx context.Context, c ClassSurrogate, n int, opts LabelOptions) (*labelPicker, error) {
	s := &labelPicker{}
	if err := s.choose(ctx, c, n, opts); err != nil {
		return nil, err
	}
	opts.Progress.Step("drawing class probabilities")
	draws, err := sample(ctx, c, s.nodes, opts.Seed, opts.Progress.Part(2, 2))
	if err != nil {
		return nil, err
	}
	if s.p, err = probabilities(ctx, c, s.nodes, opts.Progress.Part(1, 1)); err != nil {
		return nil, err
	}
	latent := widen(draws, c.Spread())
	for class := range c.Classes() {
		s.classes = append(s.classes, newLabelClass(latent, draws, s.p, class))
	}
	return s, nil
}

// newLabelClass computes the moments of draws. Where the calibrated probabilities
// are more certain than the draws, a label carries less information.
func newLabelClass(latent, p []*mat.Dense, calibrated *mat.Dense, class int) labelClass {
	n, _ := calibrated.Dims()
	of := labelClass{mat.NewDense(n, n, nil), make([]float64, n), make([]float64, n)}
	f, q := mat.NewDense(n, labelDraws, nil), make([]float64, labelDraws)
	for i := range n {
		row := f.RawRowView(i)
		for d := range row {
			row[d], q[d] = latent[d].At(i, class), p[d].At(i, class)
		}
		mean := center(q)
		center(row)
		varF, varP, both := dot(row, row), dot(q, q), dot(row, q)
		sure := calibrated.At(i, class)
		label := max(varP, mean*(1-mean)) // variance of its indicator
		explained := 0.0
		if varF > 0 && label > 0 {
			doubt := min(1, sure*(1-sure)/label)
			explained = min(1, doubt*both*both/(varF*label))
			of.scale[i] = varP / varF
		}
		of.noise[i] = varF * (1/max(explained, 1e-12) - 1)
	}
	of.cov.Mul(f, f.T())
	return of
}

// center subtracts the mean and divides by √(n − 1), so that inner products are
// covariances; it returns the mean.
func center(x []float64) float64 {
	mean := meanOf(x)
	for k := range x {
		x[k] = (x[k] - mean) / math.Sqrt(float64(len(x)-1))
	}
	return mean
}

func meanOf(y []float64) float64 {
	sum := 0.0
	for _, v := range y {
		sum += v / float64(len(y))
	}
	return sum
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for k, v := range x {
		sum += v * y[k]
	}
	return sum
}

// widen reverses the Spread of the calibration in draws, and returns the latent
// functions as well. Spread is fitted at labelled nodes, where the latent functions
// are known well. The information in a label elsewhere depends on their variance
// under the uncalibrated model.
func widen(draws []*mat.Dense, spread float64) []*mat.Dense {
	if !(spread > 0) {
		spread = 1
	}
	n, classes := draws[0].Dims()
	latent := make([]*mat.Dense, len(draws))
	for d := range latent {
		latent[d] = mat.NewDense(n, classes, nil)
	}
	mean := make([]float64, classes)
	for i := range n {
		clear(mean)
		for d, p := range draws {
			to := latent[d].RawRowView(i)
			for c, v := range p.RawRowView(i) {
				to[c] = math.Log(max(v, 1e-300))
			}
			level := meanOf(to) // arbitrary: the softmax does not depend on it
			for c := range to {
				to[c] -= level
				mean[c] += to[c] / float64(len(draws))
			}
		}
		for d, p := range draws {
			row, to := p.RawRowView(i), latent[d].RawRowView(i)
			for c, v := range to {
				to[c] = mean[c] + (v-mean[c])/spread
			}
			most, sum := slices.Max(to), 0.0
			for c, v := range to {
				row[c] = math.Exp(v - most)
				sum += row[c]
			}
			for c := range row {
				row[c] /= sum
			}
		}
	}
	return latent
}

// choose selects the nodes to consider: all nodes, or the least certain ones and a
// random sample in which each node represents several of the others; and additional
// candidates.
func (s *labelPicker) choose(ctx context.Context, c ClassSurrogate, n int, opts LabelOptions) error {
	room := max(16, int(min(labelMost, math.Sqrt(labelNumbers/float64(c.Classes())))))
	opts.Progress.Step("looking for doubtful nodes")
	order, err := byCertainty(ctx, c, opts.Progress.Part(1, 2))
	if err != nil {
		return err
	}
	weight := make([]float64, len(order)) // by node
	for i := range weight {
		weight[i] = 1
	}
	chosen := order
	if len(order) > room {
		doubtful := room * 3 / 4
		rest := order[doubtful:]
		some := make([]int, room-doubtful)
		for k, at := range rand.New(rng.New(opts.Seed, "labels")).Perm(len(rest))[:len(some)] {
			some[k] = rest[at]
		}
		for _, i := range rest {
			weight[i] = 0
		}
		for _, i := range some {
			weight[i] = float64(len(rest)) / float64(len(some))
		}
		chosen = slices.Concat(order[:doubtful], some)
	}
	first, err := candidatesOf(order, weight, room/4, n, opts)
	if err != nil {
		return err
	}
	if err := opts.Limits.Check(len(order)); err != nil {
		return err
	}
	budget := opts.Budget
	if budget != nil { // pending nodes will be taken too
		all := *budget
		for _, i := range opts.Pending {
			all += opts.Limits.CostOf(i)
		}
		budget = &all
	}
	if s.candidates, err = NewCandidates(len(order), first, opts.Limits, budget); err != nil {
		return err
	}
	s.nodes = slices.Clone(first)
	in := make([]bool, len(order))
	for _, i := range first {
		in[i] = true
	}
	for _, i := range chosen {
		if !in[i] {
			s.nodes = append(s.nodes, i)
		}
	}
	for _, i := range s.nodes {
		s.weight = append(s.weight, weight[i])
	}
	return nil
}

// candidatesOf returns the pending nodes and the nodes that may be suggested, in
// the given order. At most extra of the latter have weight zero, that is,
// represent no node.
func candidatesOf(order []int, weight []float64, extra, n int, opts LabelOptions) ([]int, error) {
	may := make([]bool, len(order))
	for _, i := range slices.Concat(opts.Allowed, opts.Pending) {
		if i < 0 || i >= len(order) {
			return nil, fmt.Errorf("%w: there is no node %d of %d to label", ErrOptions, i, len(order))
		}
		may[i] = true
	}
	for _, i := range opts.Pending {
		may[i] = false
	}
	first, left := slices.Clone(opts.Pending), 0
	for _, i := range order {
		switch {
		case !may[i]:
		case weight[i] > 0:
			first = append(first, i)
		case extra > 0:
			extra--
			first = append(first, i)
		default:
			left++
		}
	}
	if found := len(first) - len(opts.Pending); left > 0 && n > found {
		return nil, fmt.Errorf("%w: %d labels at once, at most %d", ErrOptions, n, found)
	}
	return first, nil
}

// byCertainty returns all nodes, by increasing probability of their most probable
// class.
func byCertainty(ctx context.Context, c ClassSurrogate, w *progress.Work) ([]int, error) {
	order := allNodes(c.Nodes())
	p, err := probabilities(ctx, c, order, w)
	if err != nil {
		return nil, err
	}
	sure := make([]float64, len(order))
	for i := range sure {
		sure[i] = slices.Max(p.RawRowView(i))
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(sure[a], sure[b]), cmp.Compare(a, b)) })
	return order, nil
}

// gain returns the reduction of the total variance of probabilities by a label.
func (s *labelPicker) gain(at int) float64 {
	sum := 0.0
	for _, class := range s.classes {
		row := class.cov.RawRowView(at)
		own := row[at]
		if !(own > 0) {
			continue
		}
		part := own * own * class.scale[at]
		for j, v := range row {
			if s.weight[j] > 0 && j != at && v*v > labelChance*own*class.cov.At(j, j) {
				part += s.weight[j] * v * v * class.scale[j]
			}
		}
		sum += part / (own + class.noise[at])
	}
	return sum
}

// total returns the variance of the probabilities of all nodes.
func (s *labelPicker) total() float64 {
	sum := 0.0
	for _, class := range s.classes {
		for j, w := range s.weight {
			sum += w * max(0, class.cov.At(j, j)) * class.scale[j]
		}
	}
	return sum
}

// learn conditions all covariances on a label at a candidate.
func (s *labelPicker) learn(at int) {
	column := make([]float64, len(s.nodes))
	for _, class := range s.classes {
		copy(column, class.cov.RawRowView(at))
		own := column[at]
		if !(own > 0) {
			continue
		}
		for j, v := range column {
			if j != at && v*v <= labelChance*own*class.cov.At(j, j) {
				column[j] = 0
			}
		}
		for i, v := range column {
			if v == 0 {
				continue
			}
			row, by := class.cov.RawRowView(i), v/(own+class.noise[at])
			for j, u := range column {
				row[j] -= by * u
			}
		}
	}
}
