package main

import (
	"fmt"
	"io"
	"strings"

	"grfgp/graphio"
)

// printCheck prints the answer as text: a paragraph per file, then the graph.
func (a *app) printCheck(r *checkAnswer) error {
	var text strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&text, "%-14s  %s\n", name, fmt.Sprintf(format, args...))
	}
	for _, file := range []struct {
		name   string
		report *graphio.Report
	}{{"edges", r.Edges}, {"nodes", r.Nodes}, {"measurements", r.Measurements}} {
		if file.report != nil {
			printReport(line, file.name, file.report)
			text.WriteByte('\n')
		}
	}
	g := r.Graph
	line("graph", "%v, %v", count(g.Nodes, "nodes"), count(g.Edges, "edges"))
	line("  degrees", "%d to %d, median %g", g.DegreeMin, g.DegreeMax, g.DegreeMedian)
	if g.WeightMin != g.WeightMax {
		line("  weights", "%.4g to %.4g", g.WeightMin, g.WeightMax)
	}
	line("  components", "%v", g.Components)
	line("  lone nodes", "%d", g.Lone)
	if m := r.Measured; m != nil {
		line("  measured", "%d of %d nodes (%.3g %%), by %v", m.Nodes, g.Nodes, 100*float64(m.Nodes)/float64(g.Nodes), count(m.Readings, "readings"))
		line("  values", "%.5g to %.5g, mean %.5g, sd %.4g", m.Min, m.Max, m.Mean, m.SD)
		if m.Blind.Count > 0 {
			line("  unmeasured", "components without any measurement: %v; nothing can be learnt there", m.Blind)
		}
	}
	text.WriteByte('\n')
	c := r.Features
	switch {
	case !c.Fits:
		line("features", "do not fit: %s are needed, more than 80 %% of what is free; see --memory, --walks and --rows of grfgp features", size(c.PeakBytes))
	case c.Error == 0:
		line("features", "about %s and %s, exact (%d walkers, hops 0 to %d)", size(c.Bytes), roughly(c.Seconds), c.Walkers, c.Hops)
	default:
		line("features", "about %s and %s for an error of %.2g (%d walkers, hops 0 to %d)", size(c.Bytes), roughly(c.Seconds), c.Error, c.Walkers, c.Hops)
	}
	_, err := io.WriteString(a.Out, text.String())
	return err
}

// printReport prints what was understood of a file.
func printReport(line func(name, format string, args ...any), name string, r *graphio.Report) {
	traits := []string{r.Format}
	if r.Compression != "" {
		traits = append(traits, r.Compression)
	}
	if r.Delimiter != "" {
		traits = append(traits, "delimiter "+r.Delimiter)
	}
	if r.Decimal != "" {
		traits = append(traits, "decimal "+r.Decimal)
	}
	switch r.Header {
	case "":
	case "none":
		traits = append(traits, "no header")
	default:
		traits = append(traits, "names from "+r.Header)
	}
	line(name, "%s", r.File)
	line("  format", "%s", strings.Join(traits, ", "))
	for _, c := range r.Columns {
		role, text, _ := strings.Cut(c.String(), ": ")
		line("  "+role, "%s", text)
	}
	if len(r.Unused) > 0 {
		line("  not used", "%s", strings.Join(r.Unused, ", "))
	}
	if r.Weights != "" {
		line("  weights", "%s", r.Weights)
	}
	line("  ledger", "%s", r.Ledger)
	if r.Missing > 0 {
		line("  missing", "%v", count(int(r.Missing), "values"))
	}
	for i, bad := range r.BadRows {
		line(map[bool]string{true: "  bad rows"}[i == 0], "%s", bad)
	}
	if more := int(r.Ledger.Bad) - len(r.BadRows); more > 0 {
		line("", "and %d more", more)
	}
	for _, w := range r.Warnings {
		line("  note", "%s", w.Text(asFlags))
	}
}

// count shows a number and what is counted: "1 edge", "2 edges".
func count(n int, plural string) graphio.Class {
	return graphio.Class{Name: plural, Count: int64(n)}
}

// roughly shows a time that is only roughly known.
func roughly(seconds float64) string {
	switch {
	case seconds < 0.1:
		return "less than 0.1 s"
	case seconds < 100:
		return fmt.Sprintf("%.2g s", seconds)
	}
	return fmt.Sprintf("%.0f min", seconds/60)
}

// String shows how many components there are and how large the first ones are.
func (p parts) String() string {
	const shown = 5
	var first []string
	for _, n := range p.Sizes[:min(shown, len(p.Sizes))] {
		first = append(first, fmt.Sprint(n))
	}
	if p.Count > shown {
		first = append(first, "…")
	}
	if p.Count == 1 {
		return fmt.Sprintf("1, of %v", count(p.Nodes, "nodes"))
	}
	return fmt.Sprintf("%d, of %s (%v in all)", p.Count, strings.Join(first, ", "), count(p.Nodes, "nodes"))
}
