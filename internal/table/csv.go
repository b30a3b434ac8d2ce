package table

import (
	"encoding/csv"
	"io"
	"strconv"
)

// csvWriter writes a header and a line per row. Missing cells are empty.
type csvWriter struct {
	out     *csv.Writer
	columns []Column
	cells   []string
}

func newCSV(w io.Writer, columns []Column) (Writer, error) {
	c := &csvWriter{csv.NewWriter(w), columns, make([]string, len(columns))}
	for k, column := range columns {
		c.cells[k] = column.Name
	}
	return c, c.out.Write(c.cells)
}

func (c *csvWriter) Write(row Row) error {
	for k, column := range c.columns {
		c.cells[k] = row.Cells[k].format(column)
	}
	return c.out.Write(c.cells)
}

func (c *csvWriter) Close() error {
	c.out.Flush()
	return c.out.Error()
}

// format returns the cell as text, "" if it is missing.
func (c Cell) format(column Column) string {
	switch {
	case !c.known:
		return ""
	case column.Kind == Number && column.Digits > 0:
		return strconv.FormatFloat(c.number, 'g', column.Digits, 64)
	case column.Kind == Number:
		return strconv.FormatFloat(c.number, 'g', -1, 64)
	case column.Kind == Whole:
		return strconv.FormatInt(int64(c.number), 10)
	case column.Kind == Truth:
		return strconv.FormatBool(c.number != 0)
	}
	return c.text
}
