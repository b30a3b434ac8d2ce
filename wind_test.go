package grfgp_test

import (
	"math"
	"testing"

	"grfgp"
	"grfgp/graphio"
	"grfgp/internal/testkit"
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
	mean, sd := 0.0, spreadOf(k.train.Y)
	for _, y := range k.train.Y {
		mean += y / float64(k.train.Len())
	}
	for _, part := range []*[]float64{&k.train.Y, &k.test.Y} {
		for i := range *part {
			(*part)[i] = ((*part)[i] - mean) / sd
		}
	}
	return k
}

// Wind speed from 1,424 nodes under a satellite's track. The paper's learnable
// features have RMSE 0.730 and NLPD 1.050 at 1000 hPa; an untuned exact diffusion
// kernel has 0.568. The documented figures of this library are 0.549 and 0.749;
// nothing in it is random. The quick suite learns from a third of the nodes, with features
// of few walks, and is to be better by a tenth than the mean of the nodes, whose error is 1:
// 0.839 and an NLPD of 1.215 were seen.
func TestWind(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	k, spec := windTask(t, 1000, graphio.WeightsIgnore), grfgp.Spec{Expression: grfgp.Expression{Family: "matern", Nu: 2, Scales: "one"}}
	rmse, nlpd := 0.551, 0.755
	if !testkit.IsFull() {
		var some []int
		for r := 0; r < k.train.Len(); r += 3 {
			some = append(some, r)
		}
		k.train, rmse, nlpd = k.train.Select(some), 0.9, 1.3
		spec.Method, spec.Walks, spec.Hops, spec.Trend, spec.Variance, spec.Roles = "grf", 10, 6, "none", "natural", "none"
	}
	s := k.score(t, spec)
	t.Logf("RMSE %.4f, NLPD %.4f, coverage %.3f and %.3f, %.3f at the poles; standardised errors have variance %.3f and kurtosis %.2f",
		s.rmse, s.nlpd, s.cover80, s.cover95, s.pole80, s.variance, s.kurtosis)
	if s.rmse > rmse || s.nlpd > nlpd {
		t.Errorf("RMSE %.4f and NLPD %.4f, want at most %v and %v", s.rmse, s.nlpd, rmse, nlpd)
	}
}
