package graphio

import (
	"fmt"
	"math"
)

// Kind is what values look like. It is a suggestion: only the owner of the data knows.
type Kind string

// The kinds of values. KindYesNo, KindCount and KindShare are the names that gp gives to
// such values.
const (
	KindNumber Kind = ""       // measurements on a continuous scale
	KindYesNo  Kind = "yes-no" // only 0 and 1
	KindCount  Kind = "count"  // numbers of events
	KindShare  Kind = "share"  // positives out of so many tested
)

// Limits of the rule of Kind.
const (
	countMean  = 1000 // a larger count has a noise below 3 % by itself, as other measurements do
	countRatio = 0.25 // least variance over mean: that of a count is 1 or more, that of ratings and years far less
)

// Kind says what the values look like, as they were read, before repeated measurements
// were combined, and why in a sentence. Counted things have another noise than
// measurements on a continuous scale: a program should ask rather than take 0 and 1,
// or counts, for the latter.
//
// Values are yes-no if they are only 0 and 1, and both occur. They are counts if they
// are whole numbers from 0 on, at least three different ones, with a mean up to 1,000
// and a variance of at least a quarter of the mean, and neither years (all from 1800 to
// 2200) nor a numbering (all different and without a gap). With a column of exposures
// they are counts, with one of tested shares.
func (m *Measurements) Kind() (kind Kind, why string) {
	switch {
	case m.Tested != nil:
		return KindShare, "there is a column of numbers tested"
	case m.Exposure != nil:
		return KindCount, "values are read as counts"
	}
	return m.seen.kind()
}

// Whole numbers may be counts, so that a program should ask, if there are at least
// askedRows of them, their mean is at most askedMean, as the noise of a larger count is
// below a fifth of it, and the least is below askedLeast.
const (
	askedRows  = 10
	askedMean  = 25
	askedLeast = 3
)

// Ask returns the kind that the values may be of, and why in a sentence, if a program
// should ask before it takes them for measurements on a continuous scale; otherwise
// KindNumber. Larger whole numbers may be rounded ones, such as speeds.
func (m *Measurements) Ask() (kind Kind, why string) {
	kind, why = m.Kind()
	mean, least := 0.0, math.Inf(1)
	for _, y := range m.Values {
		mean += y / float64(len(m.Values))
		least = min(least, y)
	}
	few := len(m.Values) >= askedRows && mean <= askedMean && least < askedLeast
	if kind == KindYesNo || kind == KindCount && few {
		return kind, why
	}
	return KindNumber, ""
}

// KindOf is Measurements.Kind for a list of values.
func KindOf(values []float64) (kind Kind, why string) {
	var s valuesSeen
	for _, v := range values {
		s.add(v)
	}
	return s.kind()
}

// valuesSeen sums up values for Kind.
type valuesSeen struct {
	n            int
	sum, squares float64 // of whole numbers up to a thousand, without rounding
	least, most  float64
	fraction     bool
	several      map[float64]bool // up to three different values
}

func (s *valuesSeen) add(v float64) {
	if s.n == 0 {
		s.least, s.most, s.several = v, v, map[float64]bool{}
	}
	s.n++
	s.sum += v
	s.squares += v * v
	s.least, s.most = min(s.least, v), max(s.most, v)
	s.fraction = s.fraction || v != math.Trunc(v)
	if len(s.several) < 3 {
		s.several[v] = true
	}
}

func (s *valuesSeen) kind() (Kind, string) {
	if s.n < 2 || s.fraction || s.least < 0 {
		return KindNumber, ""
	}
	if s.least == 0 && s.most == 1 {
		return KindYesNo, fmt.Sprintf("all %d values are 0 or 1", s.n)
	}
	n := float64(s.n)
	mean := s.sum / n
	variance := (s.squares - s.sum*mean) / (n - 1)
	years := s.least >= 1800 && s.most <= 2200
	numbering := s.most-s.least == n-1 && 2*s.sum == n*(s.least+s.most) && math.Abs(variance-n*(n+1)/12) < 1e-9*variance
	if len(s.several) < 3 || mean > countMean || variance < countRatio*mean || years || numbering {
		return KindNumber, ""
	}
	return KindCount, fmt.Sprintf("all %d values are whole numbers from %g to %g, with mean %.3g and variance %.3g", s.n, s.least, s.most,
		mean, variance)
}
