package experiment

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// pairedDifference summarises the differences of a column between rows with equal keys.
func pairedDifference(rows, others Rows, key, column string) Spread {
	var all []float64
	for _, row := range rows {
		for _, other := range others.Where(key, row[key]) {
			all = append(all, row.Num(column)-other.Num(column))
		}
	}
	return SpreadOf(all)
}

// verdict describes a difference: "better" or "worse" if it exceeds two standard errors.
func verdict(d Spread, what string, moreIsBetter bool) string {
	switch {
	case d.N < 2:
		return "too few runs to compare"
	case math.Abs(d.Mean) <= 2*d.SE():
		return fmt.Sprintf("no clear difference in %s (%s)", what, d.withSE())
	}
	word := "worse"
	if (d.Mean > 0) == moreIsBetter {
		word = "better"
	}
	d.Mean = math.Abs(d.Mean)
	return fmt.Sprintf("%s by %s in %s", word, d.withSE(), what)
}

// clusteredDifference returns the mean of a − b and its cluster-robust standard error: values
// within a group may be correlated.
func clusteredDifference(a, b []float64, group func(k int) int) (mean, se float64) {
	n := float64(len(a))
	for k := range a {
		mean += (a[k] - b[k]) / n
	}
	sums := map[int]float64{}
	for k := range a {
		sums[group(k)] += a[k] - b[k] - mean
	}
	square := 0.0
	for _, g := range slices.Sorted(maps.Keys(sums)) {
		square += sums[g] * sums[g]
	}
	groups := float64(len(sums))
	return mean, math.Sqrt(square*groups/(groups-1)) / n
}
