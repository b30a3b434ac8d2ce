package report

import (
	"fmt"
	"html/template"
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

// effectsPage is the section on what explains the values.
type effectsPage struct {
	Words []string
	Rows  []effectRow
	Parts []partRow
	Notes []string
	Scale string
}

type effectRow struct {
	Column, From, To   string
	Mean, Lower, Upper string
	Between            string // difference between nodes as they are; empty: none
	PerUnit            string
	Plot               template.HTML
}

type partRow struct {
	Name, Share string
	Plot        template.HTML
}

// effectsPage returns nil if the model has no part beside the graph.
func (r *Regression) effectsPage() *effectsPage {
	e := r.Effects
	if e == nil {
		return nil
	}
	p := &effectsPage{Words: e.Words(r.Measured), Notes: r.Known, Scale: e.Scale}
	low, high := 0.0, 0.0
	for _, f := range e.Columns {
		low, high = min(low, f.Lower), max(high, f.Upper)
	}
	for _, f := range e.Columns {
		row := effectRow{
			Column: f.Column, From: f.From, To: f.To, Mean: short(f.Mean), Lower: short(f.Lower), Upper: short(f.Upper),
			Plot: intervalPlot(f, low, high),
		}
		if c := f.Between; c != nil {
			row.Between = fmt.Sprintf("%s [%s, %s]", short(c.Mean), short(c.Lower), short(c.Upper))
		}
		if f.PerUnit != nil {
			row.PerUnit = short(*f.PerUnit) + " " + f.Unit
		}
		p.Rows = append(p.Rows, row)
	}
	for _, part := range e.Parts {
		p.Parts = append(p.Parts, partRow{part.Name, fmt.Sprintf("%.0f %%", 100*part.Share), shareBar(part.Share)})
	}
	return p
}

// Size of the small plots in tables, in pixels.
const smallWidth, smallHeight = 160.0, 14.0

// intervalPlot draws an interval on an axis from low to high, with a line at 0.
func intervalPlot(f grfgp.Effect, low, high float64) template.HTML {
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
	return template.HTML(b.String())
}

// shareBar draws a share of the width.
func shareBar(share float64) template.HTML {
	var b strings.Builder
	svg(&b)
	fmt.Fprintf(&b, `<rect x="0" y="3" width="%.1f" height="8" fill="#4a86bd"/></svg>`, smallWidth*min(max(share, 0), 1))
	return template.HTML(b.String())
}

func svg(b *strings.Builder) {
	fmt.Fprintf(b, `<svg role="img" aria-hidden="true" width="%g" height="%g" viewBox="0 0 %g %g">`, smallWidth, smallHeight, smallWidth, smallHeight)
}
