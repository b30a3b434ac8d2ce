package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"grfgp"
)

// KernelName names a kernel with its terms: "matern, ν = 2 + covariates + roles".
func KernelName(family string, terms []string) string {
	beside := slices.DeleteFunc(slices.Clone(terms), func(t string) bool { return t == "graph" })
	if len(terms) > 0 && len(beside) == len(terms) {
		return strings.Join(terms, " + ")
	}
	return strings.Join(append([]string{family}, beside...), " + ")
}

// writeEffects writes the section on what explains the values.
func (r *Regression) writeEffects(w *writer) {
	e := r.Effects
	w.add(`<section id="effects">
<h2>What explains the values</h2>
`)
	w.list("", e.Words(r.Measured))
	if len(e.Columns) > 0 {
		on := ""
		if e.Scale != "" {
			on = ", on the " + e.Scale + " scale"
		}
		w.add(`
<h3>Effects of columns</h3>
<p class="soft">Mean change when one column alone moves from one value to the other, with 95 % intervals`, text(on), `. `,
			`An effect is an association: the column may stand for another one that is not in the table. “Between nodes” is `,
			`the difference between the nodes that have these values, with all else that differs between them.</p>
`)
		w.table([]th{{"column", "t"}, {"from", ""}, {"to", ""}, {"change", ""}, {"lower", ""}, {"upper", ""}, {"", ""},
			{"linear coefficient", "c"}, {"between nodes", "c"}}, effectRows(e.Columns))
	}
	w.add(`<h3>Parts of the model</h3>
<p class="soft">Variation over nodes of the posterior mean of each part, and the noise of one measurement, as shares of `,
		`their sum. Parts may overlap: what two of them explain is divided as the model fits best.</p>
`)
	var parts [][]markup
	for _, part := range e.Parts {
		parts = append(parts, []markup{text(part.Name), text(fmt.Sprintf("%.0f %%", 100*part.Share)), shareBar(part.Share)})
	}
	w.table([]th{{"part", "t"}, {"share", ""}, {"", ""}}, parts)
	if len(r.Known) > 0 {
		w.add(`<h3>What was done to the columns</h3>
`)
		w.list(` class="soft"`, r.Known)
	}
	w.add(`</section>
`)
}

// effectRows are the rows of the table of effects.
func effectRows(effects []grfgp.Effect) (rows [][]markup) {
	low, high := 0.0, 0.0
	for _, f := range effects {
		low, high = min(low, f.Lower), max(high, f.Upper)
	}
	for _, f := range effects {
		perUnit, between := "", ""
		if f.PerUnit != nil {
			perUnit = short(*f.PerUnit) + " " + f.Unit
		}
		if c := f.Between; c != nil { // the difference between nodes as they are
			between = fmt.Sprintf("%s [%s, %s]", short(c.Mean), short(c.Lower), short(c.Upper))
		}
		row := cells(text(f.Column), f.From, f.To, short(f.Mean), short(f.Lower), short(f.Upper))
		rows = append(rows, append(row, intervalPlot(f, low, high), text(perUnit), text(between)))
	}
	return rows
}

// Size of the small plots in tables, in pixels.
const smallWidth, smallHeight = 160.0, 14.0

// intervalPlot draws an interval on an axis from low to high, with a line at 0.
func intervalPlot(f grfgp.Effect, low, high float64) markup {
	at := func(v float64) float64 {
		return 4 + (smallWidth-8)*(v-low)/math.Max(high-low, math.SmallestNonzeroFloat64)
	}
	colour := "currentColor"
	if f.Clear() {
		colour = "#4a86bd"
	}
	var b strings.Builder
	svg(&b)
	fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="0" y2="%g" stroke="#9aa2ad"/>`, at(0), at(0), smallHeight)
	fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="7" y2="7" stroke="%s" stroke-width="2"/>`, at(f.Lower), at(f.Upper), colour)
	fmt.Fprintf(&b, `<circle cx="%.1f" cy="7" r="3.5" fill="%s"/></svg>`, at(f.Mean), colour)
	return markup(b.String())
}

// shareBar draws a share of the width.
func shareBar(share float64) markup {
	var b strings.Builder
	svg(&b)
	fmt.Fprintf(&b, `<rect x="0" y="3" width="%.1f" height="8" fill="#4a86bd"/></svg>`, smallWidth*min(max(share, 0), 1))
	return markup(b.String())
}

func svg(b *strings.Builder) {
	fmt.Fprintf(b, `<svg role="img" aria-hidden="true" width="%g" height="%g" viewBox="0 0 %g %g">`, smallWidth, smallHeight, smallWidth,
		smallHeight)
}
