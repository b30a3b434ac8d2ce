package grfgp

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/covariate"
	"grfgp/effects"
)

// betweenNodes is the number of nodes, evenly spaced by number, among which groups are
// compared, at most.
const betweenNodes = 1000

// between adds the differences between nodes as they are to the effects of columns,
// which are those of the moves of all sources.
func (m *Model) between(ctx context.Context, e *Effects, set *covariate.Set, all []effects.Source) error {
	sample := evenly(set.Nodes, betweenNodes)
	weights := mat.NewDense(len(sample), len(e.Columns), nil)
	k := 0
	for _, o := range all {
		for _, mv := range o.Moves {
			e.Columns[k].Between = mv.Contrast(set.X, sample, weights, k)
			k++
		}
	}
	t := m.of
	places := Places(t.graph, sample, t.when.Periods()-1)
	prior := m.posterior.Prior()
	cross, half := mat.NewDense(len(m.posterior.Measured()), k, nil), mat.NewDense(len(sample), k, nil)
	if err := prior.Cross(m.posterior.Measured(), places).Apply(ctx, cross, weights); err != nil {
		return err
	}
	if err := prior.Cross(places, places).Apply(ctx, half, weights); err != nil {
		return err
	}
	var square mat.Dense
	square.Mul(weights.T(), half)
	own := mat.NewSymDense(k, nil)
	for a := range k {
		for b := a; b < k; b++ {
			own.SetSym(a, b, (square.At(a, b)+square.At(b, a))/2)
		}
	}
	mean, cov, err := m.posterior.Functionals(ctx, cross, own)
	if err != nil {
		return err
	}
	values, err := m.posterior.Mean(ctx, places)
	if err != nil {
		return err
	}
	spread := math.Sqrt(varianceOf(values))
	for a := range e.Columns {
		if c := e.Columns[a].Between; c != nil {
			c.Chance = spread * math.Sqrt(1/float64(c.Low)+1/float64(c.High))
			c.Mean, c.SD = mean[a], math.Sqrt(cov.At(a, a))
			c.Lower, c.Upper = c.Mean-effectZ*c.SD, c.Mean+effectZ*c.SD
		}
	}
	return nil
}
