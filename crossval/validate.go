package crossval

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"grfgp"
	"grfgp/covariate"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/parallel"
	"grfgp/progress"
)

// Validation is the result of a cross-validation on measurements. Errors are on the
// scale that people read. Those of counts are errors of rates and those of shares of
// probabilities, weighted by exposures, as the variance of a rate is inverse to its
// exposure: for shares RMSE² is, up to a constant, the Brier score of single trials.
type Validation struct {
	Scheme  Scheme    `json:"scheme"`
	Folds   int       `json:"folds"`
	HeldOut []HeldOut `json:"left"`
	RMSE    float64   `json:"rmse"`
	RMSESE  float64   `json:"rmse_se"` // standard error of RMSE
	// mean negative log predictive density; of counts, shares and yes-no values log probability
	NLPD         float64              `json:"-"`
	Coverage     Coverages            `json:"coverage"`
	BaselineRMSE map[Baseline]float64 `json:"-"`
	Values       gp.Values            `json:"values,omitempty"`  // what is measured
	Learned      Learned              `json:"learned,omitempty"` // in every fold
	// of the predictions at held-out nodes; the error of walks is that of the first fold; nil: not computed
	Limits *grfgp.Limits `json:"limits,omitempty"`
}

// HeldOut is a held-out measurement and its prediction from the other folds. Of counts
// and shares, value, mean and sd are per unit of exposure.
type HeldOut struct {
	Node  int     `json:"node"`
	Fold  int     `json:"fold"`
	Value float64 `json:"value"`
	Mean  float64 `json:"mean"` // of Student values under a transform, which may have none, the median
	// noise included: σ for one measurement, σ/√n for the mean of n; of Student values under a transform half the width of the 68 % interval
	SD       float64 `json:"sd"`
	PIT      float64 `json:"pit"`                // predicted probability of a lower value, and half of that of the same
	Exposure float64 `json:"exposure,omitempty"` // of counts and shares

	Period int `json:"period,omitempty"` // of a model with times

	density density
}

// density is what scores need of a prediction beside its moments.
type density struct {
	LogDensity float64  // of the measurement
	Inside     []inside // by level; nil: by PIT
}

// inside says whether a measurement is in its interval, and how probable that was.
type inside struct {
	Is       bool
	Expected float64
}

// Coverage is the share of held-out values inside their central credible
// intervals at one level.
type Coverage struct {
	Level    float64
	Share    float64
	Expected float64 // share by the model itself: the level, or more for intervals of whole numbers; 0: the level
}

// Coverages are the coverages at several levels, in increasing order. In JSON they
// are an object with the levels as keys.
type Coverages []Coverage

// levels are the levels of credible intervals whose coverage is measured.
var levels = []float64{0.5, 0.8, 0.95}

// At returns the coverage at a level; NaN if it was not measured.
func (c Coverages) At(level float64) float64 {
	for _, one := range c {
		if one.Level == level {
			return one.Share
		}
	}
	return math.NaN()
}

// MarshalJSON writes {"0.5": share, …}.
func (c Coverages) MarshalJSON() ([]byte, error) {
	object := map[string]float64{}
	for _, one := range c {
		object[fmt.Sprint(one.Level)] = one.Share
	}
	return json.Marshal(object)
}

// predictor is the part of a fitted model that the hold-out loop needs.
type predictor interface {
	Predict(ctx context.Context, nodes []int) (grfgp.Prediction, error)
	NoiseSD() float64
}

// Validate cross-validates the model that spec describes; Options say what is learned in
// every fold. The mean of n measurements (gp.Data.Count) counts as one value. With Spec.Times, d has places
// (see grfgp.Place), which are held out one by one, and baselines of the graph are
// those of the same period.
func Validate(ctx context.Context, g *graph.Graph, d gp.Data, spec grfgp.Spec, opts Options) (*Validation, error) {
	if err := spec.CheckData(g.Len(), d); err != nil {
		return nil, err
	}
	opts.times = spec.Times
	opts, err := opts.complete(d.Nodes)
	if err != nil {
		return nil, err
	}
	fit, learned, err := opts.fitting(ctx, g, d, spec)
	if err != nil {
		return nil, err
	}
	v, err := validate(ctx, g, d, opts, spec.Covariates, spec.Seed,
		func(f int, train, test gp.Data, w *progress.Work) (predictor, grfgp.Prediction, *grfgp.Limits, error) {
			m, err := fit(ctx, train, w.Part(0.9, 0.1))
			if err != nil {
				return nil, grfgp.Prediction{}, nil, err
			}
			p, err := m.Predict(ctx, test.Nodes)
			if err != nil {
				return nil, p, nil, err
			}
			if f == 0 { // the error of walks hardly differs between folds
				limits, err := m.Limits(ctx, test.Nodes, p)
				return m, p, limits, err
			}
			count, err := m.PriorOnly(ctx, test.Nodes)
			return m, p, &grfgp.Limits{Nodes: test.Len(), PriorOnly: count}, err
		})
	if err != nil {
		return nil, err
	}
	if len(v.HeldOut) == 0 {
		return nil, errOneNode
	}
	v.Learned = learned
	return v, nil
}

