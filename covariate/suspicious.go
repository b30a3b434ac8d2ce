package covariate

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"
)

// What makes a column suspicious, and from how many measurements on.
const (
	disguise   = 0.999
	enoughTold = 10
)

// Suspicious warns, in words, of columns that nearly equal the measurements y of the
// given nodes: a column of X with an R² or a squared rank correlation above 0.999, or a
// category whose levels explain that much although they are few.
func (s *Set) Suspicious(y []float64, nodes []int) []string {
	if s.X == nil || len(nodes) < enoughTold || len(y) != len(nodes) || slices.Min(y) == slices.Max(y) {
		return nil
	}
	ranksY := ranks(y)
	var out []string
	x := make([]float64, len(nodes))
	for j, name := range s.Names {
		for k, i := range nodes {
			x[k] = s.X.At(i, j)
		}
		switch linear, monotone := explained(x, y), explained(ranks(x), ranksY); {
		case linear > disguise:
			out = append(out, fmt.Sprintf("%s explains %s of the variance of the measurements: is it the target in disguise?", name,
				percent(linear)))
		case monotone > disguise:
			out = append(out, fmt.Sprintf("%s puts the measurements in their order (rank correlation %.4f): is it the target in disguise?", name,
				math.Sqrt(monotone)))
		}
	}
	for from, to := range s.sources() {
		if r2 := s.byLevels(y, nodes, from, to); r2 > disguise {
			out = append(out, fmt.Sprintf("the levels of %s explain %s of the variance of the measurements: is it the target in disguise?",
				s.Readings[from].Column, percent(r2)))
		}
	}
	return out
}

// SuspiciousClasses is Suspicious for classes of nodes: it warns of source columns whose
// values, at least five times fewer than the nodes, tell the class of more than 99.9 %.
func (s *Set) SuspiciousClasses(class, nodes []int) []string {
	if s.X == nil || len(nodes) < enoughTold || len(class) != len(nodes) || slices.Min(class) == slices.Max(class) {
		return nil
	}
	var out []string
	for from, to := range s.sources() {
		if share := s.purity(class, nodes, from, to); share > disguise {
			out = append(out, fmt.Sprintf("%s tells the class of %s of the labelled nodes: is it the class in disguise?", s.Readings[from].Column,
				percent(share)))
		}
	}
	return out
}

// purity returns the share of nodes that have the most common class among those with the
// same values in columns from to to−1; 0 if there are too many different values to tell.
func (s *Set) purity(class, nodes []int, from, to int) float64 {
	counts := map[string]map[int]int{}
	var key []byte
	for k, i := range nodes {
		key = key[:0]
		for _, v := range s.X.RawRowView(i)[from:to] {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v))
		}
		if counts[string(key)] == nil {
			if 5*(len(counts)+1) > len(nodes) {
				return 0
			}
			counts[string(key)] = map[int]int{}
		}
		counts[string(key)][class[k]]++
	}
	pure := 0
	for _, of := range counts {
		most := 0
		for _, n := range of {
			most = max(most, n)
		}
		pure += most
	}
	return float64(pure) / float64(len(nodes))
}

// sources yields the first column of X of each source column, and the one after its last.
func (s *Set) sources() iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for from := 0; from < len(s.Names); {
			to := from + 1
			for to < len(s.Names) && s.Readings[to].Column == s.Readings[from].Column {
				to++
			}
			if !yield(from, to) {
				return
			}
			from = to
		}
	}
}

// percent writes a share close to 1 with the digits that matter.
func percent(share float64) string {
	if share > 0.99999 {
		return "practically all"
	}
	return fmt.Sprintf("%.2f %%", math.Floor(1e4*share)/100)
}

// byLevels returns the share of the variance of y that the levels of a category
// explain, from columns from to to−1 of X; 0 if there are too many levels to tell.
func (s *Set) byLevels(y []float64, nodes []int, from, to int) float64 {
	if to-from < 3 || s.Readings[from].Form != Level || 5*(to-from) > len(nodes) {
		return 0
	}
	sums, counts := make([]float64, to-from+1), make([]int, to-from+1)
	level := make([]int, len(nodes))
	for k, i := range nodes {
		for j := from; j < to; j++ {
			if s.X.At(i, j) > 0 {
				level[k] = j - from + 1
			}
		}
		sums[level[k]] += y[k]
		counts[level[k]]++
	}
	fit := make([]float64, len(y))
	for k := range y {
		fit[k] = sums[level[k]] / float64(counts[level[k]])
	}
	return explained(fit, y)
}

// explained is the squared correlation, 0 if one of them is constant.
func explained(x, y []float64) float64 {
	size := 0.0
	for _, v := range y {
		size = max(size, math.Abs(v))
	}
	var mx, my float64
	n := float64(len(x))
	for k := range x {
		mx += x[k] / n
		my += y[k] / size / n
	}
	var xx, yy, xy float64
	for k := range x {
		a, b := x[k]-mx, y[k]/size-my
		xx += a * a
		yy += b * b
		xy += a * b
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return xy / xx * xy / yy
}

// ranks returns the ranks of values; equal values share the mean of theirs.
func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	out := make([]float64, len(values))
	for lo := 0; lo < len(order); {
		hi := lo + 1
		for hi < len(order) && values[order[hi]] == values[order[lo]] {
			hi++
		}
		for _, k := range order[lo:hi] {
			out[k] = float64(lo+hi-1) / 2
		}
		lo = hi
	}
	return out
}
