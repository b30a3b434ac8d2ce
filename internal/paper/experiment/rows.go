package experiment

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// Row is one line of results by the names of columns: string, int and float64
// values. A column that a row has not is empty. Numbers that are not finite are
// kept as NaN.
type Row map[string]any

// Text returns the text of a column, "" where there is none.
func (r Row) Text(column string) string {
	s, _ := r[column].(string)
	return s
}

// Num returns the number of a column, NaN where there is none.
func (r Row) Num(column string) float64 {
	switch v := r[column].(type) {
	case float64:
		return v
	case int:
		return float64(v)
	}
	return math.NaN()
}

// Result is what comes of a part.
type Result struct {
	Rows []Row
	// Arrays are what figures need beyond the rows: curves, fields over a graph. They
	// are kept, but are not part of the CSV.
	Arrays map[string][]float64
}

// Rows are lines of results.
type Rows []Row

// Where returns the rows that have a value, text or number, in a column.
func (rows Rows) Where(column string, value any) Rows {
	want := Row{column: value}
	var found Rows
	for _, r := range rows {
		if text, ok := value.(string); ok && r.Text(column) == text && r[column] != nil || !ok && r.Num(column) == want.Num(column) {
			found = append(found, r)
		}
	}
	return found
}

// Nums returns the finite numbers of a column.
func (rows Rows) Nums(column string) []float64 {
	var all []float64
	for _, r := range rows {
		if v := r.Num(column); !math.IsNaN(v) {
			all = append(all, v)
		}
	}
	return all
}

// Distinct returns the different numbers of a column, in increasing order.
func (rows Rows) Distinct(column string) []float64 {
	all := rows.Nums(column)
	slices.Sort(all)
	return slices.Compact(all)
}

// Over summarises a column.
func (rows Rows) Over(column string) Spread { return SpreadOf(rows.Nums(column)) }

// Along returns the different numbers of a key, in increasing order, and the mean of
// a column at each.
func (rows Rows) Along(key, column string) (x, y []float64) {
	for _, v := range rows.Distinct(key) {
		x, y = append(x, v), append(y, rows.Where(key, v).Over(column).Mean)
	}
	return x, y
}

// Spread is a mean with the standard deviation between N repetitions.
type Spread struct {
	Mean, SD float64
	N        int
}

// SpreadOf summarises numbers.
func SpreadOf(values []float64) Spread {
	s := Spread{math.NaN(), math.NaN(), len(values)}
	switch len(values) {
	case 0:
	case 1:
		s.Mean = values[0]
	default:
		s.Mean, s.SD = stat.MeanStdDev(values, nil)
	}
	return s
}

// SE is the standard error of the mean.
func (s Spread) SE() float64 { return s.SD / math.Sqrt(float64(s.N)) }

// ofMean has the standard error of the mean in place of the standard deviation, to be
// shown.
func (s Spread) ofMean() Spread {
	s.SD = s.SE()
	return s
}

// Fixed shows mean ± standard deviation with so many digits after the point; "–"
// where there is nothing.
func (s Spread) Fixed(digits int) string {
	switch {
	case s.N == 0:
		return "–"
	case s.N == 1 || math.IsNaN(s.SD):
		return fixed(s.Mean, digits)
	}
	return fmt.Sprintf("%s ± %.*f", fixed(s.Mean, digits), digits, s.SD)
}

// fixed writes a number with so many digits after the point, and no −0.
func fixed(v float64, digits int) string {
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

// String shows mean ± standard deviation, both to the second digit of the latter;
// "–" where there is nothing.
func (s Spread) String() string {
	switch {
	case s.N == 0:
		return "–"
	case s.N == 1 || math.IsNaN(s.SD):
		return Short(s.Mean)
	}
	digits := 1 - int(math.Floor(math.Log10(s.SD))) // after the point
	if s.SD == 0 || digits > 6 || digits < 0 {
		return fmt.Sprintf("%s ± %s", Short(s.Mean), strconv.FormatFloat(s.SD, 'g', 2, 64))
	}
	return s.Fixed(digits)
}

// Short shows a number with four digits, "–" for NaN.
func Short(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
