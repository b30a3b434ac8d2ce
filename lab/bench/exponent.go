package bench

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Exponent is b of cost ≈ a·N^b, with its 95 % interval.
type Exponent struct {
	Value  float64 `json:"value"`
	Lower  float64 `json:"lower"`
	Upper  float64 `json:"upper"`
	Factor float64 `json:"factor"` // a
	R2     float64 `json:"r2"`     // of the regression of logarithms
}

// FitExponent regresses log cost on log nodes. Costs that are not positive are ignored. With
// two points the interval has no width; with fewer the result is NaN.
func FitExponent(nodes, cost []float64) Exponent {
	var x, y []float64
	for i, c := range cost {
		if c > 0 {
			x, y = append(x, math.Log2(nodes[i])), append(y, math.Log2(c))
		}
	}
	if len(x) < 2 {
		none := math.NaN()
		return Exponent{none, none, none, none, none}
	}
	a, b := stat.LinearRegression(x, y, nil, false)
	rest, spread, mean := 0.0, 0.0, stat.Mean(x, nil)
	for i := range x {
		rest += (y[i] - a - b*x[i]) * (y[i] - a - b*x[i])
		spread += (x[i] - mean) * (x[i] - mean)
	}
	e := Exponent{b, b, b, math.Exp2(a), stat.RSquared(x, y, nil, a, b)}
	if free := float64(len(x) - 2); free > 0 {
		half := distuv.StudentsT{Sigma: 1, Nu: free}.Quantile(0.975) * math.Sqrt(rest/free/spread)
		e.Lower, e.Upper = b-half, b+half
	}
	return e
}

// fit fits the exponent of a cost of points.
func fit(points []ScalingPoint, cost func(ScalingPoint) float64) Exponent {
	var x, y []float64
	for _, p := range points {
		x, y = append(x, float64(p.Nodes)), append(y, cost(p))
	}
	return FitExponent(x, y)
}
