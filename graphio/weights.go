package graphio

import (
	"fmt"
)

const threeWays = "say --weights similarity (larger means more alike), --weights distance (w = mean distance / distance) or --weights ignore (all edges equal)"

// chooseWeight finds the column of weights. What may be a distance is never
// taken as a weight unless the options say so.
func (s *sheet) chooseWeight(c *edgeColumns, opts Options, r *Report) error {
	set := func(column int, distance bool, why string) error {
		if column == c.source || column == c.target {
			return s.in.ask(fmt.Sprintf("column %s is an end of the edge, it cannot be its weight too", s.nameOf(column)), "name another column")
		}
		c.weight, c.distance = column, distance
		role := RoleWeight
		if distance {
			role = RoleDistance
		}
		r.Columns = append(r.Columns, s.told(role, column, why))
		return nil
	}
	if opts.Weights == WeightsIgnore {
		r.Weights = "all edges are equal, as told"
		return nil
	}
	if spec, ok := opts.Columns[RoleDistance]; ok {
		column, err := s.column(RoleDistance, spec)
		if err != nil {
			return err
		}
		if opts.Weights == WeightsSimilarity {
			return s.in.ask("a distance column is given, but --weights says similarity", "give --column weight="+spec+" instead")
		}
		return set(column, true, asTold)
	}
	if spec, ok := opts.Columns[RoleWeight]; ok {
		column, err := s.column(RoleWeight, spec)
		if err != nil {
			return err
		}
		if opts.Weights == WeightsAuto && column < len(s.names) && RoleDistance.rank(s.names[column]) < rankNone {
			return s.looksLikeDistance(column)
		}
		return set(column, opts.Weights == WeightsDistance, asTold)
	}

	weights, distances := s.named(c, RoleWeight), s.named(c, RoleDistance)
	nameless := s.nameless(c)
	switch opts.Weights {
	case WeightsSimilarity:
		return s.only(set, false, "--weights similarity", weights, distances, nameless)
	case WeightsDistance:
		return s.only(set, true, "--weights distance", distances, weights, nameless)
	}
	switch {
	case len(weights) > 1:
		return s.in.ask("the weight may be "+list(s.namesOf(weights), "or"), "say which: --column weight="+s.nameOf(weights[0]))
	case len(weights) == 1:
		if len(distances) > 0 {
			r.warn("column %s looks like a distance and is not used; the weight is column %s", s.nameOf(distances[0]), s.nameOf(weights[0]))
		}
		return set(weights[0], false, "by name")
	case len(distances) > 0:
		return s.looksLikeDistance(distances[0])
	case len(nameless) > 0:
		return s.in.ask(fmt.Sprintf("column %d holds numbers and has no name: it may be a weight or a distance", nameless[0]+1), threeWays)
	}
	r.Weights = "all edges are equal: there is no column of weights"
	return nil
}

func (s *sheet) looksLikeDistance(column int) error {
	return s.in.ask(fmt.Sprintf("column %s looks like a distance; taken as a weight it would make far things alike", s.nameOf(column)), threeWays)
}

// only uses the first list that is not empty, if it holds one column.
func (s *sheet) only(set func(int, bool, string) error, distance bool, why string, lists ...[]int) error {
	for _, columns := range lists {
		switch {
		case len(columns) == 1:
			return set(columns[0], distance, why)
		case len(columns) > 1:
			return s.in.ask("the column of weights may be "+list(s.namesOf(columns), "or"), "say which: --column weight="+s.nameOf(columns[0]))
		}
	}
	return s.in.ask(fmt.Sprintf("%s needs a column of numbers beside the ends, and there is none that looks so", why), "name it: --column weight=…")
}

func (s *sheet) namesOf(columns []int) []string {
	out := make([]string, len(columns))
	for i, j := range columns {
		out[i] = s.nameOf(j)
	}
	return out
}

// named returns the columns whose names fit the role best. A name that fits a
// distance is no weight; a merely likely name needs numbers below it.
func (s *sheet) named(c *edgeColumns, role Role) []int {
	best, found := rankNone, []int(nil)
	for j, name := range s.names {
		if j == c.source || j == c.target || role == RoleWeight && RoleDistance.rank(name) < rankNone {
			continue
		}
		rank := role.rank(name)
		if rank == rankNone || rank > rankSure && s.types[j] == typeText {
			continue
		}
		if rank < best {
			best, found = rank, nil
		}
		if rank == best {
			found = append(found, j)
		}
	}
	return found
}

// nameless returns the first column of numbers in a file without names.
func (s *sheet) nameless(c *edgeColumns) []int {
	if s.names != nil {
		return nil
	}
	for j, t := range s.types {
		if j != c.source && j != c.target && t.number() {
			return []int{j}
		}
	}
	return nil
}
