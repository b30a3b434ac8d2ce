package bench

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/rng"
)

// Kriging recovers a field that was drawn from its own model, with intervals of correct
// coverage, and its mean is that of the generalised least squares.
func TestKriging(t *testing.T) {
	const n, held, noise = 150, 60, 0.3
	r := rand.New(rng.New(1, "kriging test"))
	x, y := make([]float64, n+held), make([]float64, n+held)
	for i := range x {
		x[i], y[i] = 10*r.Float64(), 10*r.Float64()
	}
	k := mat.NewSymDense(n+held, nil)
	for i := range x {
		for j := range i + 1 {
			k.SetSym(i, j, correlations[0](math.Hypot(x[i]-x[j], y[i]-y[j])/3))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(k) {
		t.Fatal("singular")
	}
	white := mat.NewVecDense(n+held, nil)
	for i := range x {
		white.SetVec(i, r.NormFloat64())
	}
	var l mat.TriDense
	chol.LTo(&l)
	var field mat.VecDense
	field.MulVec(&l, white)
	values := make([]float64, n+held)
	for i := range values {
		values[i] = 5 + field.AtVec(i) + noise*r.NormFloat64()
	}
	model, err := fitKriging(x[:n], y[:n], values[:n])
	if err != nil {
		t.Fatal(err)
	}
	// Within a factor of 3: the likelihood knows the noise well and the range badly.
	if got := math.Sqrt(model.nugget * model.sill); got < noise/3 || got > 3*noise {
		t.Errorf("noise %.2f, want %.2f", got, noise)
	}
	squares, inside, own := 0.0, 0, 0.0
	for i := n; i < n+held; i++ {
		mean, sd, err := model.predict(x[i], y[i])
		if err != nil {
			t.Fatal(err)
		}
		squares += (values[i] - mean) * (values[i] - mean) / held
		own += sd * sd / held
		if math.Abs(values[i]-mean) < 1.96*sd {
			inside++
		}
	}
	// χ² with 60 degrees of freedom and a binomial number, each within 4 of its standard deviations.
	if ratio := squares / own; math.Abs(ratio-1) > 4*math.Sqrt(2.0/held) || inside < held*95/100-7 {
		t.Errorf("squared errors are %.2f of their expected size, %d of %d in 95 %% intervals", squares/own, inside, held)
	}
	if far, sd, err := model.predict(1e6, 1e6); err != nil || math.Abs(far-model.mean) > 1e-9 || sd < math.Sqrt(model.sill*(1+model.nugget)) {
		t.Errorf("far away %v ± %v, mean %v, %v", far, sd, model.mean, err)
	}
}

func TestPlane(t *testing.T) {
	x, y := plane([]float64{37, 38, 37.5}, []float64{-122, -122, -121})
	if d := math.Hypot(x[1]-x[0], y[1]-y[0]); math.Abs(d-111.195) > 1e-9 {
		t.Errorf("a degree of latitude has %v km", d)
	}
	if d := x[2] - x[0]; math.Abs(d-111.195*math.Cos(37.5*math.Pi/180)) > 1e-9 {
		t.Errorf("a degree of longitude has %v km", d)
	}
}
