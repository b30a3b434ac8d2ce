package covariate

import (
	"fmt"
	"slices"
	"strings"
)

// All is the name that stands for all columns without another role.
const All = "all"

// Select returns the columns with the given names, in the order of columns. All, or no
// names, means every column that has no other role. Names are compared exactly and, if
// none is equal, without regard to case; a column is also found by its role. The
// columns of except, such as the one to be predicted, are left out of all; to name one
// of them is an error. Errors wrap ErrColumns.
func Select(columns []Column, names []string, except ...string) ([]Column, error) {
	wanted := make([]bool, len(columns))
	if len(names) == 0 {
		names = []string{All}
	}
	for _, name := range names {
		if k := find(columns, name); k >= 0 {
			if slices.Contains(except, columns[k].Name) {
				return nil, fmt.Errorf("%w: %q is what is to be predicted; leave it out", ErrColumns, columns[k].Name)
			}
			wanted[k] = true
			continue
		}
		if !strings.EqualFold(name, All) {
			return nil, fmt.Errorf("%w: %w", ErrColumns, unknown(columns, name))
		}
		for k, c := range columns {
			if c.Role == "" && !slices.Contains(except, c.Name) {
				wanted[k] = true
			}
		}
	}
	var out []Column
	for k, c := range columns {
		if wanted[k] {
			out = append(out, c)
		}
	}
	return out, nil
}

// find returns the number of the column with a name, or -1.
func find(columns []Column, name string) int {
	for _, same := range []func(c Column) bool{
		func(c Column) bool { return c.Name == name },
		func(c Column) bool { return strings.EqualFold(c.Name, name) },
		func(c Column) bool { return c.Role != "" && c.Role == name },
	} {
		if k := slices.IndexFunc(columns, same); k >= 0 {
			return k
		}
	}
	return -1
}

// unknown is the error about a name that no column has.
func unknown(columns []Column, name string) error {
	if len(columns) == 0 {
		return fmt.Errorf("there is no column %q: the node table has no columns but ids", name)
	}
	var all []string
	nearest, best := "", len([]rune(name))/2+1
	for _, c := range columns {
		if d := edits(strings.ToLower(name), strings.ToLower(c.Name)); d < best {
			nearest, best = c.Name, d
		}
		if len(all) < 30 {
			all = append(all, c.Name)
		}
	}
	list := strings.Join(all, ", ")
	if len(columns) > len(all) {
		list += fmt.Sprintf(" and %d more", len(columns)-len(all))
	}
	if nearest != "" {
		return fmt.Errorf("there is no column %q; did you mean %q? The columns are %s", name, nearest, list)
	}
	return fmt.Errorf("there is no column %q; the columns are %s", name, list)
}

// edits is the number of letters to insert, delete or replace to turn a into b.
func edits(a, b string) int {
	s, t := []rune(a), []rune(b)
	row := make([]int, len(t)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range s {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range t {
			cost := diagonal
			if x != y {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(t)]
}
