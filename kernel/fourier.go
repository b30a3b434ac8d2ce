package kernel

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
	"grfgp/internal/parallel"
	"grfgp/internal/rng"
	"grfgp/space"
)

// Fourier returns Smooth(x, group, shape, names...) as a matrix of low rank, ZZᵀ,
// by random Fourier features: for frequencies ω_m drawn from the spectral density of
// the shape, m < pairs, row i of Z is
//
//	s/√pairs · (cos(ω_mᵀx_i), sin(ω_mᵀx_i), …)
//
// so that products cost (rows + columns) × 2·pairs, for any number of measurements
// and nodes. The frequencies are drawn once, from seed, and scaled by the
// lengths. The diagonal is s² exactly; other entries differ from those of Smooth by
// at most s²/√(2·pairs) (one sd over the frequencies). Parameters are those of
// Smooth.
func Fourier(x *mat.Dense, group []int, shape Shape, pairs int, seed uint64, names ...string) Kernel {
	if pairs < 1 {
		panic("kernel: no pairs of Fourier features")
	}
	return &fourier{newFourierColumns(newDistances(x, group, names), shape.checked(), pairs, seed)}
}

type fourier struct{ *fourierColumns }

func (f *fourier) Nodes() int      { n, _ := f.x.Dims(); return n }
func (f *fourier) Params() []Param { return f.params }

func (f *fourier) At(theta []float64) (Covariance, error) {
	if err := checkTheta(theta, f.params); err != nil {
		return nil, err
	}
	return f.covariance(theta[0], f.scaledBy(theta[1:])), nil
}

// fourierColumns are frequencies for columns of unit length.
type fourierColumns struct {
	*distances
	omega *mat.Dense // a column per pair, a row per column of x
}

// newFourierColumns draws frequencies: normal for RBF, and for Matérn shapes from a
// multivariate t distribution, a normal one over the root of χ²_f/f.
func newFourierColumns(d *distances, shape Shape, pairs int, seed uint64) *fourierColumns {
	f := &fourierColumns{d, mat.NewDense(len(d.group), pairs, nil)}
	for m := range pairs {
		random := rand.New(rng.New(seed, "frequencies", uint64(m)))
		scale := 1.0
		if freedom := shape.freedom(); freedom > 0 {
			square := 0.0
			for range freedom {
				v := random.NormFloat64()
				square += v * v
			}
			scale = math.Sqrt(float64(freedom) / square)
		}
		for k := range d.group {
			f.omega.Set(k, m, scale*random.NormFloat64())
		}
	}
	return f
}

func (f *fourier) covariance(variance float64, s scaled) *linearCovariance {
	c := &linearCovariance{x: &fourierFeatures{fourierColumns: f.fourierColumns, scaled: s}, variance: variance}
	c.byRoot = byRoot{f, append([]float64{variance}, s.lengths...), c}
	return c
}

// fourierFeatures are the columns Z/s at given lengths: cosines, then sines.
type fourierFeatures struct {
	*fourierColumns
	scaled scaled
}

func (f *fourierFeatures) pairs() int { return f.omega.RawMatrix().Cols }
func (f *fourierFeatures) nodes() int { return f.x.RawMatrix().Rows }
func (f *fourierFeatures) width() int { return 2 * f.pairs() }

// fill sets dst to the features of the rows.
func (f *fourierFeatures) fill(dst *mat.Dense, rows []int) {
	const size = 256
	pairs, columns := f.pairs(), upTo(len(f.group))
	scale := 1 / math.Sqrt(float64(pairs))
	parallel.Ranges(len(rows), size, func(lo, hi int) {
		x, phase := mat.NewDense(hi-lo, len(columns), nil), mat.NewDense(hi-lo, pairs, nil)
		f.scaled.at(x, rows[lo:hi], columns)
		dense.Mul(dense.View(phase), dense.View(x), dense.View(f.omega))
		for a := lo; a < hi; a++ {
			out := dst.RawRowView(a)
			for m, v := range phase.RawRowView(a - lo) {
				sin, cos := math.Sincos(v)
				out[m], out[pairs+m] = scale*cos, scale*sin
			}
		}
	})
}

func (f *fourierFeatures) dense(rows []int) *mat.Dense {
	z := newDense(len(rows), f.width())
	f.fill(z, rows)
	return z
}

func (f *fourierFeatures) squares(dst []float64, _ []int) {
	for a := range dst {
		dst[a] = 1
	}
}

func (f *fourierFeatures) addGram(ctx context.Context, dst blas64.Symmetric, rows []int, scale float64) error {
	z := dense.View(f.dense(rows))
	dense.AddLower(dense.OfSymmetric(dst).T(), scale, z, z.T())
	return ctx.Err()
}

func (f *fourierFeatures) in(_ context.Context, s space.Space, a space.Axis, rows []int) (space.Matrix, error) {
	return s.Dense(a, f.dense(rows)), nil
}

// slopes adds ⟨u·wᵀ, ∂(s²ZZᵀ)⟩ to grad for a block of rows, given Zᵀu and Zᵀw of all rows; one of u and w is weighted.
func (f *fourierFeatures) slopes(grad []float64, rows []int, u, w mat.Matrix, zu, zw *mat.Dense, variance float64) {
	q, sd := mat.NewDense(len(rows), f.width(), nil), math.Sqrt(variance)
	dense.Add(dense.View(q), sd, dense.View(u.(*mat.Dense)), dense.View(zw).T())
	dense.Add(dense.View(q), sd, dense.View(w.(*mat.Dense)), dense.View(zu).T())
	f.pull(grad, rows, q, variance)
}

// gramGrad is ⟨g, ∂(ZZᵀ)⟩ = ⟨2gZ, ∂Z⟩.
func (f *fourierFeatures) gramGrad(ctx context.Context, grad []float64, rows []int, g blas64.Symmetric, variance float64) error {
	z, q := f.dense(rows), mat.NewDense(len(rows), f.width(), nil)
	z.Scale(math.Sqrt(variance), z)
	var whole mat.SymDense
	whole.SetRawSymmetric(g)
	dense.Add(dense.View(q), 2, dense.View(mat.DenseCopyOf(&whole)), dense.View(z))
	f.pull(grad, rows, q, variance)
	return ctx.Err()
}

// pull goes from features to phases, ∂cos = −sin, ∂sin = cos, and from
// there to lengths: a phase is Σ_d ω_d·x_d/ℓ.
func (f *fourierFeatures) pull(grad []float64, rows []int, q *mat.Dense, variance float64) {
	const size = 1024
	sd := math.Sqrt(variance)
	pairs, columns := f.pairs(), upTo(len(f.group))
	for lo := 0; lo < len(rows); lo += size {
		hi := min(len(rows), lo+size)
		z := f.dense(rows[lo:hi])
		phases := mat.NewDense(hi-lo, pairs, nil)
		total := sumRows(hi-lo, func(a int) float64 {
			in, weights, out := z.RawRowView(a), q.RawRowView(lo+a), phases.RawRowView(a)
			for m := range out {
				out[m] = sd * (weights[pairs+m]*in[m] - weights[m]*in[pairs+m])
			}
			return dot(in, weights)
		})
		grad[0] += total / (2 * sd)
		x, by := mat.NewDense(hi-lo, len(columns), nil), mat.NewDense(len(columns), pairs, nil)
		f.scaled.at(x, rows[lo:hi], columns)
		dense.Mul(dense.View(by), dense.View(x).T(), dense.View(phases))
		for d, g := range f.group {
			grad[1+g] -= dot(by.RawRowView(d), f.omega.RawRowView(d)) / f.scaled.lengths[g]
		}
	}
}
