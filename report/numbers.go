package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"grfgp/internal/plural"
)

// numbers writes values with the digits that their uncertainty leaves, and thousands
// separated.
type numbers struct {
	decimals int // negative: powers of ten, for values that are very large or very small
}

// numbersFor returns the format of values with the given standard deviations: the last digit is
// about a tenth of the median standard deviation or, without uncertainty, a thousandth of the range.
func numbersFor(values, sds []float64) numbers {
	unit := 0.0
	if sorted := finite(sds); len(sorted) > 0 {
		unit = sorted[len(sorted)/2] / 10
	}
	all := finite(values)
	if len(all) == 0 {
		return numbers{3}
	}
	most := max(math.Abs(all[0]), math.Abs(all[len(all)-1]))
	if unit <= 1e-6*most { // no uncertainty to speak of
		unit = (all[len(all)-1] - all[0]) / 1000
	}
	if unit <= 1e-9*most {
		unit = most / 1000
	}
	if most >= 1e15 || unit < 1e-6 && unit > 0 {
		return numbers{-1}
	}
	if unit == 0 {
		return numbers{0}
	}
	return numbers{max(0, int(math.Ceil(-math.Log10(unit)-1e-9)))}
}

// finite returns the finite values in increasing order.
func finite(values []float64) []float64 {
	all := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	slices.Sort(all)
	return all
}

// finer returns the format with one more digit, for comparisons.
func (n numbers) finer() numbers {
	if n.decimals < 0 {
		return n
	}
	return numbers{n.decimals + 1}
}

// text writes a number; a dash stands for what is none.
func (n numbers) text(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "–"
	case n.decimals < 0:
		return powerOfTen(v)
	}
	text := fmt.Sprintf("%.*f", n.decimals, math.Abs(v))
	whole, part, broken := strings.Cut(text, ".")
	text = grouped(whole)
	if broken {
		text += "." + part
	}
	if v < 0 && strings.Trim(text, "0.") != "" {
		return "−" + text
	}
	return text
}

// short writes a number with four digits.
func short(v float64) string {
	size := math.Abs(v)
	switch {
	case size < 1e-12:
		return "0"
	case size >= 1e15 || size < 1e-5:
		return powerOfTen(v)
	}
	return numbers{max(0, 3-int(math.Floor(math.Log10(size))))}.text(v)
}

// in writes a number with its unit, which may be empty.
func (n numbers) in(v float64, unit string) string { return strings.TrimSpace(n.text(v) + " " + unit) }

// powerOfTen writes 1.234 × 10^15.
func powerOfTen(v float64) string {
	if v == 0 {
		return "0"
	}
	digits, power, _ := strings.Cut(fmt.Sprintf("%.3e", v), "e")
	sign := strings.TrimLeft(power[:1], "+")
	return strings.ReplaceAll(fmt.Sprintf("%s × 10^%s%s", digits, sign, strings.TrimLeft(power[1:], "0")), "-", "−")
}

// grouped separates the thousands of a whole number.
func grouped(digits string) string {
	var b strings.Builder
	for k, d := range digits {
		if k > 0 && (len(digits)-k)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// count writes a number of things, thousands separated: "1 node", "12,345 nodes".
func count(n int, things string) string {
	digits := fmt.Sprint(n)
	_, noun, _ := strings.Cut(plural.Count(n, things), " ")
	return grouped(digits) + " " + noun
}

// percent writes a share, rounded, but never as all or nothing if it is not.
func percent(share float64) string {
	rounded := math.Round(100 * share)
	switch {
	case rounded == 100 && share < 1:
		return "more than 99 %"
	case rounded == 0 && share > 0:
		return "less than 1 %"
	}
	return fmt.Sprintf("%.0f %%", rounded)
}
