package grfgp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
)

// ClassBaselines are the simple rules that a classifier has to beat, in the order
// in which they are told.
var ClassBaselines = []string{"majority class", "label spreading"}

// ReliabilityBins is how many bins of the largest probability, of equal width,
// calibration is judged by.
const ReliabilityBins = 15

// ClassScore says how good probabilities of classes are.
type ClassScore struct {
	Accuracy   float64 `json:"accuracy"`    // share of nodes whose likeliest class is right
	AccuracySE float64 `json:"accuracy_se"` // its standard error
	NLL        float64 `json:"nll"`         // mean negative log probability of the right class
	NLLSE      float64 `json:"nll_se"`
	ECE        float64 `json:"ece"` // mean distance of the largest probability from how often it is right
}

// ReliabilityBin is what came of predictions that were about equally sure.
type ReliabilityBin struct {
	Count      int     `json:"count"`
	Confidence float64 `json:"confidence"` // mean of the largest probability
	Accuracy   float64 `json:"accuracy"`   // share of them that are right
}

// Reliability sorts predictions into ReliabilityBins by the largest probability;
// row k of p is about a node of class[k].
func Reliability(p *mat.Dense, class []int) []ReliabilityBin {
	bins := make([]ReliabilityBin, ReliabilityBins)
	for k, c := range class {
		row := p.RawRowView(k)
		best := slices.Index(row, slices.Max(row))
		b := &bins[max(0, min(ReliabilityBins-1, int(ReliabilityBins*row[best])))]
		b.Count++
		b.Confidence += row[best]
		if best == c {
			b.Accuracy++
		}
	}
	for k := range bins {
		if n := float64(bins[k].Count); n > 0 {
			bins[k].Confidence /= n
			bins[k].Accuracy /= n
		}
	}
	return bins
}

// ScoreClasses compares probabilities with the classes that are right; row k of p
// is about a node of class[k].
func ScoreClasses(p *mat.Dense, class []int) (s ClassScore) {
	n := float64(len(class))
	square := 0.0
	for k, c := range class {
		loss := -math.Log(max(p.At(k, c), 1e-300))
		s.NLL += loss / n
		square += loss * loss / n
	}
	s.NLLSE = math.Sqrt(max(0, square-s.NLL*s.NLL) / n)
	for _, b := range Reliability(p, class) {
		s.Accuracy += b.Accuracy * float64(b.Count) / n
		s.ECE += math.Abs(b.Accuracy-b.Confidence) * float64(b.Count) / n
	}
	// One right and one wrong more keep it from being 0 where all are alike.
	share := (s.Accuracy*n + 1) / (n + 2)
	s.AccuracySE = math.Sqrt(share * (1 - share) / (n + 2))
	return s
}

// ClassLeft is a label as it was predicted without its fold.
type ClassLeft struct {
	Node          int       `json:"node"`
	Fold          int       `json:"fold"`
	Class         int       `json:"class"`
	Predicted     int       `json:"predicted"`
	Probabilities []float64 `json:"probabilities"`
}

// ClassValidation says how far to trust a classifier, by labels that it did not
// see.
type ClassValidation struct {
	Scheme Scheme      `json:"scheme"`
	Folds  int         `json:"folds"`
	Left   []ClassLeft `json:"left"`
	ClassScore
	Baselines   map[string]ClassScore `json:"baselines"`
	Confusion   [][]int               `json:"confusion"` // labels of a class, by the class predicted
	Reliability []ReliabilityBin      `json:"reliability"`
}

