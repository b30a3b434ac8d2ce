package grfgp_test

import (
	"fmt"
	"math"
	"testing"

	"grfgp"
	"grfgp/graphio"
)

// windTask has the wind speed at a level (1000, 800 or 500 hPa) on the globe:
// measured under the track of a satellite, predicted elsewhere, standardised by
// the training part.
func windTask(t testing.TB, level int, weights graphio.Weights) task {
	k := task{graph: readGraph(t, "wind_era5/grid_edges.csv.gz", graphio.Options{Weights: weights})}
	track := map[string]bool{}
	for _, row := range table(t, "wind_era5/aeolus_train_nodes.csv.gz") {
		track[row[0]] = true
	}
	column := map[int]int{1000: 3, 800: 5, 500: 7}[level]
	for _, row := range table(t, "wind_era5/era5_wind_2010-01_2.5deg.csv.gz") {
		part := &k.test
		if track[row[0]] {
			part = &k.train
		}
		part.Nodes = append(part.Nodes, at(t, k.graph, row[0]))
		part.Y = append(part.Y, math.Hypot(number(t, row[column]), number(t, row[column+1])))
	}
	mean, square := 0.0, 0.0
	for _, y := range k.train.Y {
		mean += y / float64(k.train.Len())
		square += y * y / float64(k.train.Len())
	}
	sd := math.Sqrt(square - mean*mean)
	for _, part := range []*[]float64{&k.train.Y, &k.test.Y} {
		for i := range *part {
			(*part)[i] = ((*part)[i] - mean) / sd
		}
	}
	return k
}

func TestWind(t *testing.T) {
	for _, level := range []int{1000, 800, 500} {
		s := windTask(t, level, graphio.WeightsIgnore).score(t, grfgp.Spec{})
		fmt.Printf("%d hPa: RMSE %.4f NLPD %.4f coverage %.3f %.3f %+v\n", level, s.rmse, s.nlpd, s.cover80, s.cover95, s.choice)
	}
}
