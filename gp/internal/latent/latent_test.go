package latent

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/rng"
)

// The expectation of a softmax: for two classes against a sum over one variable,
// for seven against many random draws.
func TestSoftmaxExpectation(t *testing.T) {
	for _, sd := range []float64{0, 0.5, 2, 4} {
		for _, m := range []float64{-3, 0, 1, 5} {
			l := Functions{mat.NewDense(1, 2, []float64{m, 0}), mat.NewDense(1, 2, []float64{sd * sd / 2, sd * sd / 2})}
			p := mat.NewDense(1, 2, nil)
			l.Probabilities(p, none)
			want, total := 0.0, 0.0
			for z := -8.0; z <= 8; z += 0.01 {
				w := math.Exp(-z * z / 2)
				want += w / (1 + math.Exp(-m-sd*z))
				total += w
			}
			if got := p.At(0, 0); math.Abs(got-want/total) > 0.015 {
				t.Errorf("E logistic of N(%v, %v²) is %.4f, want %.4f", m, sd, got, want/total)
			}
			if sum := p.At(0, 0) + p.At(0, 1); math.Abs(sum-1) > 1e-12 {
				t.Errorf("probabilities add up to %v", sum)
			}
		}
	}
	random := rand.New(rng.New(1, "softmax"))
	const draws = 30_000
	for range 10 {
		mean, variance := mat.NewDense(1, 7, nil), mat.NewDense(1, 7, nil)
		for c := range 7 {
			mean.Set(0, c, 3*random.NormFloat64())
			variance.Set(0, c, 4*random.Float64())
		}
		p, want, f := mat.NewDense(1, 7, nil), make([]float64, 7), make([]float64, 7)
		Functions{mean, variance}.Probabilities(p, Calibration{2, 1})
		for range draws {
			for c := range f {
				f[c] = (mean.At(0, c) + math.Sqrt(variance.At(0, c))*random.NormFloat64()) / 2
			}
			Softmax(f, f)
			for c, v := range f {
				want[c] += v / draws
			}
		}
		for c, v := range want { // the draws have a standard error of 0.002
			if math.Abs(p.At(0, c)-v) > 0.015 {
				t.Errorf("class %d has %.4f, want %.4f", c, p.At(0, c), v)
			}
		}
	}
}

// The temperature undoes a scale that latent functions were given by mistake.
func TestCalibration(t *testing.T) {
	random := rand.New(rng.New(2, "temperature"))
	const n, classes = 1000, 4
	l := Functions{mat.NewDense(n, classes, nil), mat.NewDense(n, classes, nil)}
	class, p := make([]int, n), make([]float64, classes)
	for i := range n {
		for c := range p {
			p[c] = 2 * random.NormFloat64()
			l.Mean.Set(i, c, 3*p[c])
		}
		Softmax(p, p)
		u := random.Float64()
		for c := 0; u > p[c] && c < classes-1; c++ {
			u -= p[c]
			class[i] = c + 1
		}
	}
	got := l.Calibrate(class) // its standard error is about 4/√n
	if math.Abs(got.Temperature-3) > 0.4 {
		t.Errorf("temperature %.3f, want 3", got.Temperature)
	}
}
