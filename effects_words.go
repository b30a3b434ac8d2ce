package grfgp

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

// Words tells the effects in short sentences: clear ones first, the largest first. The
// quantity is the name of what was measured; "" means "the value". At most eight
// clear effects are told.
func (e *Effects) Words(quantity string) []string {
	const most = 8
	quantity = cmp.Or(quantity, "the value")
	var clear, vague []Effect
	for _, f := range e.Columns {
		if f.Clear() {
			clear = append(clear, f)
		} else {
			vague = append(vague, f)
		}
	}
	slices.SortStableFunc(clear, func(a, b Effect) int { return cmp.Compare(math.Abs(b.Mean), math.Abs(a.Mean)) })
	var words []string
	for _, f := range clear[:min(most, len(clear))] {
		words = append(words, f.words(quantity, e.Scale))
	}
	if more := len(clear) - most; more > 0 {
		words = append(words, fmt.Sprintf("smaller clear effects: %d more", more))
	}
	if len(vague) > 0 {
		words = append(words, "no clear effect of "+listOf(vague, most)+" (interval includes 0)")
	}
	return append(words, e.partWords()...)
}

// words tells one clear effect.
func (f Effect) words(quantity, scale string) string {
	numbers := fmt.Sprintf("%s [%s, %s]", signed(f.Mean), digits(f.Lower), digits(f.Upper))
	switch scale {
	case "":
	case "log":
		numbers = fmt.Sprintf("× %s [%s, %s]", digits(math.Exp(f.Mean)), digits(math.Exp(f.Lower)), digits(math.Exp(f.Upper)))
	default:
		numbers += " on the " + scale + " scale"
	}
	if f.Of != "" {
		higher := "higher"
		if f.Mean < 0 {
			higher = "lower"
		}
		return fmt.Sprintf("%s is %s where %s is %s: %s", quantity, higher, f.Column, f.Of, numbers)
	}
	rises := "rises"
	if f.Mean < 0 {
		rises = "falls"
	}
	return fmt.Sprintf("%s %s with %s: %s from %s to %s", quantity, rises, f.Column, numbers, f.From, f.To)
}

// partWords tells the shares of the parts.
func (e *Effects) partWords() []string {
	if len(e.Parts) < 2 || len(e.Parts) == 2 && e.Parts[0].Name == "graph" {
		return nil // there is nothing beside the graph
	}
	parts := slices.Clone(e.Parts)
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(b.Share, a.Share) })
	var shares []string
	for _, p := range parts {
		name := p.Name
		if name == "graph" {
			name = "the graph"
		}
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
