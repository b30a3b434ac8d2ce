package effects

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"grfgp/covariate"
)

// Words tells the effects in short sentences: clear ones first, the largest first; then
// the columns along which nodes differ, beyond chance, although the column alone has no
// clear effect. The quantity is the name of what was measured; "" means "the value". At most
// eight effects of each sort are told.
func (e *Effects) Words(quantity string) []string {
	quantity = cmp.Or(quantity, "the value")
	var clear, along, vague []Effect
	for _, f := range e.Columns {
		switch {
		case f.Clear():
			clear = append(clear, f)
			continue
		case f.Between.BeyondChance():
			along = append(along, f)
		}
		vague = append(vague, f)
	}
	words := largest(clear, "smaller clear effects: %d more",
		func(f Effect) float64 { return f.Mean }, func(f Effect) string { return f.words(quantity, e.Scale) })
	words = append(words, largest(along, "smaller clear differences: %d more",
		func(f Effect) float64 { return f.Between.Mean }, func(f Effect) string { return f.betweenWords(quantity, e.Scale) })...)
	if len(vague) > 0 {
		words = append(words, "no clear effect of "+listOf(vague, mostWords)+", all else equal (interval includes 0)")
	}
	return append(words, e.partWords()...)
}

// mostWords is the number of effects that are told, at most.
const mostWords = 8

// largest tells the largest of some effects, and how many more there are.
func largest(all []Effect, more string, size func(Effect) float64, tell func(Effect) string) (words []string) {
	slices.SortStableFunc(all, func(a, b Effect) int { return cmp.Compare(math.Abs(size(b)), math.Abs(size(a))) })
	for _, f := range all[:min(mostWords, len(all))] {
		words = append(words, tell(f))
	}
	if n := len(all) - mostWords; n > 0 {
		words = append(words, fmt.Sprintf(more, n))
	}
	return words
}

// interval tells a change with its interval; of logarithms, as a factor.
func interval(mean, lower, upper float64, scale string) string {
	if scale == "log" {
		return fmt.Sprintf("× %s [%s, %s]", digits(math.Exp(mean)), digits(math.Exp(lower)), digits(math.Exp(upper)))
	}
	numbers := fmt.Sprintf("%s [%s, %s]", signed(mean), digits(lower), digits(upper))
	if scale != "" {
		numbers += " on the " + scale + " scale"
	}
	return numbers
}

// agree returns the form of a verb that agrees with the name of a quantity: columns
// are called speed as well as speeds.
func agree(quantity, one, many string) string {
	for _, end := range []string{"ss", "us", "is", "as"} {
		if strings.HasSuffix(quantity, end) {
			return one
		}
	}
	if strings.HasSuffix(quantity, "s") {
		return many
	}
	return one
}

// higher compares by the sign of a difference.
func higher(difference float64) string {
	if difference < 0 {
		return "lower"
	}
	return "higher"
}

// betweenWords tells how nodes differ along a column.
func (f Effect) betweenWords(quantity, scale string) string {
	c := f.Between
	numbers, are := interval(c.Mean, c.Lower, c.Upper, scale), agree(quantity, "is", "are")
	if f.Of != "" {
		return fmt.Sprintf("%s %s %s where %s is %s, with all that differs there: %s", quantity, are, higher(c.Mean), f.Column, f.Of, numbers)
	}
	return fmt.Sprintf("%s %s %s where %s is high, with all that differs there: %s between nodes up to %s and nodes from %s on", quantity, are,
		higher(c.Mean), f.Column, numbers, f.From, f.To)
}

// words tells one clear effect.
func (f Effect) words(quantity, scale string) string {
	numbers := interval(f.Mean, f.Lower, f.Upper, scale)
	if f.Of != "" {
		return fmt.Sprintf("%s %s %s where %s is %s: %s", quantity, agree(quantity, "is", "are"), higher(f.Mean), f.Column, f.Of, numbers)
	}
	rises := agree(quantity, "rises", "rise")
	if f.Mean < 0 {
		rises = agree(quantity, "falls", "fall")
	}
	return fmt.Sprintf("%s %s with %s: %s from %s to %s", quantity, rises, f.Column, numbers, f.From, f.To)
}

// partNames are names of parts in sentences.
var partNames = map[string]string{"graph": "the graph", "covariates": "all columns together",
	"covariates × roles": "columns combined with roles"}

// partWords tells the shares of the parts.
func (e *Effects) partWords() []string {
	if len(e.Parts) < 2 || len(e.Parts) == 2 && e.Parts[0].Name == "graph" {
		return nil // there is nothing beside the graph
	}
	parts := slices.Clone(e.Parts)
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(b.Share, a.Share) })
	var shares []string
	for _, p := range parts {
		name := cmp.Or(partNames[p.Name], p.Name)
		shares = append(shares, fmt.Sprintf("%s %.0f %%", name, 100*p.Share))
	}
	return []string{"shares of the variation: " + strings.Join(shares, ", ") + "; parts may overlap"}
}

// listOf names the columns of effects.
func listOf(all []Effect, most int) string {
	var names []string
	for _, f := range all {
		name := f.Column
		if f.Of != "" {
			name += "=" + f.Of
		}
		names = append(names, name)
	}
	list := strings.Join(names[:min(most, len(names))], ", ")
	if more := len(names) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// digits writes a number with two digits, or all before the decimal point.
func digits(v float64) string {
	if a := math.Abs(v); a >= 100 && a < 1e15 {
		return strconv.FormatFloat(math.Round(v), 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

func signed(v float64) string {
	if v > 0 {
		return "+" + digits(v)
	}
	return digits(v)
}

// valueText writes a value of a source column.
func valueText(r covariate.Reading, v float64) string {
	if r.Date {
		return time.Unix(int64(v*86400), 0).UTC().Format(time.DateOnly)
	}
	text := strconv.FormatFloat(v, 'g', 4, 64)
	if math.Abs(v) >= 1000 && math.Abs(v) < 1e15 {
		text = strconv.FormatFloat(math.Round(v), 'f', -1, 64)
		for k := len(text) - 3; k > 0 && text[k-1] != '-'; k -= 3 {
			text = text[:k] + "," + text[k:]
		}
	}
	return text
}
