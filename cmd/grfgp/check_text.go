package main

import (
	"fmt"
	"io"
	"strings"

	"grfgp/graphio"
	"grfgp/internal/plural"
	"grfgp/report"
)

// printCheck prints the answer as text: a paragraph per file, then the graph.
func (a *app) printCheck(r *checkAnswer) error {
	var text strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&text, "%-14s  %s\n", name, fmt.Sprintf(format, args...))
	}
	lines := func(all []report.Fact) {
		for _, f := range all {
			line("  "+f.Name, "%s", f.Text)
		}
	}
	for _, file := range []struct {
		name   string
		report *graphio.Report
	}{{"edges", r.Edges}, {"nodes", r.Nodes}, {"measurements", r.Measurements}} {
		if file.report != nil {
			facts := report.DescribeFile(file.name, file.report, asFlags)
			line(facts[0].Name, "%s", facts[0].Text)
			lines(facts[1:])
			text.WriteByte('\n')
		}
	}
	g := r.Graph
	line("graph", "%s, %s", plural.Count(g.Nodes, "nodes"), plural.Count(g.Edges, "edges"))
	lines(g.Lines())
	if r.Measured != nil {
		lines(r.Measured.Lines(g.Nodes))
	}
	text.WriteByte('\n')
	c := r.Features
	switch {
	case !c.Fits:
		line("features", "need %s, more than 80 %% of the free memory; see --memory, --walks and --rows of grfgp features", size(c.PeakBytes))
	case c.Error == 0:
		line("features", "about %s and %s, exact (%d walkers, hops 0 to %d)", size(c.Bytes), roughly(c.Seconds), c.Walkers, c.Hops)
	default:
		line("features", "about %s and %s for an error of %.2g (%d walkers, hops 0 to %d)", size(c.Bytes), roughly(c.Seconds), c.Error, c.Walkers, c.Hops)
	}
	_, err := io.WriteString(a.Out, text.String())
	return err
}

// roughly shows an estimated time.
func roughly(seconds float64) string {
	switch {
	case seconds < 0.1:
		return "less than 0.1 s"
	case seconds < 100:
		return fmt.Sprintf("%.2g s", seconds)
	}
	return fmt.Sprintf("%.0f min", seconds/60)
}
