package experiment

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// less is the difference of a column between rows that have the same key.
func less(rows, others Rows, key, column string) Spread {
	var all []float64
	for _, row := range rows {
		for _, other := range others.Where(key, row[key]) {
			all = append(all, row.Num(column)-other.Num(column))
		}
	}
	return SpreadOf(all)
}

// judged puts a difference in words: better or worse where it is beyond two standard
// errors.
func judged(d Spread, what string, moreIsBetter bool) string {
	switch {
	case d.N < 2:
		return "too few runs to tell"
	case math.Abs(d.Mean) <= 2*d.SE():
		return fmt.Sprintf("no clear difference in %s (%s)", what, d.ofMean())
	}
	word := "worse"
	if (d.Mean > 0) == moreIsBetter {
		word = "better"
	}
	d.Mean = math.Abs(d.Mean)
	return fmt.Sprintf("%s by %s in %s", word, d.ofMean(), what)
}

// grouped returns the mean of a − b and its standard error where readings of a
// group are not independent: by the spread of the groups' sums.
func grouped(a, b []float64, group func(k int) int) (mean, se float64) {
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
