package server

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"grfgp/bayesopt"
)

// why tells in plain words why a node might be measured. It says what could be, not what is: a
// policy may follow one of many ways in which the values may be. Rule is the reason of the policy.
func (g *guide) why(i int, s spot, rule string) string {
	said := []string{origin(rule), g.nearness(i, s.Nearest), g.prospect(s)}
	if strings.HasPrefix(rule, "could be ") { // one class or another
		said = append(said, "It "+rule+".")
	}
	var text []string
	for _, sentence := range said {
		if sentence != "" {
			text = append(text, sentence)
		}
	}
	if len(text) == 0 {
		return sentence(rule)
	}
	return strings.Join(text, " ")
}

// origin says where a trial comes from, "" if a model suggested it.
func origin(rule string) string {
	has := func(part string) bool { return strings.Contains(rule, part) }
	switch {
	case strings.HasPrefix(rule, "chosen"), strings.HasPrefix(rule, "queued"):
		return sentence(rule)
	case has("no measurements yet"):
		return "Picked at random, because nothing has been measured yet."
	case has("no model can be fitted"):
		return "Picked at random, because there are too few values to predict from."
	case has("two classes"):
		return "Picked at random, because nodes of two classes must be known before others can be predicted."
	case has("random start"):
		return "Picked at random, because no measured node has a neighbour that is left."
	case has("at random: "):
		return "Picked at random, because the model could not be learned from the values."
	case has("at random"):
		return "Picked at random, as this study does."
	case has("neighbour of"):
		return "It is next to a node that was measured."
	case has("highest degree"):
		return "Many nodes are joined to it."
	}
	return ""
}

// sentence makes a sentence of a text.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}

// near is the share of the width of the map within which a distance is short.
const near = 0.02

// nearness tells how far it is to the nearest measurement.
func (g *guide) nearness(i int, n *nearest) string {
	switch {
	case len(g.around.measured) == 0:
		return ""
	case n == nil && g.around.unit == hops:
		return "No measured node is connected to it."
	case n == nil:
		return ""
	case n.Distance == 0 && n.Node == g.net.Graph.IDs().At(i):
		return "It was measured before."
	case n.Unit == metres && n.Distance > near*g.net.width():
		return fmt.Sprintf("Nobody has measured within %s.", distanceWords(n))
	}
	name := n.Label
	if name == "" {
		name = n.Node
	}
	if n.Unit == hops && n.Distance == 1 {
		return fmt.Sprintf("The nearest reading, at %s, is next to it.", name)
	}
	return fmt.Sprintf("The nearest reading, at %s, is %s away.", name, distanceWords(n))
}

// width returns the larger side of a map by latitude and longitude, in metres; 0 before it is
// known.
func (n *network) width() float64 {
	if !n.isLaidOut() {
		return 0
	}
	const degree = 111_195 // metres of a great circle; x and y of such a map are degrees
	return degree * max(0, n.bounds.x1-n.bounds.x0, n.bounds.y1-n.bounds.y0)
}

// distanceWords tells a distance: 40 m, 0.9 km, 3 steps.
func distanceWords(n *nearest) string {
	d := n.Distance
	switch {
	case n.Unit == hops:
		return fmt.Sprintf("%.0f steps", d)
	case n.Unit == units && d == 1:
		return "1 unit"
	case n.Unit == units:
		return fmt.Sprintf("%.3g units", d)
	case d < 10:
		return fmt.Sprintf("%.0f m", math.Ceil(d))
	case d < 500:
		return fmt.Sprintf("%.0f m", math.Round(d/10)*10)
	case d < 9950:
		return fmt.Sprintf("%.1f km", d/1000)
	}
	return fmt.Sprintf("%.0f km", d/1000)
}

// prospect tells what a measurement could be, and what that would mean for the goal.
func (g *guide) prospect(s spot) string {
	if s.Lower == nil || s.Upper == nil {
		return ""
	}
	lower, upper := *s.Lower, *s.Upper
	could := fmt.Sprintf("The %s could be anything from %s to %s%s", g.quantity(), rounded(lower, upper-lower), rounded(upper, upper-lower),
		g.unit())
	if g.settings.About().Reading == "answer" {
		could = "It could be yes or no"
	} else if rounded(lower, upper-lower) == rounded(upper, upper-lower) {
		could = fmt.Sprintf("The %s could be about %s%s", g.quantity(), rounded(lower, upper-lower), g.unit())
	}
	switch goal := g.settings.Goal; {
	case goal == bayesopt.Minimize && (g.best == nil || lower < *g.best):
		return could + ", so it may be the lowest."
	case goal == bayesopt.Minimize:
		return could + fmt.Sprintf("; the lowest so far is %s.", rounded(*g.best, upper-lower))
	case goal == bayesopt.Maximize && (g.best == nil || upper > *g.best):
		return could + ", so it may be the highest."
	case goal == bayesopt.Maximize:
		return could + fmt.Sprintf("; the highest so far is %s.", rounded(*g.best, upper-lower))
	case s.Above != nil:
		return could + fmt.Sprintf(", and the chance of being above %s is %s.", strconv.FormatFloat(*g.level, 'g', -1, 64), chanceWords(*s.Above))
	}
	return could + ", so a reading here could tell much about the nodes around it."
}

// quantity is what the model predicts, in a word.
func (g *guide) quantity() string {
	if g.settings.Exposures {
		return g.settings.About().Quantity
	}
	return g.settings.About().Reading
}

// unit is the unit of the values with a blank before it, "" if none is known.
func (g *guide) unit() string {
	if g.settings.Unit == "" {
		return ""
	}
	return " " + g.settings.Unit
}

// chanceWords tells a probability, which is never quite 0 or 1.
func chanceWords(p float64) string {
	switch {
	case p < 0.01:
		return "below 1 %"
	case p > 0.99:
		return "above 99 %"
	}
	return fmt.Sprintf("%.0f %%", 100*p)
}

// rounded writes a number as exactly as a range of this width deserves.
func rounded(v, width float64) string {
	size := max(math.Abs(v), width)
	if !(width > 0) || size >= 1e6 || size < 1e-3 {
		return minus(strconv.FormatFloat(v, 'g', 3, 64))
	}
	decimals := max(0, 1-int(math.Floor(math.Log10(width))))
	text := strconv.FormatFloat(v, 'f', min(decimals, 6), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		text = "0"
	}
	return minus(text)
}

// minus writes a number with the sign that people read.
func minus(text string) string { return strings.Replace(text, "-", "−", 1) }
