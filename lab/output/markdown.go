package output

import (
	"fmt"
	"io"
	"strings"

	"grfgp/lab/experiment"
)

// writeMarkdown writes the report in Markdown, with links to the figures' files. Write
// errors surface when the file is closed.
func (r *report) writeMarkdown(w io.Writer) error {
	fmt.Fprintf(w, "# %s\n", r.Title)
	if len(r.Missing) > 0 {
		fmt.Fprintf(w, "\nNot run here: %s.\n", strings.Join(r.Missing, ", "))
	}
	for _, s := range r.Sections {
		fmt.Fprintf(w, "\n## %s\n\n%s\n", s.Title, s.About)
		if len(s.Section.Findings) > 0 {
			fmt.Fprintln(w)
		}
		for _, text := range s.Section.Findings {
			fmt.Fprintf(w, "- %s\n", text)
		}
		for _, t := range s.Section.Tables {
			markdownTable(w, t)
		}
		for _, f := range s.Section.Figures {
			fmt.Fprintf(w, "\n![%s](%s)\n\n*%[1]s*\n", markdownText(f.Caption), figureFile(s.Name, f))
		}
		fmt.Fprintf(w, "\n%s Command: `%s`.\n", strings.Join(s.Origin(), " "), s.Command)
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

// markdownText escapes text for a table cell or a link.
func markdownText(text string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "[", "\\[", "]", "\\]").Replace(text)
}
