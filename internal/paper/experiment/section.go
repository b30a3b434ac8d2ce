package experiment

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"grfgp/internal/plot"
)

// Table is a table to read. The first column names the rows.
type Table struct {
	Title string     `json:"title"`
	Head  []string   `json:"head"`
	Rows  [][]string `json:"rows"`
	Note  string     `json:"note,omitempty"`
}

// Beside is a row of a comparison with the paper.
type Beside struct {
	What    string
	Paper   string // as printed there
	Theirs  string // ours, by the authors' protocol
	Clean   string // ours, by a clean protocol
	Differs string // in one sentence
}

// Compare makes the table that puts the paper's numbers beside ours. What a row
// leaves empty is shown as a dash.
func Compare(title, note string, rows ...Beside) Table {
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

// besides names what our numbers stand beside, where it is not what the paper prints.
func (t Table) besides(source string) Table {
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

// Figure is a picture with its caption.
type Figure struct {
	Name    string        `json:"name"` // unique within the experiment, as for parts
	Caption string        `json:"caption"`
	Wide    bool          `json:"wide,omitempty"` // a row of panels
	Picture *plot.Picture `json:"-"`
}

// drawn leaves out the figures that have nothing to show yet.
func drawn(figures ...Figure) []Figure {
	return slices.DeleteFunc(figures, func(f Figure) bool { return f.Picture == nil })
}
