package gp

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp/internal/latent"
	"grfgp/internal/dense"
	"grfgp/internal/parallel"
)

// newPrecisions computes precisions.
func (f *classFactor) newPrecisions() *mat.Dense {
	n, classes := f.y.Dims()
	q := mat.NewDense(n, classes, nil)
	parallel.Ranges(n, 128, func(from, to int) {
		for k := from; k < to; k++ {
			row := q.RawRowView(k)
			for c := range row {
				row[c] = f.inverse.At(k, k)
			}
		}
		for c := range classes {
			lo, hi := f.members(c)
			for m := lo; m < hi && f.vt != nil; m++ {
				for k, v := range f.vt.RawRowView(m)[from:to] {
					q.RawRowView(from + k)[c] += v * v
				}
			}
		}
	})
	return q
}

// noiseAt returns the noise of label k as a measurement of class c.
func (f *classFactor) noiseAt(k, c int) float64 {
	if lo, hi := f.members(c); lo <= k && k < hi {
		return f.noise[0]
	}
	return f.noise[1]
}

// leaveOneOut returns the posterior at every label's node without that label:
// mean y − α/[H⁻¹]_kk, and variance 1/[H⁻¹]_kk less the noise.
func (f *classFactor) leaveOneOut() latent.Functions {
	n, classes := f.y.Dims()
	q := f.precisions()
	out := latent.New(n, classes)
	for k := range n {
		for c, v := range q.RawRowView(k) {
			out.Mean.Set(k, c, f.y.At(k, c)-f.alpha.At(k, c)/v)
			out.Variance.Set(k, c, max(0, 1/v-f.noiseAt(k, c)))
		}
	}
	return out
}

// labelClasses returns the class of every label that is scored, in the order of nodes.
func (r *regressions) labelClasses() []int {
	class := make([]int, len(r.nodes))
	for c := range r.classes() {
		lo, hi := r.members(c)
		for k := lo; k < hi; k++ {
			class[k] = c
		}
	}
	return scoredClasses(class, r.classes())
}

// scoredClasses returns the classes of labels that are scored. The only label of its class is not: without it nothing is
// known of the class, and the score would be highest where no label says anything about other nodes.
func scoredClasses(class []int, classes int) []int {
	counts := make([]int, classes)
	for _, c := range class {
		counts[c]++
	}
	scored := slices.Clone(class)
	for k, c := range class {
		if counts[c] == 1 {
			scored[k] = latent.Unscored
		}
	}
	return scored
}

// labelScore is the sum over labels of the log probability of a label given all others, for latent functions times
// scale, with its derivatives.
type labelScore struct {
	*classFactor
	value         float64
	byTemperature float64

	scale  float64
	flat   []bool // where the variance is held at 0
	slopes *latent.Slopes
}

// leaveOutScore computes the score.
func (f *classFactor) leaveOutScore(scale float64, k latent.Calibration) *labelScore {
	n, classes := f.y.Dims()
	out := f.leaveOneOut()
	s := &labelScore{classFactor: f, scale: scale, flat: make([]bool, n*classes), slopes: latent.NewSlopes(n, classes)}
	for i, v := range out.Variance.RawMatrix().Data {
		s.flat[i] = v == 0
	}
	s.value, s.byTemperature = out.Scaled(scale).LogScore(f.labelClasses(), k, s.slopes)
	s.byTemperature /= k.Temperature // and not by its logarithm
	return s
}

func (s *labelScore) logLikelihood() float64 { return s.value }

