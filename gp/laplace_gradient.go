package gp

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"grfgp/solve"
)

// gradient returns the derivatives of the approximate log marginal likelihood. With
// α = ∇log p(y|f̂), R = (K + W⁻¹)⁻¹ and Σ = (K⁻¹ + W)⁻¹, the explicit part is
// tr(½(ααᵀ − R) ∂K). The mode moves too: −½ log det B has the derivative
// s_i = −½ Σ_ii ∂W_i/∂f_i by f̂_i, and ∂f̂ = (I + KW)⁻¹ ∂K α, which adds
// uᵀ ∂K α with u = (I + WK)⁻¹s (Rasmussen and Williams, section 5.5.1). For Student's t
// the mode moves by the second derivatives themselves, also where W is 0 in their place.
func (m *mode) gradient(ctx context.Context) ([]float64, error) {
	n, p := m.obs.len(), m.of.params
	variance := m.variance()
	s := make([]float64, n)
	for k, t := range m.terms {
		if t.weight > 0 {
			s[k] = -variance[k] * t.bend / 2
		}
	}
	u, err := m.adjoint(s)
	if err != nil {
		return nil, err
	}
	g := mat.NewSymDense(n, nil)
	m.chol.Inverse(g) // R = W^½B⁻¹W^½
	for i := range n {
		for j := i; j < n; j++ {
			r := m.root[i] * g.At(i, j) * m.root[j]
			g.SetSym(i, j, (m.alpha[i]*m.alpha[j]-r+u[i]*m.alpha[j]+m.alpha[i]*u[j])/2)
		}
	}
	grad := make([]float64, len(p.list))
	own := grad
	if p.noise {
		own = grad[:len(grad)-1]
		grad[len(grad)-1] = m.shapeSlope(variance, u)
	}
	return grad, m.cov.GramGrad(ctx, own, m.of.data.Nodes, g)
}

// adjoint returns (I + CK)⁻¹s, where C are minus the second derivatives.
func (m *mode) adjoint(s []float64) ([]float64, error) {
	if m.obs.of.concave() {
		return m.reduce(s), nil
	}
	n := len(s)
	a := mat.NewDense(n, n, nil)
	for i, t := range m.terms {
		row := a.RawRowView(i)
		for j := range row {
			row[j] = t.curve * m.gram.At(i, j)
		}
		row[i]++
	}
	var lu mat.LU
	lu.Factorize(a)
	u := mat.NewVecDense(n, nil)
	if err := lu.SolveVecTo(u, false, mat.NewVecDense(n, s)); err != nil {
		return nil, fmt.Errorf("the posterior has a flat mode: %w", solve.ErrNotPositiveDefinite)
	}
	return u.RawVector().Data, nil
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
