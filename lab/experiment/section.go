package experiment

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"grfgp/lab/plot"
)

// Table is a table of the report. The first column names the rows.
type Table struct {
	Title string     `json:"title"`
	Head  []string   `json:"head"`
	Rows  [][]string `json:"rows"`
	Note  string     `json:"note,omitempty"`
}

// Comparison is a row of a table that compares our numbers with the paper's.
type Comparison struct {
	What    string
	Paper   string // as printed there
	Theirs  string // ours, by the authors' protocol
	Clean   string // ours, by the clean protocol
	Differs string // differences between them
}

// Compare makes a table of comparisons. Empty numbers are shown as dashes.
func Compare(title, note string, rows ...Comparison) Table {
	t := Table{Title: title, Head: []string{"", "paper", "ours, authors' protocol", "ours, clean protocol", "what differs"}, Note: note}
	for _, r := range rows {
		line := []string{r.What, r.Paper, r.Theirs, r.Clean, r.Differs}
		for k, text := range line[1:4] {
			if text == "" {
				line[k+1] = "–"
			}
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// withSource names the source of the numbers that ours are compared with, if it is not the
// paper.
func (t Table) withSource(source string) Table {
	t.Head[1] = source
	return t
}

// Fprint writes the table as text.
func (t Table) Fprint(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		for k, text := range row {
			if k > 0 {
				fmt.Fprint(out, "\t")
			}
			fmt.Fprint(out, text)
		}
		fmt.Fprintln(out)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if t.Note != "" {
		_, err := fmt.Fprintln(w, t.Note)
		return err
	}
	return nil
}

// Figure is a figure of the report.
type Figure struct {
	Name    string        `json:"name"` // unique within the experiment; characters as in Part.Name
	Caption string        `json:"caption"`
	Wide    bool          `json:"wide,omitempty"` // a row of panels
	Picture *plot.Picture `json:"-"`
}

// nonEmpty returns the figures that have something to show.
func nonEmpty(figures ...Figure) []Figure {
	return slices.DeleteFunc(figures, func(f Figure) bool { return f.Picture == nil })
}
