package experiment

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// Row is one row of results: values of type string, int or float64 by column name.
// Missing columns are empty. Infinite numbers are stored as NaN.
type Row map[string]any

// Text returns the text in a column, "" if there is none.
func (r Row) Text(column string) string {
	s, _ := r[column].(string)
	return s
}

// Num returns the number in a column, NaN if there is none.
func (r Row) Num(column string) float64 {
	switch v := r[column].(type) {
	case float64:
		return v
	case int:
		return float64(v)
	}
	return math.NaN()
}

// Result is the result of a part.
type Result struct {
	Rows []Row
	// Arrays hold data for figures, such as curves and predictions at all nodes. They are
	// cached but not written to the CSV file.
	Arrays map[string][]float64
}

// Rows are rows of results.
type Rows []Row

// Where returns the rows with a given text or number in a column.
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

// Nums returns the numbers in a column, without NaN.
func (rows Rows) Nums(column string) []float64 {
	var all []float64
	for _, r := range rows {
		if v := r.Num(column); !math.IsNaN(v) {
			all = append(all, v)
		}
	}
	return all
}

// Distinct returns the distinct numbers in a column, in increasing order.
func (rows Rows) Distinct(column string) []float64 {
	all := rows.Nums(column)
	slices.Sort(all)
	return slices.Compact(all)
}

// Over summarises a column.
func (rows Rows) Over(column string) Spread { return SpreadOf(rows.Nums(column)) }

// Along returns the distinct numbers in a key column, in increasing order, and the mean of
// another column at each.
func (rows Rows) Along(key, column string) (x, y []float64) {
	for _, v := range rows.Distinct(key) {
		x, y = append(x, v), append(y, rows.Where(key, v).Over(column).Mean)
	}
	return x, y
}

// Spread is the mean and standard deviation of N repetitions.
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

// withSE replaces the standard deviation by the standard error of the mean, for display.
func (s Spread) withSE() Spread {
	s.SD = s.SE()
	return s
}

// Fixed formats mean ± standard deviation with the given number of decimals; "–" if there
// are no values.
func (s Spread) Fixed(digits int) string {
	switch {
	case s.N == 0:
		return "–"
	case s.N == 1 || math.IsNaN(s.SD):
		return fixed(s.Mean, digits)
	}
	return fmt.Sprintf("%s ± %.*f", fixed(s.Mean, digits), digits, s.SD)
}

// fixed formats a number with the given number of decimals, without −0.
func fixed(v float64, digits int) string {
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

// String formats mean ± standard deviation, rounded to two digits of the standard
// deviation; "–" if there are no values.
func (s Spread) String() string {
	switch {
	case s.N == 0:
		return "–"
	case s.N == 1 || math.IsNaN(s.SD):
		return Short(s.Mean)
	}
	digits := 1 - int(math.Floor(math.Log10(s.SD))) // decimals
	if s.SD == 0 || digits > 6 || digits < 0 {
		return fmt.Sprintf("%s ± %s", Short(s.Mean), strconv.FormatFloat(s.SD, 'g', 2, 64))
	}
	return s.Fixed(digits)
}

// Short formats a number with four digits, "–" for NaN.
func Short(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
