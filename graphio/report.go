package graphio

import (
	"bytes"
	"fmt"
	"io"

	"grfgp/covariate"
)

// Report describes a file: the format and the columns that were detected, and what
// became of its lines.
type Report struct {
	table       Table
	File        string      `json:"file"`
	Format      string      `json:"format"`
	Compression string      `json:"compression,omitempty"`
	Delimiter   string      `json:"delimiter,omitempty"`
	Header      string      `json:"header,omitempty"`  // in words
	Decimal     string      `json:"decimal,omitempty"` // "comma", or nothing for the usual point
	Columns     []Column    `json:"columns,omitempty"`
	Unused      []string    `json:"unused_columns,omitempty"`
	Covariates  []Covariate `json:"covariates,omitempty"` // columns that a model may use
	Weights     string      `json:"weights,omitempty"`    // in words
	Ledger      Ledger      `json:"ledger"`
	Nodes       int         `json:"nodes"`
	Edges       int         `json:"edges"`
	Cells       int64       `json:"cells,omitempty"`    // values of a wide table, which has several in a row
	Missing     int64       `json:"missing_values"`     // empty cells in the columns that were used
	BadRows     []string    `json:"bad_rows,omitempty"` // the first few, in words
	Warnings    []Warning   `json:"warnings,omitempty"`
}

// Covariate is a column of a node table that a model may use.
type Covariate struct {
	Name    string         `json:"name"`
	Kind    covariate.Kind `json:"kind"`
	Missing int            `json:"missing,omitempty"` // nodes without a value
	Notes   []string       `json:"notes,omitempty"`   // what was decided when it was read
}

// Column is a column that has a role, and the reason.
type Column struct {
	Role   Role   `json:"role"`
	Number int    `json:"number,omitempty"` // from 1
	Name   string `json:"name,omitempty"`
	Why    string `json:"why"`
}

// String returns the column in words.
func (c Column) String() string {
	switch {
	case c.Number == 0:
		return fmt.Sprintf("%s: %q (%s)", c.Role, c.Name, c.Why)
	case c.Name == "":
		return fmt.Sprintf("%s: column %d (%s)", c.Role, c.Number, c.Why)
	}
	return fmt.Sprintf("%s: column %d %q (%s)", c.Role, c.Number, c.Name, c.Why)
}

func (r *Report) warn(format string, args ...any) {
	r.offer(fmt.Sprintf(format, args...))
}

// offer adds a warning with remedies.
func (r *Report) offer(what string, remedies ...Remedy) {
	r.Warnings = append(r.Warnings, Warning{Table: r.table, What: what, Remedies: remedies})
}

// lose adds a warning about skipped rows.
func (r *Report) lose(what string) {
	r.Warnings = append(r.Warnings, Warning{Table: r.table, What: what, Loss: true})
}

// doubt adds a warning about values that may be no values, with remedies.
func (r *Report) doubt(what string, remedies ...Remedy) {
	r.Warnings = append(r.Warnings, Warning{Table: r.table, What: what, Remedies: remedies, Loss: true})
}

// badKept is how many bad rows a report quotes.
const badKept = 5

// rejects fails at bad rows or skips them, as the options say.
type rejects struct {
	layout *rowLayout
	skip   bool
	w      io.Writer
	report *Report
}

// take returns the error of the first bad row, or keeps and writes them all.
func (r *rejects) take(bad []badRow) error {
	for _, row := range bad {
		if row.reason == missingNumber {
			r.report.Missing++
		}
		_, line, _ := cutLine(row.raw)
		column := character(line, row.start)
		if row.cells != nil {
			line, column = row.raw, 0
		}
		if !r.skip || len(r.report.BadRows) < badKept {
			what, remedies := row.explain(line, r.layout)
			e := &Error{Code: CodeRow, Table: r.report.table, File: r.report.File, Line: row.at, Column: column, Unit: r.layout.unit, What: what,
				Remedies: remedies}
			if !r.skip {
				return e
			}
			e.Remedies = nil
			r.report.BadRows = append(r.report.BadRows, e.Error())
		}
		if r.w != nil {
			raw := row.raw
			if row.cells != nil {
				raw = asCSV(row.cells)
			}
			if !bytes.HasSuffix(raw, []byte{'\n'}) {
				raw = append(bytes.Clone(raw), '\n') // the last line; those of another file may follow
			}
			if _, err := r.w.Write(raw); err != nil {
				return fmt.Errorf("writing rejected rows of %s: %w", r.report.File, err)
			}
		}
	}
	return nil
}

func newRejects(r *Report, l *rowLayout, opts Options) *rejects {
	return &rejects{layout: l, skip: opts.BadRows == BadRowsSkip, w: opts.Rejects, report: r}
}