// gradient returns the derivatives by the natural parameters and, last, by the temperature.
func (s *labelScore) gradient(ctx context.Context) ([]float64, error) {
	n, classes := s.y.Dims()
	// By α and by q = [H⁻¹]_kk: mean = scale·(y − α/q), variance = scale²·(1/q − noise).
	byAlpha, byQ := mat.NewDense(n, classes, nil), mat.NewDense(n, classes, nil)
	byNoise := 0.0
	q := s.precisions()
	for i := range n {
		for c, v := range q.RawRowView(i) {
			dm, dv := s.scale*s.slopes.Mean.At(i, c), s.scale*s.scale*s.slopes.Variance.At(i, c)
			if s.flat[i*classes+c] {
				dv = 0
			}
			byAlpha.Set(i, c, -dm/v)
			byQ.Set(i, c, (dm*s.alpha.At(i, c)-dv)/(v*v))
			byNoise -= dv
		}
	}
	g, err := s.leaveOutWeights(ctx, byAlpha, byQ)
	if err != nil {
		return nil, err
	}
	grad, err := s.contract(ctx, g)
	if err == nil && s.params.noise {
		grad[len(grad)-1] += byNoise
	}
	return append(grad, s.byTemperature), err
}

// leaveOutWeights returns the symmetric G with Σ_c ⟨a_c, dα_c⟩ + ⟨b_c, diag dH_c⁻¹⟩ =
// ⟨G, dK⟩. As dα = −H⁻¹·dK·α and dH⁻¹ = −H⁻¹·dK·H⁻¹,
//
//	G = −Σ_c [ sym(H_c⁻¹a_c·α_cᵀ) + H_c⁻¹·diag(b_c)·H_c⁻¹ ],
//
// where H_c⁻¹ = B⁻¹ + V_cV_cᵀ: with X_c = B⁻¹·diag(b_c)·V_c + ½V_c·(V_cᵀ·diag(b_c)·V_c)
// the last sum is B⁻¹·diag(Σb_c)·B⁻¹ + Σ_c X_cV_cᵀ + V_cX_cᵀ. The classes share out
// the columns of V, so the cost does not grow with their number.
func (f *classFactor) leaveOutWeights(ctx context.Context, a, b *mat.Dense) (*mat.SymDense, error) {
	n, classes := f.y.Dims()
	g := mat.NewSymDense(n, nil)
	triangle := dense.OfSymmetric(g.RawSymmetric()).T() // the upper triangle is the lower one of the transpose
	solved := mat.NewDense(n, classes, nil)
	if err := f.solve(ctx, solved, a, 1); err != nil {
		return nil, err
	}
	alpha, beta := dense.View(f.alpha), dense.View(solved)
	dense.AddLower(triangle, -0.5, alpha, beta.T())
	dense.AddLower(triangle, -0.5, beta, alpha.T())

	left := mat.NewDense(n, n, nil) // B⁻¹·diag(Σb_c)
	parallel.Ranges(n, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := left.RawRowView(i)
			for k, v := range f.inverse.RawRowView(i) {
				sum := 0.0
				for _, w := range b.RawRowView(k) {
					sum += w
				}
				to[k] = v * sum
			}
		}
	})
	inverse := dense.View(f.inverse)
	dense.AddLower(triangle, -1, dense.View(left), inverse)
	if f.vt == nil || ctx.Err() != nil {
		return g, ctx.Err()
	}
	weighted := left // V_cᵀ·diag(b_c), below each other
	for c := range classes {
		lo, hi := f.members(c)
		parallel.Ranges(hi-lo, 64, func(from, to int) {
			for m := lo + from; m < lo+to; m++ {
				row := weighted.RawRowView(m)
				for k, v := range f.vt.RawRowView(m) {
					row[k] = v * b.At(k, c)
				}
			}
		})
	}
	x := mat.NewDense(n, n, nil) // the X_cᵀ
	dense.Mul(dense.View(x), dense.View(weighted), inverse)
	vt := dense.View(f.vt)
	for c := range classes {
		lo, hi := f.members(c)
		if lo == hi {
			continue
		}
		own := vt.Block(lo, hi, 0, n)
		inner := mat.NewDense(hi-lo, hi-lo, nil)
		dense.Mul(dense.View(inner), own, dense.View(weighted).Block(lo, hi, 0, n).T())
		dense.Add(dense.View(x).Block(lo, hi, 0, n), 0.5, dense.View(inner), own)
	}
	dense.AddLower(triangle, -1, dense.View(x).T(), vt)
	dense.AddLower(triangle, -1, vt.T(), dense.View(x))
	return g, ctx.Err()
}
