package bayesopt

import (
	"math"
	"math/big"
	"testing"

	"grfgp/internal/testkit"
)

// bits of the numbers that logarithms are checked with.
const bits = 400

func newBig(v float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(v) }

// integralImprovement returns φ(z) + z·Φ(z), divided by φ(z), for z ≤ 0. With
// t = −z it is 1 − t·∫₀^∞ exp(−tu − u²/2) du = ∫₀^∞ u·exp(−tu − u²/2) du, by
// Simpson's rule in u = s/(1 + t). With steps of 1/256 up to s = 80 its error is far
// below 1e-12, and all terms are positive.
func integralImprovement(z float64) float64 {
	t := -z
	const step, most = 1.0 / 256, 80 * 256
	sum := newBig(0)
	for k := range most + 1 {
		u := float64(k) * step / (1 + t)
		weight := 2.0
		switch {
		case k == 0 || k == most:
			weight = 1
		case k%2 == 1:
			weight = 4
		}
		term := newBig(weight * u * math.Exp(-t*u-u*u/2))
		sum.Add(sum, term)
	}
	sum.Mul(sum, newBig(step/3/(1+t)))
	v, _ := sum.Float64()
	return v
}

// seriesImprovement returns φ(z) + z·Φ(z) for −12 ≤ z ≤ 3 by Taylor's series of Φ with
// 400 bits: Φ(z) = ½ + φ(0)·Σ (−1)^k z^(2k+1)/(2^k k! (2k+1)). Cancellation costs about
// 200 bits.
func seriesImprovement(z float64) float64 {
	x := newBig(z)
	square := new(big.Float).SetPrec(bits).Mul(x, x)
	half := new(big.Float).SetPrec(bits).Quo(square, newBig(-2))
	// exp(−z²/2) and the sum, by the same powers (−z²/2)^k/k!
	power, exp := newBig(1), newBig(0)
	sum := newBig(0)
	for k := range 1200 {
		exp.Add(exp, power)
		sum.Add(sum, new(big.Float).SetPrec(bits).Quo(power, newBig(float64(2*k+1))))
		power.Mul(power, half)
		power.Quo(power, newBig(float64(k+1)))
	}
	sum.Mul(sum, x)
	// φ(0) = 1/√(2π) with 100 decimals.
	root, _, err := big.ParseFloat("0.3989422804014326779399460599343818684758586311649346576659258296706579258993018385012523339073069364",
		10, bits, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	sum.Mul(sum, root)
	sum.Add(sum, newBig(0.5))
	sum.Mul(sum, x)
	sum.Add(sum, exp.Mul(exp, root))
	v, _ := sum.Float64()
	return v
}

// The logarithm of the improvement agrees with 400-bit arithmetic where that is
// easy, with an integral that has no cancellation everywhere below zero, and with
// its asymptotic series −log z² − 3/z² far out, to twelve digits.
func TestLogImprovement(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	about := func(z, got, want float64, by string) {
		t.Helper()
		if math.Abs(got-want) > 1e-12*max(1, math.Abs(want)) {
			t.Errorf("z = %g: %.16g, want %.16g by %s", z, got, want, by)
		}
	}
	for z := -12.0; z <= 3; z += 0.125 {
		about(z, logImprovement(z, 1), math.Log(seriesImprovement(z)), "400 bits")
	}
	for _, z := range []float64{-1 - 1e-9, -1, -1.5, -2, -3, -5, -8, -13, -20, -38, -39, -50, -100, -300, -1e3, -1e4} {
		about(z, math.Log(remainder(-z)), math.Log(integralImprovement(z)), "an integral")
		about(z, logImprovement(z, 1), -z*z/2-math.Log(2*math.Pi)/2+math.Log(integralImprovement(z)), "an integral")
		if z <= -1000 {
			about(z, math.Log(remainder(-z)), -math.Log(z*z)-3/(z*z), "its asymptotic series")
		}
		// Scale: log EI(s·gap, s·sd) = log s + log EI(gap, sd).
		about(z, logImprovement(1e-9*z, 1e-9)-math.Log(1e-9), logImprovement(z, 1), "its scale")
	}
	for _, c := range []struct{ gap, sd, want float64 }{
		{2, 0, math.Log(2)}, {0, 0, math.Inf(-1)}, {-1, 0, math.Inf(-1)}, {40, 1, math.Log(40)}} {
		if got := logImprovement(c.gap, c.sd); got != c.want && math.Abs(got-c.want) > 1e-15 {
			t.Errorf("gap %g, sd %g: %v, want %v", c.gap, c.sd, got, c.want)
		}
	}
	// Strictly increasing, over what is below the range of a float64 as well.
	before := math.Inf(-1)
	for z := -1e4; z < 5; z += 0.37 {
		now := logImprovement(z, 1)
		if !(now > before) {
			t.Fatalf("z = %g: %v after %v", z, now, before)
		}
		before = now
	}
}
