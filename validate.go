package grfgp

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"grfgp/gp"
	"grfgp/graph"
)

// Levels are the interval levels whose coverage is checked.
var Levels = []float64{0.5, 0.8, 0.95}

// Left is a measurement as it was predicted without its fold.
type Left struct {
	Node  int     `json:"node"`
	Fold  int     `json:"fold"`
	Value float64 `json:"value"`
	Mean  float64 `json:"mean"`
	SD    float64 `json:"sd"`  // of what was measured: the quantity and the noise, σ/√n for the mean of n readings
	PIT   float64 `json:"pit"` // chance of a lower value: uniform if the model is right
}

// Validation says how far to trust a model, by measurements that it did not see.
type Validation struct {
	Scheme       Scheme             `json:"scheme"`
	Folds        int                `json:"folds"`
	Left         []Left             `json:"left"`
	RMSE         float64            `json:"rmse"`
	RMSESE       float64            `json:"rmse_se"` // standard error of RMSE
	NLPD         float64            `json:"nlpd"`    // mean negative log density of what was measured
	Coverage     map[string]float64 `json:"coverage"`
	BaselineRMSE map[string]float64 `json:"baseline_rmse"`
	Limits       *Limits            `json:"limits,omitempty"` // of what was left out; walks are those of the first fold
}

// ValidateOptions say what is left out.
type ValidateOptions struct {
	Folds    int                     // 2 or more, and no more than there is to leave out
	Scheme   Scheme                  // one of Schemes
	Progress func(done, total int64) // folds; may be nil
}

// check says what is wrong with the options for so many of what is left out.
func (o ValidateOptions) check(known int, what string) error {
	switch {
	case o.Folds < 2 || o.Folds > known:
		return fmt.Errorf("%w: %d folds of %d %s, want 2 to as many as there are", ErrSpec, o.Folds, known, what)
	case !slices.Contains(Schemes, string(o.Scheme)):
		return fmt.Errorf("%w: no scheme of folds is called %q; there are %s", ErrSpec, o.Scheme, strings.Join(Schemes, ", "))
	}
	return nil
}

func (o ValidateOptions) progress(done int) {
	if o.Progress != nil {
		o.Progress(int64(done), int64(o.Folds))
	}
}

// Validate leaves out folds of measurements, fits to the others, and compares
// what is predicted with what was measured, beside the simple rules. All that was
// measured at a node is left out together. A mean of n readings counts as one
// measurement and is compared with the standard deviation of such a mean.
func Validate(ctx context.Context, g *graph.Graph, d gp.Data, spec Spec, opts ValidateOptions) (*Validation, error) {
	if err := d.Check(g.Len()); err != nil {
		return nil, err
	}
	if err := opts.check(d.Len(), "measurements"); err != nil {
		return nil, err
	}
	t, err := NewTrainer(g, spec)
	if err != nil {
		return nil, err
	}
	k := opts.Folds
	v := &Validation{Scheme: opts.Scheme, Folds: k, Coverage: map[string]float64{}, BaselineRMSE: map[string]float64{}, Limits: &Limits{}}
	fold := t.folds(d.Nodes, k, opts.Scheme, spec.Seed)
	squares := map[string]float64{}
	for f := range k {
		train, test := split(d, fold, f)
		if test.Len() == 0 {
			continue
		}
		m, err := t.Fit(ctx, train)
		if err != nil {
			return nil, fmt.Errorf("fold %d of %d: %w", f+1, k, err)
		}
		p, err := m.Predict(ctx, test.Nodes)
		if err != nil {
			return nil, fmt.Errorf("fold %d of %d: %w", f+1, k, err)
		}
		if err := v.Limits.add(ctx, m, test.Nodes, p); err != nil {
			return nil, fmt.Errorf("fold %d of %d: %w", f+1, k, err)
		}
		v.compare(f, test, p, m.noiseSD)
		if err := addSquares(ctx, squares, g, train, test); err != nil {
			return nil, fmt.Errorf("fold %d of %d: %w", f+1, k, err)
		}
		opts.progress(f + 1)
	}
	v.summarise(squares)
	return v, nil
}

// compare adds what was predicted of a fold and what was measured. The noise is
// that of one reading, for values that say nothing of their own.
func (v *Validation) compare(fold int, test gp.Data, p Prediction, noise float64) {
	for r, i := range test.Nodes {
		own := noise
		switch {
		case test.NoiseVar != nil:
			own = math.Sqrt(test.NoiseVar[r])
		case test.Count != nil:
			own /= math.Sqrt(float64(test.Count[r]))
		}
		sd := math.Hypot(p.SD[r], own)
		z := (test.Y[r] - p.Mean[r]) / sd
		v.Left = append(v.Left, Left{i, fold, test.Y[r], p.Mean[r], sd, distuv.UnitNormal.CDF(z)})
	}
}

// addSquares adds the squared errors of the simple rules.
func addSquares(ctx context.Context, squares map[string]float64, g *graph.Graph, train, test gp.Data) error {
	for _, name := range Baselines {
		all, err := baseline(ctx, name, g, train)
		if err != nil {
			return err
		}
		for r, i := range test.Nodes {
			squares[name] += (all[i] - test.Y[r]) * (all[i] - test.Y[r])
		}
	}
	return nil
}

// split returns the measurements outside and inside fold f.
func split(d gp.Data, fold []int, f int) (train, test gp.Data) {
	var in, out []int
	for r := range d.Nodes {
		if fold[r] == f {
			in = append(in, r)
		} else {
			out = append(out, r)
		}
	}
	return d.Select(out), d.Select(in)
}

// summarise fills the figures from Left and the squared errors of baselines.
func (v *Validation) summarise(squares map[string]float64) {
	n := float64(len(v.Left))
	sum, sum4 := 0.0, 0.0
	for _, l := range v.Left {
		e := (l.Value - l.Mean) * (l.Value - l.Mean)
		sum += e / n
		sum4 += e * e / n
		v.NLPD += (e/(2*l.SD*l.SD) + math.Log(2*math.Pi*l.SD*l.SD)/2) / n
		for _, level := range Levels {
			if math.Abs(l.PIT-0.5) <= level/2 {
				v.Coverage[fmt.Sprint(level)] += 1 / n
			}
		}
	}
	v.RMSE = math.Sqrt(sum)
	if v.RMSE > 0 {
		v.RMSESE = math.Sqrt(max(0, sum4-sum*sum)/n) / (2 * v.RMSE)
	}
	for name, s := range squares {
		v.BaselineRMSE[name] = math.Sqrt(s / n)
	}
}

func roots(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Sqrt(x)
	}
	return out
}
