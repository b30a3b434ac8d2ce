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
)

// Validation is the result of a cross-validation on measurements.
type Validation struct {
	Scheme       Scheme               `json:"scheme"`
	Folds        int                  `json:"folds"`
	HeldOut      []HeldOut            `json:"left"`
	RMSE         float64              `json:"rmse"`
	RMSESE       float64              `json:"rmse_se"` // standard error of RMSE
	NLPD         float64              `json:"nlpd"`    // mean negative log predictive density
	Coverage     Coverages            `json:"coverage"`
	BaselineRMSE map[Baseline]float64 `json:"baseline_rmse"`
	Limits       *grfgp.Limits        `json:"limits,omitempty"` // of the predictions at held-out nodes; the error of walks is that of the first fold; nil: not computed
}

// HeldOut is a held-out measurement and its prediction from the other folds.
type HeldOut struct {
	Node  int     `json:"node"`
	Fold  int     `json:"fold"`
	Value float64 `json:"value"`
	Mean  float64 `json:"mean"`
	SD    float64 `json:"sd"`  // noise included: σ for one measurement, σ/√n for the mean of n
	PIT   float64 `json:"pit"` // predicted probability of a lower value

	Period int `json:"period,omitempty"` // of a model with times
}

// Coverage is the share of held-out values inside their central credible
// intervals at one level.
type Coverage struct {
	Level float64
	Share float64
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

// Validate cross-validates the model that spec describes. Kernel and
// hyperparameters are chosen again for every fold, from the other folds. The mean
// of n measurements (gp.Data.Count) counts as one value. With Spec.Times, d has places
// (see grfgp.Place), which are held out one by one, and baselines of the graph are
// those of the same period.
func Validate(ctx context.Context, g *graph.Graph, d gp.Data, spec grfgp.Spec, opts Options) (*Validation, error) {
	if err := d.Check(g.Len() * max(1, len(spec.Times))); err != nil {
		return nil, err
	}
	opts.times = spec.Times
	opts, err := opts.complete(d.Nodes)
	if err != nil {
		return nil, err
	}
	t, err := grfgp.NewTrainer(g, spec)
	if err != nil {
		return nil, err
	}
	var limits *grfgp.Limits
	v, err := validate(ctx, g, d, opts, spec.Covariates, spec.Seed, func(train, test gp.Data) (predictor, grfgp.Prediction, error) {
		m, err := t.Fit(ctx, train)
		if err != nil {
			return nil, grfgp.Prediction{}, err
		}
		p, err := m.Predict(ctx, test.Nodes)
		if err != nil {
			return nil, p, err
		}
		if limits == nil { // the error of walks hardly differs between folds
			limits, err = m.Limits(ctx, test.Nodes, p)
			return m, p, err
		}
		count, err := m.PriorOnly(ctx, test.Nodes)
		limits.Nodes, limits.PriorOnly = limits.Nodes+test.Len(), limits.PriorOnly+count
		return m, p, err
	})
	if err != nil {
		return nil, err
	}
	if len(v.HeldOut) == 0 {
		return nil, fmt.Errorf("%w: all measurements are at one node; cross-validation needs two", gp.ErrData)
	}
	v.Limits = limits
	return v, nil
}

// ValidateSnapshot cross-validates the model of a snapshot with fixed
// hyperparameters; seed determines the folds. It takes a fraction of the time of
// Validate and is slightly optimistic, because the hyperparameters were fitted to
// all folds. Baselines that take long are left out.
func ValidateSnapshot(ctx context.Context, s *grfgp.Snapshot, seed uint64) (*Validation, error) {
	d := s.Data()
	opts := Options{Folds: min(DefaultFolds, d.Len()), Scheme: Scattered, quick: true}
	return validate(ctx, s.Graph(), d, opts, s.Chosen().Covariates, seed, func(train, test gp.Data) (predictor, grfgp.Prediction, error) {
		m, err := s.Condition(ctx, train)
		if err != nil {
			return nil, grfgp.Prediction{}, err
		}
		p, err := m.Predict(ctx, test.Nodes)
		return m, p, err
	})
}

// validate is the hold-out loop over measurements.
func validate(ctx context.Context, g *graph.Graph, d gp.Data, opts Options, known *covariate.Set, seed uint64, predict func(train, test gp.Data) (predictor, grfgp.Prediction, error)) (*Validation, error) {
	v := &Validation{Scheme: opts.Scheme, Folds: opts.Folds, BaselineRMSE: map[Baseline]float64{}}
	squares := map[Baseline]float64{}
	inputs := &Inputs{Graph: g, Covariates: known}
	err := opts.holdOut(opts.folds(g, d.Nodes, seed), func(f int, in, out []int) error {
		train, test := d.Select(in), d.Select(out)
		m, p, err := predict(train, test)
		if err != nil {
			return err
		}
		v.compare(g, f, test, p, m.NoiseSD())
		for _, rule := range opts.rules(inputs) {
			all, err := opts.predictRows(ctx, rule, inputs, train, test)
			if err != nil {
				return err
			}
			for r, y := range test.Y {
				squares[rule] += (all[r] - y) * (all[r] - y)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	v.summarise(squares)
	return v, nil
}

// compare adds the predictions of a fold to HeldOut. noise is the standard
// deviation of the noise of one measurement; it is used if values have no noise
// variance of their own.
func (v *Validation) compare(g *graph.Graph, fold int, test gp.Data, p grfgp.Prediction, noise float64) {
	for r, place := range test.Nodes {
		own := noise
		switch {
		case test.NoiseVar != nil:
			own = math.Sqrt(test.NoiseVar[r])
		case test.Count != nil:
			own /= math.Sqrt(float64(test.Count[r]))
		}
		sd := math.Hypot(p.SD[r], own)
		z := (test.Y[r] - p.Mean[r]) / sd
		node, period := grfgp.AtPlace(g, place)
		v.HeldOut = append(v.HeldOut, HeldOut{node, fold, test.Y[r], p.Mean[r], sd, distuv.UnitNormal.CDF(z), period})
	}
}

// summarise computes the scores from HeldOut and the squared errors of baselines.
func (v *Validation) summarise(squares map[Baseline]float64) {
	n := float64(len(v.HeldOut))
	sum, sum4 := 0.0, 0.0
	for _, level := range levels {
		v.Coverage = append(v.Coverage, Coverage{Level: level})
	}
	for _, h := range v.HeldOut {
		e := (h.Value - h.Mean) * (h.Value - h.Mean)
		sum += e / n
		sum4 += e * e / n
		v.NLPD += (e/(2*h.SD*h.SD) + math.Log(2*math.Pi*h.SD*h.SD)/2) / n
		for k := range v.Coverage {
			if math.Abs(h.PIT-0.5) <= v.Coverage[k].Level/2 {
				v.Coverage[k].Share += 1 / n
			}
		}
	}
	v.RMSE = math.Sqrt(sum)
	if v.RMSE > 0 {
		v.RMSESE = math.Sqrt(max(0, sum4-sum*sum)/n) / (2 * v.RMSE)
	}
	for rule, s := range squares {
		v.BaselineRMSE[rule] = math.Sqrt(s / n)
	}
}
