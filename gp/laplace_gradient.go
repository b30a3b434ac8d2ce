package gp

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// evaluate returns Laplace's approximation and its gradient in natural parameters, for
// component.
func (l *laplace) evaluate(ctx context.Context, theta []float64) (float64, []float64, error) {
	m, err := l.find(ctx, theta)
	if err != nil {
		return 0, nil, err
	}
	grad, err := m.gradient(ctx, l.data.Nodes, len(theta), l.params.noise)
	return m.logMarginal(), grad, err
}

// gradient returns the derivatives of the approximate log marginal likelihood. With
// α = ∇log p(y|f̂), R = (K + W⁻¹)⁻¹ and Σ = (K⁻¹ + W)⁻¹, the explicit part is
// tr(½(ααᵀ − R) ∂K). The mode moves too: −½ log det B has the derivative
// s_i = −½ Σ_ii ∂W_i/∂f_i by f̂_i, and ∂f̂ = (I + KW)⁻¹ ∂K α, which adds
// uᵀ ∂K α with u = (I + WK)⁻¹s (Rasmussen and Williams, section 5.5.1). The weights of
// Student's t do not depend on f, so that s is zero.
func (m *mode) gradient(ctx context.Context, nodes []int, size int, shape bool) ([]float64, error) {
	n := m.obs.len()
	variance := m.variance()
	s := make([]float64, n)
	for k, t := range m.terms {
		s[k] = -variance[k] * t.bend / 2
	}
	u := m.reduce(s)
	g := mat.NewSymDense(n, nil)
	m.chol.Inverse(g) // R = W^½B⁻¹W^½
	for i := range n {
		for j := i; j < n; j++ {
			r := m.root[i] * g.At(i, j) * m.root[j]
			g.SetSym(i, j, (m.alpha[i]*m.alpha[j]-r+u[i]*m.alpha[j]+m.alpha[i]*u[j])/2)
		}
	}
	grad := make([]float64, size)
	own := grad
	if shape {
		own = grad[:size-1]
		grad[size-1] = m.shapeSlope(variance, u)
	}
	return grad, m.cov.GramGrad(ctx, own, nodes, g)
}

// shapeSlope returns the derivative by the parameter of the likelihood: directly, by
// the weights, and by the mode, ∂f̂ = Σ ∂(∇log p), where Σs = Ku.
func (m *mode) shapeSlope(variance, u []float64) float64 {
	sum, moved := 0.0, m.product(u)
	for k, t := range m.terms {
		sum += t.valueBy - variance[k]*t.weightBy/2 + moved[k]*t.slopeBy
	}
	return sum
}

// variance returns the diagonal of Σ = K − KW^½B⁻¹W^½K, the posterior variance of f
// at the measurements.
func (m *mode) variance() []float64 {
	n := m.obs.len()
	c := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			c.Set(i, j, m.root[i]*m.gram.At(i, j))
		}
	}
	m.chol.SolveLower(c, c)
	out := make([]float64, n)
	for i := range n {
		out[i] = m.gram.At(i, i)
	}
	for i := range n {
		for j, v := range c.RawRowView(i) {
			out[j] -= v * v
		}
	}
	return out
}