// ValidateClasses leaves out folds of labels, learns from the others, and compares
// what is predicted with the labels, beside the simple rules. Scattered folds have
// about the same shares of classes each.
func ValidateClasses(ctx context.Context, g *graph.Graph, l gp.Labels, spec Spec, method gp.ClassMethod, opts ValidateOptions) (*ClassValidation, error) {
	if err := l.Check(g.Len()); err != nil {
		return nil, err
	}
	if err := opts.check(l.Len(), "labels"); err != nil {
		return nil, err
	}
	t, err := NewTrainer(g, spec)
	if err != nil {
		return nil, err
	}
	k := opts.Folds
	v := &ClassValidation{Scheme: opts.Scheme, Folds: k, Baselines: map[string]ClassScore{}}
	fold := t.classFolds(l, k, opts.Scheme, spec.Seed)
	var class []int
	var own []float64
	rules := map[string][]float64{}
	for f := range k {
		train, test := splitLabels(l, fold, f)
		if test.Len() == 0 {
			continue
		}
		p, err := t.classProbabilities(ctx, train, method, test.Nodes)
		if err != nil {
			return nil, fmt.Errorf("fold %d of %d: %w", f+1, k, err)
		}
		for q, i := range test.Nodes {
			row := p.RawRowView(q)
			v.Left = append(v.Left, ClassLeft{i, f, test.Class[q], slices.Index(row, slices.Max(row)), row})
			own = append(own, row...)
		}
		class = append(class, test.Class...)
		for _, name := range ClassBaselines {
			if name == "label spreading" {
				if p, err = t.classProbabilities(ctx, train, gp.Spreading, test.Nodes); err != nil {
					return nil, fmt.Errorf("fold %d of %d: %w", f+1, k, err)
				}
			} else {
				p = classShares(train, test.Len())
			}
			rules[name] = append(rules[name], p.RawMatrix().Data...)
		}
		opts.progress(f + 1)
	}
	table := func(data []float64) *mat.Dense { return mat.NewDense(len(class), l.Classes, data) }
	v.ClassScore = ScoreClasses(table(own), class)
	v.Reliability = Reliability(table(own), class)
	for name, data := range rules {
		v.Baselines[name] = ScoreClasses(table(data), class)
	}
	v.Confusion = make([][]int, l.Classes)
	for c := range v.Confusion {
		v.Confusion[c] = make([]int, l.Classes)
	}
	for _, left := range v.Left {
		v.Confusion[left.Class][left.Predicted]++
	}
	return v, nil
}

// classProbabilities learns from labels and returns the chances at some nodes.
func (t *Trainer) classProbabilities(ctx context.Context, train gp.Labels, method gp.ClassMethod, nodes []int) (*mat.Dense, error) {
	c, err := t.Classify(ctx, train, method)
	if err != nil {
		return nil, err
	}
	return c.Probabilities(ctx, nodes)
}

// classShares gives so many nodes the shares of the classes, with one label more
// of each.
func classShares(train gp.Labels, nodes int) *mat.Dense {
	p := mat.NewDense(nodes, train.Classes, nil)
	for c, n := range train.Counts() {
		for i := range nodes {
			p.Set(i, c, float64(n+1)/float64(train.Len()+train.Classes))
		}
	}
	return p
}

// splitLabels returns the labels outside and inside fold f.
func splitLabels(l gp.Labels, fold []int, f int) (train, test gp.Labels) {
	train.Classes, test.Classes = l.Classes, l.Classes
	for k, i := range l.Nodes {
		to := &train
		if fold[k] == f {
			to = &test
		}
		to.Nodes, to.Class = append(to.Nodes, i), append(to.Class, l.Class[k])
	}
	return train, test
}

// classFolds assigns every label to one of k folds, all labels of a node to the
// same. Scattered ones are dealt out class by class, so that no fold has all labels
// of a class that has more than one.
func (t *Trainer) classFolds(l gp.Labels, k int, scheme Scheme, seed uint64) []int {
	if scheme == Neighbourhoods {
		return t.folds(l.Nodes, k, scheme, seed)
	}
	order := labelOrder(l)
	random := rand.New(rng.New(seed, "folds"))
	random.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(l.Class[a], l.Class[b]) })
	fold, of, dealt := make([]int, l.Len()), map[int]int{}, 0
	for _, r := range order {
		f, again := of[l.Nodes[r]]
		if !again {
			f = dealt % k
			of[l.Nodes[r]] = f
			dealt++
		}
		fold[r] = f
	}
	return fold
}
