package experiment

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// Results are the results of all parts, in the order of Experiment.Parts.
type Results struct {
	Rows   Rows // of all parts
	Parts  []string
	Cached int // parts that were in the cache
	Listed int // all parts, with those that did not run
	arrays map[string]map[string][]float64
}

// Array returns a named array of a part, nil if there is none.
func (r *Results) Array(part, name string) []float64 { return r.arrays[part][name] }

func (r *Results) add(part string, result *Result) {
	r.Parts = append(r.Parts, part)
	r.Rows = append(r.Rows, result.Rows...)
	r.arrays[part] = result.Arrays
}

// WriteCSV writes key and number columns: the same bytes for the same settings.
func (e *Experiment) WriteCSV(w io.Writer, rows Rows) error { return e.writeCSV(w, rows, Number) }

// WriteCosts writes key and cost columns of the rows that have costs.
func (e *Experiment) WriteCosts(w io.Writer, rows Rows) error {
	free := func(r Row) bool {
		return !slices.ContainsFunc(e.Columns, func(c Column) bool { return c.Kind == Cost && r[c.Name] != nil })
	}
	return e.writeCSV(w, slices.DeleteFunc(slices.Clone(rows), free), Cost)
}

// Seconds is the total time of the rows, 0 if it was not measured.
func (e *Experiment) Seconds(rows Rows) float64 {
	sum := 0.0
	for _, column := range e.TimeColumns {
		for _, v := range rows.Nums(column) {
			sum += v
		}
	}
	return sum
}

// HasCosts reports whether the experiment has cost columns.
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
	panic(fmt.Sprintf("experiment: result of unsupported type %T", v))
}
