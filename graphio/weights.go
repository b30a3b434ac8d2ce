package graphio

import (
	"fmt"
	"slices"
)

// The meanings that a column of numbers may have.
var (
	asSimilarity  = do("use it as a similarity (larger means more similar)", Setting{Option: OptionWeights, Value: string(WeightsSimilarity)})
	asDistance    = do("use it as a distance (w = mean distance / distance)", Setting{Option: OptionWeights, Value: string(WeightsDistance)})
	ignoreWeights = do("treat all edges as equal", Setting{Option: OptionWeights, Value: string(WeightsIgnore)})
)

// chooseWeight finds the column of weights. A column that may be a distance is never
// used as a weight unless the options say so.
func (s *sheet) chooseWeight(c *edgeColumns, opts Options, r *Report) error {
	set := func(column int, distance bool, why string) error {
		if column == c.source || column == c.target {
			return s.in.fail(CodeOption, fmt.Sprintf("column %s is an end of the edge, it cannot be its weight too", s.nameOf(column)),
				do("name another column"))
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
		r.Weights = "all edges are equal, as requested"
		return nil
	}
	if spec, ok := opts.Columns[RoleDistance]; ok {
		column, err := s.column(RoleDistance, spec)
		if err != nil {
			return err
		}
		if opts.Weights == WeightsSimilarity {
			return s.in.fail(CodeOption, "a distance column is given, but weights are said to be similarities",
				do("name it as the weight", Setting{OptionColumns, RoleWeight, spec}))
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

	if j := slices.Index(s.names, s.distances); s.distances != "" && j >= 0 && opts.Weights != WeightsSimilarity {
		return set(j, true, "it holds real distances")
	}
	if s.equal && opts.Weights == WeightsAuto {
		r.Weights = "all edges are equal"
		return nil
	}
	weights, distances := s.named(c, RoleWeight), s.named(c, RoleDistance)
	nameless, unclear := s.nameless(c), s.unclear(c)
	switch opts.Weights {
	case WeightsSimilarity:
		return s.only(set, false, "taken as a similarity, as requested", weights, distances, nameless, unclear)
	case WeightsDistance:
		return s.only(set, true, "taken as a distance, as requested", distances, weights, nameless, unclear)
	}
	switch {
	case len(weights) > 1:
		return s.ask("the weight may be "+list(s.someOf(weights), "or"), RoleWeight, weights)
	case len(weights) == 1:
		if len(distances) > 0 {
			r.warn("column %s looks like a distance and is not used; the weight is column %s", s.nameOf(distances[0]), s.nameOf(weights[0]))
		}
		return set(weights[0], false, "by name")
	case len(distances) > 0:
		return s.looksLikeDistance(distances[0])
	case len(nameless) > 0:
		return s.in.fail(CodeAmbiguous, fmt.Sprintf("column %d holds numbers and has no name: it may be a weight or a distance", nameless[0]+1),
			asSimilarity, asDistance, ignoreWeights)
	case len(unclear) == 1:
		return s.in.fail(CodeAmbiguous, fmt.Sprintf("column %s holds numbers: it may be a weight, a distance or neither", s.nameOf(unclear[0])),
			asSimilarity, asDistance, ignoreWeights)
	case len(unclear) > 1:
		r.offer(fmt.Sprintf("columns %s hold numbers and are not used", list(s.namesOf(unclear), "and")),
			do("name the weight, if it is one of them,", nameColumn(RoleWeight, s.nameOf(unclear[0]))))
	}
	r.Weights = "all edges are equal: no column has the name of a weight"
	return nil
}

func (s *sheet) looksLikeDistance(column int) error {
	return s.in.fail(CodeAmbiguous, fmt.Sprintf("column %s looks like a distance; as a weight it would make distant nodes similar",
		s.nameOf(column)), asSimilarity, asDistance, ignoreWeights)
}

// only uses the first list that is not empty; it is an error if that holds several
// columns.
func (s *sheet) only(set func(int, bool, string) error, distance bool, why string, lists ...[]int) error {
	for _, columns := range lists {
		switch {
		case len(columns) == 1:
			return set(columns[0], distance, why)
		case len(columns) > 1:
			return s.ask("the column of weights may be "+list(s.someOf(columns), "or"), RoleWeight, columns)
		}
	}
	return s.in.fail(CodeOption, "the weights are to be read, but there is no column of numbers beside the ends",
		do("name it", nameColumn(RoleWeight, "")))
}

func (s *sheet) namesOf(columns []int) []string {
	out := make([]string, len(columns))
	for i, j := range columns {
		out[i] = s.nameOf(j)
	}
	return out
}

// someOf is namesOf for a question: the first few names.
func (s *sheet) someOf(columns []int) []string {
	if len(columns) <= mostAsked {
		return s.namesOf(columns)
	}
	return append(s.namesOf(columns[:mostAsked]), fmt.Sprintf("one of %d others", len(columns)-mostAsked))
}

// named returns the columns whose names fit the role best. A name that fits a
// distance is no weight; a merely likely name needs numbers below it.
func (s *sheet) named(c *edgeColumns, role Role) []int {
	return s.best(role, func(j int) bool {
		name := s.names[j]
		return j != c.source && j != c.target &&
			(role != RoleWeight || RoleDistance.rank(name) == rankNone) &&
			(s.types[j] != typeText || role.rank(name) == rankSure)
	})
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

// unclear returns the columns of numbers whose names say nothing: they are not those
// of weights, distances, ids, coordinates or times.
func (s *sheet) unclear(c *edgeColumns) (found []int) {
	for j, name := range s.names {
		known := RoleWeight.rank(name) < rankNone || RoleDistance.rank(name) < rankNone ||
			anyOf(words(name), notWeights) || anyOf(words(name), timeWords)
		if j != c.source && j != c.target && s.types[j].number() && name != "" && !known {
			found = append(found, j)
		}
	}
	return found
}
