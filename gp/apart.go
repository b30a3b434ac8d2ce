package gp

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"grfgp/solve"
)

// Apart returns the log density, standardised, of the first measurement of each
// list given all that are not in the list: how well the model predicts from
// afar. It factors the training covariance. With Q = H⁻¹ what is left out, B, has
// mean y_B − Q_BB⁻¹α_B and covariance Q_BB⁻¹, noise included.
func (m *Model) Apart(ctx context.Context, d Data, lists [][]int) ([]float64, error) {
	factored := *m
	factored.solver = Exact
	p, err := factored.Condition(ctx, d)
	if err != nil {
		return nil, err
	}
	inverse := mat.NewSymDense(d.Len(), nil)
	p.system.(exactSystem).Inverse(inverse)
	scores := make([]float64, len(lists))
	for s, list := range lists {
		block, side := mat.NewSymDense(len(list), nil), mat.NewDense(len(list), 2, nil)
		for a, i := range list {
			for b, j := range list[a:] {
				block.SetSym(a, a+b, inverse.At(i, j))
			}
			side.Set(a, 0, p.alpha[i])
		}
		side.Set(0, 1, 1)
		chol, err := solve.NewCholesky(block)
		if err != nil {
			return nil, fmt.Errorf("predicting from afar: %w", err)
		}
		chol.Solve(side, side)
		y := p.data.Y[list[0]]
		scores[s] = logNormal(y, y-side.At(0, 0), side.At(0, 1))
	}
	return scores, nil
}
