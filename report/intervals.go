package report

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"grfgp"
	"grfgp/gp"
	"grfgp/internal/parallel"
)

// intervals are the credible intervals of a report: of the quantity, and of a new reading.
type intervals struct {
	prediction grfgp.Prediction
	level      float64
	plain      bool    // Gaussian: a number of standard deviations from the mean
	noise      float64 // standard deviation of the noise of a plain reading
	exposure   float64 // of a new count or share
	whole      bool    // readings are whole numbers
	of         string  // what a reading is, in words
}

func newIntervals(r *Regression) *intervals {
	v := &intervals{prediction: r.Prediction, level: r.Level, noise: r.Model.NoiseSD(), exposure: 1}
	if len(r.Prediction.Mean) > 0 {
		v.plain = r.Prediction.At(0).Plain()
	}
	v.exposure = medianExposure(r.Data)
	about := r.Spec.About()
	v.whole, v.of = about.Whole, about.NewReading
	if r.Data.Exposure != nil {
		v.of += fmt.Sprintf(" with the median exposure, %.4g", v.exposure)
	}
	return v
}

// medianExposure returns the median of the exposures, 1 without any.
func medianExposure(d gp.Data) float64 {
	if len(d.Exposure) == 0 {
		return 1
	}
	sorted := slices.Sorted(slices.Values(d.Exposure))
	return sorted[len(sorted)/2]
}

// quantity returns the interval of the quantity at node i.
func (v *intervals) quantity(i int) (lower, upper float64) {
	return v.prediction.At(i).Interval(v.level)
}

// reading returns the interval of a new reading at node i.
func (v *intervals) reading(i int) (lower, upper float64) {
	if v.plain {
		half := v.sds() * math.Hypot(v.prediction.SD[i], v.noise)
		return v.prediction.Mean[i] - half, v.prediction.Mean[i] + half
	}
	return v.prediction.At(i).Measurement(v.exposure).Interval(v.level)
}

// sds is half the width of a normal interval, in standard deviations.
func (v *intervals) sds() float64 { return distuv.UnitNormal.Quantile(0.5 + v.level/2) }

// columns returns both intervals of all nodes.
func (v *intervals) columns(r rows) []column {
	percent := fmt.Sprintf("%g %%", 100*v.level)
	ofQuantity, ofReading := percent+" interval of the quantity", percent+" interval of "+v.of
	names := []string{"lower", "upper", "reading_lower", "reading_upper"}
	about := []string{ofQuantity, ofQuantity, ofReading, ofReading}
	all := make([]column, len(names))
	if v.plain {
		for k, name := range names {
			all[k] = column{Key: name, Name: heading(name), About: about[k], Kind: "number", SDs: v.sds()}
			if k%2 == 0 {
				all[k].SDs *= -1
			}
			if k > 1 {
				all[k].Noise = v.noise
			}
		}
		return all
	}
	values := make([][]float64, len(names))
	for k := range values {
		values[k] = make([]float64, len(v.prediction.Mean))
	}
	parallel.Ranges(len(v.prediction.Mean), 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			values[0][i], values[1][i] = v.quantity(i)
			values[2][i], values[3][i] = v.reading(i)
		}
	})
	for k, name := range names {
		kind := "number"
		if v.whole && k > 1 {
			kind = "whole"
		}
		all[k] = r.column(name, heading(name), about[k], kind, values[k])
	}
	return all
}

// heading is the name of a column in a table of the page.
func heading(key string) string {
	switch key {
	case "reading_lower":
		return "reading lower"
	case "reading_upper":
		return "reading upper"
	}
	return key
}

// measuredValues returns the mean of the measurements of each node, of counts and shares per unit of
// exposure; NaN without any.
func measuredValues(n int, d gp.Data) []float64 {
	value, weights := make([]float64, n), make([]float64, n)
	for k, i := range d.Nodes {
		sum, weight := d.Y[k], 1.0
		switch {
		case d.Exposure != nil:
			weight = d.Exposure[k]
		case d.Count != nil:
			weight = float64(d.Count[k])
			sum *= weight
		}
		value[i] += sum
		weights[i] += weight
	}
	for i := range value {
		value[i] /= weights[i] // 0/0 where nothing was measured
	}
	return value
}
