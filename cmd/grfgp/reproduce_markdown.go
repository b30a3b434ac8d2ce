package main

import (
	"fmt"
	"io"
	"strings"

	"grfgp/internal/paper/experiment"
)

// writeMarkdown writes the report for places that show Markdown, such as the pages
// of a repository; figures are the files beside it. Errors of w show when it is
// flushed.
func (p *reproducePage) writeMarkdown(w io.Writer) error {
	fmt.Fprintf(w, "# %s\n", p.Title)
	if len(p.Missing) > 0 {
		fmt.Fprintf(w, "\nNot run here: %s.\n", strings.Join(p.Missing, ", "))
	}
	for _, c := range p.Chapters {
		fmt.Fprintf(w, "\n## %s\n\n%s\n", c.Title, c.About)
		if len(c.Section.Findings) > 0 {
			fmt.Fprintln(w)
		}
		for _, text := range c.Section.Findings {
			fmt.Fprintf(w, "- %s\n", text)
		}
		for _, t := range c.Section.Tables {
			markdownTable(w, t)
		}
		for _, f := range c.Section.Figures {
			fmt.Fprintf(w, "\n![%s](%s)\n\n*%[1]s*\n", markdownText(f.Caption), figureFile(c.Name, f))
		}
		fmt.Fprintf(w, "\n%s By `%s`.\n", strings.Join(c.Origin(), " "), c.Command)
	}
	return nil
}

func markdownTable(w io.Writer, t experiment.Table) {
	fmt.Fprintf(w, "\n**%s**\n\n", markdownText(t.Title))
	line := func(cells []string) {
		for _, text := range cells {
			fmt.Fprintf(w, "| %s ", markdownText(text))
		}
		fmt.Fprintln(w, "|")
	}
	line(t.Head)
	fmt.Fprintln(w, strings.Repeat("| --- ", len(t.Head))+"|")
	for _, row := range t.Rows {
		line(row)
	}
	if t.Note != "" {
		fmt.Fprintf(w, "\n%s\n", t.Note)
	}
}

// markdownText keeps text in its cell.
func markdownText(text string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "[", "\\[", "]", "\\]").Replace(text)
}