// errOneNode is the error of a validation without anything to hold out.
var errOneNode = fmt.Errorf("%w: all measurements are at one node; cross-validation needs two", gp.ErrData)

// ValidateSnapshot cross-validates the model of a snapshot with fixed
// hyperparameters; seed determines the folds. It takes a fraction of the time of
// Validate and is slightly optimistic, because the hyperparameters were fitted to
// all folds. Baselines that take long are left out.
func ValidateSnapshot(ctx context.Context, s *grfgp.Snapshot, seed uint64) (*Validation, error) {
	d := s.Data()
	opts := Options{Folds: min(DefaultFolds, d.Len()), Scheme: Scattered, quick: true}
	return validate(ctx, s.Graph(), d, opts, s.Chosen().Covariates, seed,
		func(_ int, train, test gp.Data, _ *progress.Work) (predictor, grfgp.Prediction, *grfgp.Limits, error) {
			m, err := s.Condition(ctx, train)
			if err != nil {
				return nil, grfgp.Prediction{}, nil, err
			}
			p, err := m.Predict(ctx, test.Nodes)
			return m, p, nil, err
		})
}

// foldScores is what a fold adds to a Validation.
type foldScores struct {
	Held      []HeldOut
	Densities []density // of Held
	Squares   map[Baseline]float64
	Values    gp.Values
	Limits    *grfgp.Limits
}

// validate is the hold-out loop over measurements. predict may return no limits.
func validate(ctx context.Context, g *graph.Graph, d gp.Data, opts Options, known *covariate.Set, seed uint64,
	predict func(f int, train, test gp.Data, w *progress.Work) (predictor, grfgp.Prediction, *grfgp.Limits, error)) (*Validation, error) {
	v := &Validation{Scheme: opts.Scheme, Folds: opts.Folds, BaselineRMSE: map[Baseline]float64{}}
	squares := map[Baseline]float64{}
	inputs := &Inputs{Graph: g, Covariates: known}
	score := func(f int, in, out []int, w *progress.Work) (s foldScores, err error) {
		train, test := d.Select(in), d.Select(out)
		m, p, limits, err := predict(f, train, test, w)
		if err != nil {
			return s, err
		}
		s = foldScores{Held: compare(g, f, test, p, m.NoiseSD()), Squares: map[Baseline]float64{}, Values: p.At(0).Values(), Limits: limits}
		for _, h := range s.Held {
			s.Densities = append(s.Densities, h.density)
		}
		train, test = rates(train), rates(test)
		for _, rule := range opts.rules(inputs) {
			all, err := opts.predictRows(ctx, rule, inputs, train, test)
			if err != nil {
				return s, err
			}
			for r, y := range test.Y {
				s.Squares[rule] += weightOf(test, r) * (all[r] - y) * (all[r] - y)
			}
		}
		return s, nil
	}
	err := holdOut(ctx, opts, opts.folds(g, d.Nodes, seed), score, func(_ int, s foldScores) {
		for r := range s.Held {
			s.Held[r].density = s.Densities[r]
		}
		v.HeldOut, v.Values = append(v.HeldOut, s.Held...), s.Values
		for rule, sum := range s.Squares {
			squares[rule] += sum
		}
		switch {
		case v.Limits == nil:
			v.Limits = s.Limits
		case s.Limits != nil:
			v.Limits.Nodes += s.Limits.Nodes
			v.Limits.PriorOnly += s.Limits.PriorOnly
		}
	})
	if err != nil {
		return nil, err
	}
	v.summarise(squares)
	return v, nil
}

