package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"grfgp"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/layout"
	"grfgp/internal/plot"
)

// listed is how many rows the tables of a report have.
const listed = 10

// mostUncertain returns the nodes of largest sd, the first of the file among equals
// first.
func (r *subject) mostUncertain() []int {
	return largest(r.prediction.SD, r.data.net.Graph.InputOrder())
}

// largest returns the nodes of largest sd, the first of equals first.
func largest(sd []float64, nodes []int) []int {
	var top []int
	for _, i := range nodes {
		// A sorted list of ten: no need to sort a million.
		if len(top) == listed && sd[i] <= sd[top[listed-1]] {
			continue
		}
		at, _ := slices.BinarySearchFunc(top, sd[i], func(j int, v float64) int {
			if sd[j] >= v {
				return -1
			}
			return 1
		})
		top = slices.Insert(top, at, i)
		top = top[:min(len(top), listed)]
	}
	return top
}

// surprises returns the left-out measurements that are most sds from what was
// predicted.
func (r *subject) surprises() []grfgp.Left {
	if r.validation == nil {
		return nil
	}
	all := slices.Clone(r.validation.Left)
	slices.SortStableFunc(all, func(a, b grfgp.Left) int { return cmp.Compare(surprise(b), surprise(a)) })
	return all[:min(len(all), listed)]
}

func surprise(l grfgp.Left) float64 { return math.Abs(l.Value-l.Mean) / l.SD }

// measured marks the nodes with a measurement.
func (r *subject) measured() []bool {
	marks := make([]bool, r.data.net.Graph.Len())
	for _, i := range r.data.data.Nodes {
		marks[i] = true
	}
	return marks
}

// truthFacts compare predictions of unmeasured nodes with what is true.
type truthFacts struct {
	Nodes    int     `json:"nodes"`
	RMSE     float64 `json:"rmse"`
	Coverage float64 `json:"coverage"` // of intervals of the asked level
}

// againstTruth returns nil where the truth is not known.
func (r *subject) againstTruth() *truthFacts {
	if r.truth == nil {
		return nil
	}
	var facts truthFacts
	z := distuv.UnitNormal.Quantile(0.5 + r.level/2)
	measured, inside := r.measured(), 0
	for i, truth := range r.truth {
		if measured[i] {
			continue
		}
		facts.Nodes++
		miss := math.Abs(truth - r.prediction.Mean[i])
		facts.RMSE += miss * miss
		if miss <= z*r.prediction.SD[i] {
			inside++
		}
	}
	facts.RMSE = math.Sqrt(facts.RMSE / float64(facts.Nodes))
	facts.Coverage = float64(inside) / float64(facts.Nodes)
	return &facts
}

// bestRule returns the simple rule with the least error.
func bestRule(v *grfgp.Validation) string {
	return slices.MinFunc(grfgp.Baselines, func(a, b string) int { return cmp.Compare(v.BaselineRMSE[a], v.BaselineRMSE[b]) })
}

// verdicts say in words how far to trust the model.
func verdicts(v *grfgp.Validation) []string {
	rule := bestRule(v)
	gain := 1 - v.RMSE/v.BaselineRMSE[rule]
	words := fmt.Sprintf("%.0f %% less than the best simple rule, %s", 100*gain, rule)
	if !(gain >= 0.005) { // nor where neither has an error
		words = fmt.Sprintf("no less than the simple rule %s: its means are no better than that, though it has no intervals", rule)
	}
	all := []string{fmt.Sprintf("The error of left-out measurements is %.4g, %s.", v.RMSE, words)}
	for _, level := range grfgp.Levels {
		all = append(all, coverageVerdict(v, level))
	}
	if v.Limits != nil {
		for _, words := range limitWords(v.Limits, "left-out measurements") {
			all = append(all, strings.ToUpper(words[:1])+words[1:]+".")
		}
	}
	return all
}

func coverageVerdict(v *grfgp.Validation, level float64) string {
	n := len(v.Left)
	lo, hi := plot.Band(n, level)
	share := v.Coverage[fmt.Sprint(level)]
	inside := int(math.Round(share * float64(n)))
	words := "as they should"
	switch {
	case inside < lo:
		words = "fewer than chance explains: they are too narrow"
	case inside > hi:
		words = "more than chance explains: they are wider than need be"
	}
	return fmt.Sprintf("Intervals of %g %% hold %.1f %% of them, %s (chance alone gives %.1f to %.1f %%).",
		100*level, 100*share, words, 100*float64(lo)/float64(n), 100*float64(hi)/float64(n))
}

// edges returns each edge of a graph once, self loops not.
func edges(g *graph.Graph) func(yield func(i, j int) bool) {
	return func(yield func(i, j int) bool) {
		for i := range g.Len() {
			cols, _ := g.Adjacency().Row(i)
			for _, j := range cols {
				if int(j) > i && !yield(i, int(j)) {
					return
				}
			}
		}
	}
}

// places returns where nodes are drawn, and says how that came about.
func places(net *graphio.Network, seed uint64) (p layout.Points, how string) {
	if nodes := net.Nodes; nodes != nil {
		switch {
		case mostlyKnown(nodes.Lat, nodes.Lon):
			return layout.Geographic(nodes.Lat, nodes.Lon), "Nodes are at their lat and lon."
		case mostlyKnown(nodes.X, nodes.Y):
			return layout.Points{X: nodes.X, Y: nodes.Y}, "Nodes are at their x and y."
		}
	}
	return layout.Of(net.Graph, seed),
		"There are no coordinates: nodes are placed by their edges. What is near is joined closely; directions mean nothing."
}

// mostlyKnown reports whether at least half of the nodes have both coordinates.
func mostlyKnown(a, b []float64) bool {
	if a == nil || b == nil {
		return false
	}
	known := 0
	for i := range a {
		if !math.IsNaN(a[i]) && !math.IsNaN(b[i]) {
			known++
		}
	}
	return 2*known >= len(a)
}
