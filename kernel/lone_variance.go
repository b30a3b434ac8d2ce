package kernel

import (
	"context"
	"sync"

	"gonum.org/v1/gonum/mat"
)

// loneVariance is the variance of lone nodes, found when first asked for.
type loneVariance struct {
	of     Covariance
	sample []int
	params int

	mu    sync.Mutex
	value float64
	known bool
	slope []float64 // by hyperparameter; nil: not known
}

// weights are those of the entries of K[sample, sample] in the variance.
func (v *loneVariance) weights() *mat.SymDense {
	m := len(v.sample)
	g := mat.NewSymDense(m, nil)
	for a := range m {
		for b := a; b < m; b++ {
			g.SetSym(a, b, -1/float64(m*m))
		}
		g.SetSym(a, a, 1/float64(m)-1/float64(m*m))
	}
	return g
}

func (v *loneVariance) get(ctx context.Context) (float64, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known {
		return v.value, nil
	}
	k := mat.NewSymDense(len(v.sample), nil)
	if err := v.of.Gram(ctx, k, v.sample); err != nil {
		return 0, err
	}
	g, sum := v.weights(), 0.0
	for a := range v.sample {
		for b := range v.sample {
			sum += g.At(a, b) * k.At(a, b)
		}
	}
	v.value, v.known = max(sum, 0), true
	return v.value, nil
}

// addSlope adds weight·∂v/∂θ to grad.
func (v *loneVariance) addSlope(ctx context.Context, grad []float64, weight float64) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.slope == nil {
		slope := make([]float64, v.params)
		if err := v.of.GramGrad(ctx, slope, v.sample, v.weights()); err != nil {
			return err
		}
		v.slope = slope
	}
	for j, d := range v.slope {
		grad[j] += weight * d
	}
	return nil
}