// compare returns the predictions of a fold beside its measurements. noise is the
// standard deviation of the noise of one measurement; it is used if Gaussian values have
// no noise variance of their own.
func compare(g *graph.Graph, fold int, test gp.Data, p grfgp.Prediction, noise float64) []HeldOut {
	held := make([]HeldOut, test.Len())
	parallel.Ranges(test.Len(), 16, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			h := &held[r]
			h.Node, h.Period = grfgp.AtPlace(g, test.Nodes[r])
			h.Fold, h.Value = fold, test.Y[r]
			if q := p.At(r); q.Plain() {
				h.plain(test, r, p, noise)
			} else {
				h.predict(test, r, q)
			}
		}
	})
	return held
}

// plain compares a Gaussian measurement with its prediction.
func (h *HeldOut) plain(test gp.Data, r int, p grfgp.Prediction, noise float64) {
	switch {
	case test.NoiseVar != nil:
		noise = math.Sqrt(test.NoiseVar[r])
	case test.Count != nil:
		noise /= math.Sqrt(float64(test.Count[r]))
	}
	h.Mean, h.SD = p.Mean[r], math.Hypot(p.SD[r], noise)
	h.PIT = distuv.UnitNormal.CDF((h.Value - h.Mean) / h.SD)
	e := (h.Value - h.Mean) * (h.Value - h.Mean)
	h.density.LogDensity = -(e/(2*h.SD*h.SD) + math.Log(2*math.Pi*h.SD*h.SD)/2)
}

// predict compares any measurement with its prediction.
func (h *HeldOut) predict(test gp.Data, r int, q gp.Response) {
	y, exposure := test.Y[r], 1.0
	if test.Exposure != nil {
		exposure = test.Exposure[r]
		h.Exposure = exposure
	}
	m := q.Measurement(exposure)
	if test.NoiseVar != nil {
		m = q.Noisy(test.NoiseVar[r]).Measurement(exposure)
	}
	h.Value, h.Mean, h.SD = y/exposure, m.Mean()/exposure, m.SD()/exposure
	if math.IsInf(h.SD, 1) {
		lower, upper := m.Interval(0.6827)
		h.Mean, h.SD = m.Quantile(0.5), (upper-lower)/2
	}
	h.density.LogDensity = m.LogDensity(y)
	h.PIT = m.Place(y)
	if !q.Values().About().Whole {
		return
	}
	for _, level := range levels {
		lower, upper := m.Interval(level)
		h.density.Inside = append(h.density.Inside, inside{lower <= y && y <= upper, m.CDF(upper) - m.CDF(lower-1)})
	}
}

// rates returns counts and shares per unit of exposure.
func rates(d gp.Data) gp.Data {
	if d.Exposure == nil {
		return d
	}
	d = d.Clone()
	for k, e := range d.Exposure {
		d.Y[k] /= e
	}
	return d
}

// summarise computes the scores from HeldOut and the squared errors of baselines.
func (v *Validation) summarise(squares map[Baseline]float64) {
	n, weights := float64(len(v.HeldOut)), 0.0
	for _, level := range levels {
		v.Coverage = append(v.Coverage, Coverage{Level: level, Expected: level})
	}
	for _, h := range v.HeldOut {
		weights += h.weight()
	}
	sum, sum4 := 0.0, 0.0
	for _, h := range v.HeldOut {
		e := (h.Value - h.Mean) * (h.Value - h.Mean) * (n * h.weight() / weights)
		sum += e / n
		sum4 += e * e / n
		v.NLPD -= h.density.LogDensity / n
		for k := range v.Coverage {
			if h.in(k) {
				v.Coverage[k].Share += 1 / n
			}
		}
	}
	for k := range v.Coverage {
		if len(v.HeldOut) > 0 && v.HeldOut[0].density.Inside != nil {
			v.Coverage[k].Expected = 0
			for _, h := range v.HeldOut {
				v.Coverage[k].Expected += h.density.Inside[k].Expected / n
			}
		}
	}
	v.RMSE = math.Sqrt(sum)
	if v.RMSE > 0 {
		v.RMSESE = math.Sqrt(max(0, sum4-sum*sum)/n) / (2 * v.RMSE)
	}
	for rule, s := range squares {
		v.BaselineRMSE[rule] = math.Sqrt(s / weights)
	}
}

// weight returns the weight of the error: the exposure, 1 for values without.
func (h *HeldOut) weight() float64 {
	if h.Exposure == 0 {
		return 1
	}
	return h.Exposure
}

// in reports whether the measurement is in the interval of levels[k].
func (h *HeldOut) in(k int) bool {
	if h.density.Inside != nil {
		return h.density.Inside[k].Is
	}
	return math.Abs(h.PIT-0.5) <= levels[k]/2
}
