// Package examples generates small data sets with a known truth, for the demo and for
// tutorials: cases of a disease in the areas of a country, and papers with topics that cite
// each other. The demo's city is in its own package.
package examples

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"grfgp/internal/rng"
)

// Areas is a country of administrative areas, with cases of a disease in most of them.
type Areas struct {
	IDs      []string
	X, Y     []float64 // centre, in km
	Farming  []float64 // people who work outdoors, in per cent
	Expected []float64 // cases to expect from the number and the age of the people
	Risk     []float64 // truth: cases are Poisson numbers of mean Expected · Risk
	Cases    []int     // −1: the area has not reported
	Borders  [][2]int
}

const (
	areaRows, areaColumns = 10, 14
	areaSize              = 20.0 // km
	silent                = 0.08 // share of areas that have not reported
)

// NewAreas returns the country of a seed.
func NewAreas(seed uint64) *Areas {
	source := rng.New(seed, "areas")
	r := rand.New(source)
	a := &Areas{}
	at := func(row, column int) int { return row*areaColumns + column }
	for row := range areaRows {
		for column := range areaColumns {
			a.IDs = append(a.IDs, fmt.Sprintf("%c%02d", 'A'+row, column+1))
			a.X = append(a.X, math.Round(10*areaSize*(float64(column)+0.5*r.Float64()))/10)
			a.Y = append(a.Y, math.Round(10*areaSize*(float64(row)+0.5*r.Float64()))/10)
			if column > 0 {
				a.Borders = append(a.Borders, [2]int{at(row, column-1), at(row, column)})
			}
			if row > 0 {
				a.Borders = append(a.Borders, [2]int{at(row-1, column), at(row, column)})
			}
			if row > 0 && column > 0 { // four areas meet in a point as a rule: one pair of them has a border
				pair := [2]int{at(row-1, column-1), at(row, column)}
				if r.IntN(2) == 0 {
					pair = [2]int{at(row-1, column), at(row, column-1)}
				}
				a.Borders = append(a.Borders, pair)
			}
		}
	}
	const riskSD, farmingSD = 0.35, 7
	smooth, rural := a.field(r, 6), a.field(r, 3)
	for i := range a.IDs {
		farming := max(0, 12+farmingSD*rural[i])
		a.Farming = append(a.Farming, math.Round(10*farming)/10)
		a.Risk = append(a.Risk, math.Exp(riskSD*smooth[i]+0.45*rural[i]))
		a.Expected = append(a.Expected, math.Round(10*math.Exp(2.3+0.8*r.NormFloat64()))/10)
		cases := distuv.Poisson{Lambda: a.Expected[i] * a.Risk[i], Src: source}.Rand()
		if r.Float64() < silent {
			cases = -1
		}
		a.Cases = append(a.Cases, int(cases))
	}
	return a
}

// field returns a random function of the areas with mean 0 and variance 1, which is
// smoothed over the borders a number of times.
func (a *Areas) field(r *rand.Rand, times int) []float64 {
	f := make([]float64, len(a.IDs))
	for i := range f {
		f[i] = r.NormFloat64()
	}
	for range times {
		sum, n := make([]float64, len(f)), make([]float64, len(f))
		for _, b := range a.Borders {
			sum[b[0]], n[b[0]] = sum[b[0]]+f[b[1]], n[b[0]]+1
			sum[b[1]], n[b[1]] = sum[b[1]]+f[b[0]], n[b[1]]+1
		}
		for i := range f {
			f[i] = (f[i] + sum[i]/n[i]) / 2
		}
	}
	standardize(f)
	return f
}

// standardize scales values to mean 0 and variance 1.
func standardize(f []float64) {
	mean, square := 0.0, 0.0
	for _, v := range f {
		mean += v / float64(len(f))
		square += v * v / float64(len(f))
	}
	for i := range f {
		f[i] = (f[i] - mean) / math.Sqrt(square-mean*mean)
	}
}
