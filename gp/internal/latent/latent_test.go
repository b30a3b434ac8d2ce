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
	t.Parallel()
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
	t.Parallel()
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

// Slopes of the log score against differences of it.
func TestLogScoreSlopes(t *testing.T) {
	t.Parallel()
	random := rand.New(rng.New(3, "slopes"))
	const n, classes, step = 5, 3, 1e-6
	l, class := New(n, classes), make([]int, n)
	for i := range n {
		class[i] = random.IntN(classes)
		for c := range classes {
			l.Mean.Set(i, c, 2*random.NormFloat64())
			l.Variance.Set(i, c, 0.1+random.Float64())
		}
	}
	k := Calibration{0.8, 0.7}
	slopes := NewSlopes(n, classes)
	_, byTemperature := l.LogScore(class, k, slopes)
	value := func(k Calibration) float64 {
		v, _ := l.LogScore(class, k, nil)
		return v
	}
	near := func(what string, got, up, down, step float64) {
		t.Helper()
		if want := (up - down) / (2 * step); math.Abs(got-want) > 1e-6*max(1, math.Abs(want)) {
			t.Errorf("derivative by %s: %v, want %v", what, got, want)
		}
	}
	near("temperature", byTemperature, value(Calibration{0.8 * math.Exp(step), 0.7}), value(Calibration{0.8 * math.Exp(-step), 0.7}), step)
	for i := range n {
		for c := range classes {
			for _, m := range []struct {
				what    string
				of, got *mat.Dense
			}{{"mean", l.Mean, slopes.Mean}, {"variance", l.Variance, slopes.Variance}} {
				was := m.of.At(i, c)
				m.of.Set(i, c, was+step)
				up := value(k)
				m.of.Set(i, c, was-step)
				down := value(k)
				m.of.Set(i, c, was)
				near(m.what, m.got.At(i, c), up, down, step)
			}
		}
	}
}

// Peaks inside the range, at its ends, and of functions whose slope is flat far away.
func TestPeak(t *testing.T) {
	t.Parallel()
	for _, at := range []float64{-4, -0.3, 0, 0.004, 1.7, 2.9, 5} {
		for _, guess := range []float64{-1, 0, 2} {
			count := 0
			got, _ := peak(-4.6, 3, guess, 0.5, func(x float64) (float64, float64) {
				count++
				return -math.Log(math.Cosh(2 * (x - at))), -2 * math.Tanh(2*(x-at))
			})
			if want := min(3, at); math.Abs(got-want) > 0.02 || count > 15 {
				t.Errorf("peak at %v from %v: found %v after %d evaluations", want, guess, got, count)
			}
		}
	}
}

// No class is preferred: functions that are alike have the same probability, and the smallest differences of means, far
// below the error of a probability, decide which class is the most probable.
func TestAlikeClasses(t *testing.T) {
	t.Parallel()
	for _, classes := range []int{2, 3, 7, 40} {
		for _, sd := range []float64{0.3, 1, 3} {
			for likely := range classes {
				l, p := New(1, classes), mat.NewDense(1, classes, nil)
				for c := range classes {
					l.Variance.Set(0, c, sd*sd)
				}
				l.Probabilities(p, none)
				for c := range classes {
					if v := p.At(0, c); math.Abs(v-1/float64(classes)) > 1e-14 {
						t.Fatalf("%d classes alike: class %d has probability %v", classes, c, v)
					}
				}
				l.Mean.Set(0, likely, 1e-6)
				l.Probabilities(p, none)
				if got := Argmax(p.RawRowView(0)); got != likely {
					t.Fatalf("%d classes of sd %v: class %d is the most probable, want %d", classes, sd, got, likely)
				}
			}
		}
	}
}
