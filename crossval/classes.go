package crossval

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/progress"
)

// Baselines of labels.
const (
	// ClassFrequencies predicts the class frequencies of the labels at every node.
	ClassFrequencies Baseline = "majority class"
	// LabelSpreading is the method of Zhou et al. (2004).
	LabelSpreading Baseline = "label spreading"
)

// ClassBaselines returns the baselines of labels, the simplest first. Not all can be computed
// for every graph; see Inputs.ClassBaselines.
func ClassBaselines() []Baseline {
	return []Baseline{ClassFrequencies, LabelSpreading, LeastSquares, SingularRidge}
}

// ReliabilityBins is the number of bins of Reliability and ClassScore.ECE: the
// range [0, 1] of the largest probability is divided into bins of equal width.
const ReliabilityBins = 15

// ClassScore says how well class probabilities predict labels.
type ClassScore struct {
	Accuracy   float64 `json:"accuracy"`    // share of labels whose class is the most probable one
	AccuracySE float64 `json:"accuracy_se"` // its standard error
	NLL        float64 `json:"nll"`         // mean negative log probability of the right class
	NLLSE      float64 `json:"nll_se"`
	ECE        float64 `json:"ece"` // expected calibration error: mean of |accuracy − confidence| over bins
}

// ReliabilityBin compares the confidence (the largest class probability) and the
// accuracy of predictions in one bin of confidence.
type ReliabilityBin struct {
	Count      int     `json:"count"`
	Confidence float64 `json:"confidence"` // mean of the largest probability
	Accuracy   float64 `json:"accuracy"`   // share of predictions that are correct
}

// Reliability bins predictions by their largest probability; row k of p is for a
// node of class[k].
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

// ScoreClasses scores class probabilities against the true classes; row k of p is
// for a node of class[k].
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
	// One correct and one wrong prediction are added, so that the standard error is
	// above 0 even if all predictions are correct or all are wrong.
	share := (s.Accuracy*n + 1) / (n + 2)
	s.AccuracySE = math.Sqrt(share * (1 - share) / (n + 2))
	return s
}

// HeldOutLabel is a held-out label and its prediction from the other folds.
type HeldOutLabel struct {
	Node          int       `json:"node"`
	Fold          int       `json:"fold"`
	Class         int       `json:"class"`
	Predicted     int       `json:"predicted"`
	Probabilities []float64 `json:"probabilities"`
}

// ClassValidation is the result of a cross-validation on labels.
type ClassValidation struct {
	Learned Learned        `json:"learned,omitempty"` // in every fold
	Scheme  Scheme         `json:"scheme"`
	Folds   int            `json:"folds"`
	HeldOut []HeldOutLabel `json:"left"`
	ClassScore
	Baselines   map[Baseline]ClassScore `json:"-"`
	Confusion   [][]int                 `json:"confusion"` // counts by given class (row) and predicted class (column)
	Reliability []ReliabilityBin        `json:"reliability"`
}

// ValidateClasses cross-validates the classifier that spec and method describe; Options say
// what is learned in every fold. Scattered folds are stratified: all have about the same class
// frequencies.
func ValidateClasses(ctx context.Context, g *graph.Graph, l gp.Labels, spec grfgp.Spec, method gp.ClassMethod,
	opts Options) (*ClassValidation, error) {
	if err := l.Check(g.Len()); err != nil {
		return nil, err
	}
	opts, err := opts.complete(l.Nodes)
	if err != nil {
		return nil, err
	}
	t, err := grfgp.NewTrainer(g, spec)
	if err != nil {
		return nil, err
	}
	by := func(method gp.ClassMethod) classFitting {
		return func(ctx context.Context, train gp.Labels, w *progress.Work) (*grfgp.Classification, error) {
			return t.ClassifyProgress(ctx, train, method, w)
		}
	}
	fit, learned, err := opts.fittingClasses(ctx, l, by(method))
	if err != nil {
		return nil, err
	}
	probabilities := func(fit classFitting, train gp.Labels, nodes []int, w *progress.Work) (*mat.Dense, error) {
		c, err := fit(ctx, train, w)
		if err != nil {
			return nil, err
		}
		return c.Probabilities(ctx, nodes)
	}
	v := &ClassValidation{Learned: learned, Scheme: opts.Scheme, Folds: opts.Folds, Baselines: map[Baseline]ClassScore{}}
	var class []int
	var own []float64
	rules := map[Baseline][]float64{}
	inputs := &Inputs{Graph: g, Covariates: spec.Covariates}
	predict := func(_ int, in, out []int, w *progress.Work) (r foldClasses, err error) {
		train, test := selectLabels(l, in), selectLabels(l, out)
		p, err := probabilities(fit, train, test.Nodes, w.Part(0.9, 0.1))
		if err != nil {
			return r, err
		}
		r = foldClasses{Nodes: test.Nodes, Class: test.Class, Own: p.RawMatrix().Data, Rules: map[Baseline][]float64{}}
		for _, rule := range inputs.ClassBaselines() {
			var p *mat.Dense
			if rule == LabelSpreading {
				p, err = probabilities(by(gp.Spreading), train, test.Nodes, w.Part(0.1, 0))
			} else {
				p, err = rule.Classify(ctx, inputs, train, test.Nodes)
			}
			if err != nil {
				return r, err
			}
			r.Rules[rule] = p.RawMatrix().Data
		}
		return r, nil
	}
	err = holdOut(ctx, opts, opts.classFolds(g, l, spec.Seed), predict, func(f int, r foldClasses) {
		for q, i := range r.Nodes {
			row := r.Own[q*l.Classes:][:l.Classes]
			v.HeldOut = append(v.HeldOut, HeldOutLabel{i, f, r.Class[q], slices.Index(row, slices.Max(row)), row})
		}
		class, own = append(class, r.Class...), append(own, r.Own...)
		for rule, data := range r.Rules {
			rules[rule] = append(rules[rule], data...)
		}
	})
	if err != nil {
		return nil, err
	}
	if len(class) == 0 {
		return nil, fmt.Errorf("%w: all labels are at one node; cross-validation needs two", gp.ErrData)
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
	for _, h := range v.HeldOut {
		v.Confusion[h.Class][h.Predicted]++
	}
	return v, nil
}

// foldClasses is what a fold adds to a ClassValidation: probabilities, a row per label.
type foldClasses struct {
	Nodes, Class []int
	Own          []float64
	Rules        map[Baseline][]float64
}

// classFrequencies returns the class frequencies, after adding one label of each
// class, as one row per node.
func classFrequencies(train gp.Labels, nodes int) *mat.Dense {
	p := mat.NewDense(nodes, train.Classes, nil)
	for c, n := range train.Counts() {
		for i := range nodes {
			p.Set(i, c, float64(n+1)/float64(train.Len()+train.Classes))
		}
	}
	return p
}

// selectLabels returns the labels of the given rows.
func selectLabels(l gp.Labels, rows []int) gp.Labels {
	some := gp.Labels{Classes: l.Classes}
	for _, r := range rows {
		some.Nodes, some.Class = append(some.Nodes, l.Nodes[r]), append(some.Class, l.Class[r])
	}
	return some
}
