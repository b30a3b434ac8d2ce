package experiment

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// Results are the results of all cells, in their order.
type Results struct {
	Rows   Rows // of all cells
	Cells  []string
	Kept   int // cells that were on the shelf already
	Listed int // cells that there are in all, with those that did not run
	arrays map[string]map[string][]float64
}

// Array returns an array of a cell, nil where there is none.
func (r *Results) Array(cell, name string) []float64 { return r.arrays[cell][name] }

func (r *Results) add(cell string, result *Result) {
	r.Cells = append(r.Cells, cell)
	r.Rows = append(r.Rows, result.Rows...)
	r.arrays[cell] = result.Arrays
}

// WriteCSV writes keys and numbers: the same bytes for the same settings.
func (e *Experiment) WriteCSV(w io.Writer, rows Rows) error { return e.writeCSV(w, rows, Number) }

// WriteCosts writes keys and costs of the rows that have any.
func (e *Experiment) WriteCosts(w io.Writer, rows Rows) error {
	free := func(r Row) bool {
		return !slices.ContainsFunc(e.Columns, func(c Column) bool { return c.Kind == Cost && r[c.Name] != nil })
	}
	return e.writeCSV(w, slices.DeleteFunc(slices.Clone(rows), free), Cost)
}

// Seconds is what the rows took in all, 0 where it was not measured.
func (e *Experiment) Seconds(rows Rows) float64 {
	sum := 0.0
	for _, column := range e.Took {
		for _, v := range rows.Nums(column) {
			sum += v
		}
	}
	return sum
}

// HasCosts tells whether there is a column of costs.
func (e *Experiment) HasCosts() bool {
	for _, c := range e.Columns {
		if c.Kind == Cost {
			return true
		}
	}
	return false
}

func (e *Experiment) writeCSV(w io.Writer, rows Rows, kind Kind) error {
	var head []string
	for _, c := range e.Columns {
		if c.Kind == Key || c.Kind == kind {
			head = append(head, c.Name)
		}
	}
	out := csv.NewWriter(w)
	line := make([]string, len(head))
	if err := out.Write(head); err != nil {
		return err
	}
	for _, r := range rows {
		for k, name := range head {
			line[k] = field(r[name])
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func field(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case int:
		return strconv.Itoa(v)
	case float64:
		if math.IsNaN(v) {
			return ""
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	panic(fmt.Sprintf("experiment: a result of type %T", v))
}
