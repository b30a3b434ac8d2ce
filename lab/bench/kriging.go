package bench

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"
)

// kriging is ordinary kriging in the plane, as the crow flies: what people with
// coordinates and without a network would do. Correlation is exponential or Matérn; the family,
// the range, the sill and the nugget are those of the highest likelihood, and the mean is
// unknown.
type kriging struct {
	x, y        []float64 // of the measurements, in km
	correlation func(d float64) float64
	reach       float64       // in km
	nugget      float64       // variance of the noise, in sills
	sill        float64       // variance of the field
	mean        float64       // generalised least squares
	chol        *mat.Cholesky // of R + nugget · I
	ones, rest  *mat.VecDense // (R + nugget · I)⁻¹ 1 and (R + nugget · I)⁻¹ (y − mean)
}

// correlations are the families: Matérn with ν = 1/2 (exponential), 3/2 and 5/2.
var correlations = []func(d float64) float64{
	func(d float64) float64 { return math.Exp(-d) },
	func(d float64) float64 { d *= math.Sqrt(3); return (1 + d) * math.Exp(-d) },
	func(d float64) float64 { d *= math.Sqrt(5); return (1 + d + d*d/3) * math.Exp(-d) },
}

// plane projects degrees onto km around their mean, with equal scales there.
func plane(lat, lon []float64) (x, y []float64) {
	const perDegree = 111.195 // km of a meridian
	x, y = make([]float64, len(lat)), make([]float64, len(lat))
	shrink := math.Cos(stat.Mean(lat, nil) * math.Pi / 180)
	for i := range lat {
		x[i], y[i] = perDegree*shrink*lon[i], perDegree*lat[i]
	}
	return x, y
}

// fitKriging learns from values at places.
func fitKriging(x, y, values []float64) (*kriging, error) {
	size := 0.0
	for i := range x {
		size = max(size, math.Hypot(x[i]-x[0], y[i]-y[0]))
	}
	var best *kriging
	likeliest := math.Inf(-1)
	for _, c := range correlations {
		minus := func(p []float64) float64 {
			_, l := krige(x, y, values, c, math.Exp(p[0]), math.Exp(p[1]))
			return -l
		}
		// The best point of a grid is a safe start: the likelihood may have several maxima.
		start, least := []float64{0, 0}, math.Inf(1)
		for reach := size / 512; reach <= 2*size; reach *= 2 {
			for nugget := 1.0 / 64; nugget <= 64; nugget *= 4 {
				p := []float64{math.Log(reach), math.Log(nugget)}
				if l := minus(p); l < least {
					start, least = p, l
				}
			}
		}
		found, err := optimize.Minimize(optimize.Problem{Func: minus}, start, &optimize.Settings{FuncEvaluations: 120},
			&optimize.NelderMead{SimplexSize: 0.3})
		if err != nil {
			return nil, err
		}
		if k, l := krige(x, y, values, c, math.Exp(found.X[0]), math.Exp(found.X[1])); k != nil && l > likeliest {
			best, likeliest = k, l
		}
	}
	if best == nil {
		return nil, errors.New("kriging: no covariance can be used")
	}
	return best, nil
}

// krige conditions on the values, with the mean and the sill of the highest likelihood, and
// returns that likelihood up to a constant; −∞ and nil if the matrix is singular.
func krige(x, y, values []float64, correlation func(float64) float64, reach, nugget float64) (*kriging, float64) {
	n := len(x)
	k := &kriging{x: x, y: y, correlation: correlation, reach: reach, nugget: nugget, chol: new(mat.Cholesky), ones: mat.NewVecDense(n, nil),
		rest: mat.NewVecDense(n, nil)}
	r := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i {
			r.SetSym(i, j, correlation(math.Hypot(x[i]-x[j], y[i]-y[j])/reach))
		}
		r.SetSym(i, i, 1+nugget)
	}
	if !k.chol.Factorize(r) {
		return nil, math.Inf(-1)
	}
	one := mat.NewVecDense(n, nil)
	for i := range n {
		one.SetVec(i, 1)
	}
	if err := k.chol.SolveVecTo(k.ones, one); err != nil {
		return nil, math.Inf(-1)
	}
	k.mean = mat.Dot(k.ones, mat.NewVecDense(n, values)) / mat.Sum(k.ones)
	centred := mat.NewVecDense(n, nil)
	for i, v := range values {
		centred.SetVec(i, v-k.mean)
	}
	if err := k.chol.SolveVecTo(k.rest, centred); err != nil {
		return nil, math.Inf(-1)
	}
	k.sill = mat.Dot(centred, k.rest) / float64(n)
	return k, -float64(n)/2*math.Log(k.sill) - k.chol.LogDet()/2
}

// predict returns the mean and the standard deviation of a measurement at a place.
func (k *kriging) predict(x, y float64) (mean, sd float64, err error) {
	near := mat.NewVecDense(len(k.x), nil)
	for i := range k.x {
		near.SetVec(i, k.correlation(math.Hypot(x-k.x[i], y-k.y[i])/k.reach))
	}
	var weights mat.VecDense
	if err := k.chol.SolveVecTo(&weights, near); err != nil {
		return 0, 0, err
	}
	short := 1 - mat.Dot(k.ones, near) // weight of the unknown mean
	variance := k.sill * (1 + k.nugget - mat.Dot(near, &weights) + short*short/mat.Sum(k.ones))
	return k.mean + mat.Dot(near, k.rest), math.Sqrt(variance), nil
}
