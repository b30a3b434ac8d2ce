package gp

import (
	"math"
	"math/rand/v2"
	"testing"

	"grfgp/internal/rng"
	"grfgp/kernel"
)

// nonGaussian are the kinds of values that Laplace's approximation serves.
var nonGaussian = []Values{Student, Counts, Shares, YesNo, Duration, Positive}

// simulated returns measurements of the given kind at nodes, drawn at the given f;
// size is the exposure of counts and the number of trials of shares.
func simulated(v Values, nodes []int, f []float64, size float64, shape Shape, scale float64, seed uint64) Data {
	random := rand.New(rng.New(seed, "simulated measurements"))
	d := Data{Nodes: nodes}
	for k := range nodes {
		y := 0.0
		switch v {
		case Gaussian:
			y = f[k] + scale*random.NormFloat64()
		case Student:
			chi := 0.0
			for range int(shape.Freedom) {
				z := random.NormFloat64()
				chi += z * z
			}
			y = f[k] + scale*random.NormFloat64()/math.Sqrt(chi/shape.Freedom)
		case Counts:
			mu := size * math.Exp(f[k])
			if shape.Dispersion > 0 {
				mu *= gammaDraw(random, 1/shape.Dispersion) * shape.Dispersion
			}
			y = poissonDraw(random, mu)
		case Shares:
			for range int(size) {
				if random.Float64() < logistic(f[k]) {
					y++
				}
			}
		case YesNo:
			if random.Float64() < logistic(f[k]) {
				y = 1
			}
		case Duration:
			y = math.Exp(f[k]) * random.ExpFloat64()
		case Positive:
			y = math.Exp(f[k]) * gammaDraw(random, 1/shape.Dispersion) * shape.Dispersion
		}
		d.Y = append(d.Y, y)
		if v == Counts || v == Shares {
			d.Exposure = append(d.Exposure, size)
		}
	}
	return d
}

// poissonDraw counts arrivals in a time mu.
func poissonDraw(random *rand.Rand, mu float64) float64 {
	n := -1.0
	for t := 0.0; t < mu; n++ {
		t += random.ExpFloat64()
	}
	return max(n, 0)
}

// gammaDraw is by Marsaglia and Tsang (2000), for shapes of 1 and more, and by a power
// below.
func gammaDraw(random *rand.Rand, a float64) float64 {
	if a < 1 {
		return gammaDraw(random, a+1) * math.Pow(random.Float64(), 1/a)
	}
	d := a - 1.0/3
	for {
		x := random.NormFloat64()
		v := 1 + x/math.Sqrt(9*d)
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(random.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// wave is a smooth function on n nodes.
func wave(n int) []float64 {
	f := make([]float64, n)
	for i := range f {
		f[i] = math.Sin(2 * math.Pi * float64(i) / 12)
	}
	return f
}

// laplaceOf returns the approximation for simulated data on the small graph.
func laplaceOf(t *testing.T, v Values, dispersed bool) (*laplace, []float64) {
	t.Helper()
	k := kernels(t, smallGraph(t))["dense"]
	nodes := allNodes(34)[2:30]
	nodes[5] = nodes[4] // a node measured twice
	shape, _ := v.likelihood().shaped(0.1)
	if v == Counts {
		shape = Shape{}
	}
	d := simulated(v, nodes, wave(34)[2:30], 4, shape, 0.3, 7)
	p := &params{list: k.Params(), known: 0}
	theta := []float64{0.8, 3}
	if of := v.likelihood().parameter(); of.name != "" && !of.optional || dispersed {
		p.list = append(p.list, kernel.Param{Name: "shape", Start: 0.1, Positive: true})
		p.noise = true
		theta = append(theta, 0.2)
	}
	return &laplace{kernel: k, data: d, values: v, center: 0.1, meanVar: 2, params: p}, theta
}

func TestLaplaceGradient(t *testing.T) {
	t.Parallel()
	for _, v := range nonGaussian {
		for _, dispersed := range []bool{false, true} {
			if dispersed && v != Counts {
				continue
			}
			l, theta := laplaceOf(t, v, dispersed)
			_, grad, err := evaluate(l, theta)
			if err != nil {
				t.Fatal(err)
			}
			for j := range theta {
				h := 1e-5 * theta[j]
				at := func(x float64) float64 {
					moved := append([]float64(nil), theta...)
					moved[j] = x
					value, _, err := evaluate(l, moved)
					if err != nil {
						t.Fatal(err)
					}
					return value
				}
				want := (at(theta[j]+h) - at(theta[j]-h)) / (2 * h)
				if math.Abs(grad[j]-want) > 2e-6*(1+math.Abs(want)) {
					t.Errorf("%v, dispersed %v: derivative by parameter %d is %.9g, by differences %.9g", v, dispersed, j, grad[j], want)
				}
			}
		}
	}
}
