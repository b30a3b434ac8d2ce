package grfgp

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/covariate"
)

// source is a source column with the states between which effects are computed.
type source struct {
	name   string
	dense  []int       // its columns of Set.X
	states [][]float64 // a row of values of dense per state
	shares []float64   // of nodes in the state, for levels
	moves  []move
}

// move is a contrast between states.
type move struct {
	weights []float64 // of the states; they sum to 0
	effect  Effect    // with its names
	reading covariate.Reading
	delta   float64 // by how much the column of numbers moves; 0 for levels
	groups  groups
}

// groups divide nodes by a column of Set.X: up to low, from high on, and others.
type groups struct {
	column    int
	low, high float64
	absent    int // column that says where the value is missing; -1: none
}

// side returns -1 or 1 for nodes of the two groups, and 0 for others.
func (g groups) side(x *mat.Dense, node int) int {
	const rounding = 1e-9
	v := x.At(node, g.column)
	switch {
	case g.absent >= 0 && x.At(node, g.absent) > 0: // its mean over all nodes is 0
		return 0
	case v <= g.low+rounding:
		return -1
	case v >= g.high-rounding:
		return 1
	}
	return 0
}

// sources returns the source columns of a set in their order.
func sources(s *covariate.Set) []source {
	var all []source
	for d, r := range s.Readings {
		k := slices.IndexFunc(all, func(o source) bool { return o.name == r.Column })
		if k < 0 {
			k, all = len(all), append(all, source{name: r.Column})
		}
		all[k].dense = append(all[k].dense, d)
	}
	var some []source
	for _, o := range all {
		if o.plan(s) {
			some = append(some, o)
		}
	}
	return some
}

// plan sets the states and moves of a source column; it reports whether there are any.
func (o *source) plan(s *covariate.Set) bool {
	low, high := make([]float64, len(o.dense)), make([]float64, len(o.dense))
	number, absent, levels := -1, -1, []int(nil)
	for k, d := range o.dense {
		low[k], high[k] = extremes(s.X, d)
		switch s.Readings[d].Form {
		case covariate.Level:
			levels = append(levels, k)
		case covariate.Absent:
			absent = d
		default:
			number = k
		}
	}
	switch {
	case number >= 0:
		r := s.Readings[o.dense[number]]
		from, to := slices.Clone(low), slices.Clone(low) // a value is there
		from[number], to[number] = r.Position(r.Low), r.Position(r.High)
		if !(to[number]-from[number] > 1e-9) {
			return false // most nodes have the same value
		}
		o.states = [][]float64{from, to}
		o.moves = []move{{[]float64{-1, 1}, Effect{Column: o.name, From: valueText(r, r.Low), To: valueText(r, r.High)}, r,
			to[number] - from[number], groups{o.dense[number], from[number], to[number], absent}}}
	case len(levels) == 1:
		to := slices.Clone(low)
		to[levels[0]] = high[levels[0]]
		o.states = [][]float64{low, to}
		r := s.Readings[o.dense[levels[0]]]
		o.moves = []move{{[]float64{-1, 1}, Effect{Column: o.name, Of: r.Of, From: "not " + r.Of, To: r.Of}, r, 0,
			groups{o.dense[levels[0]], low[levels[0]], high[levels[0]], absent}}}
	case len(levels) > 1:
		o.planLevels(s, levels, low, high)
	default:
		return false
	}
	return true
}

// planLevels compares each of several levels with the others, by their frequencies.
func (o *source) planLevels(s *covariate.Set, levels []int, low, high []float64) {
	total := 0.0
	for _, k := range levels {
		to := slices.Clone(low)
		to[k] = high[k]
		o.states = append(o.states, to)
		n := 0.0
		for i := range s.Nodes {
			if s.X.At(i, o.dense[k]) > (low[k]+high[k])/2 {
				n++
			}
		}
		o.shares = append(o.shares, n)
		total += n
	}
	for a, k := range levels {
		weights := make([]float64, len(levels))
		for b := range levels {
			weights[b] = -o.shares[b] / max(total-o.shares[a], 1)
		}
		weights[a] = 1
		r := s.Readings[o.dense[k]]
		o.moves = append(o.moves, move{weights, Effect{Column: o.name, Of: r.Of, From: "other levels", To: r.Of}, r, 0,
			groups{o.dense[k], low[k], high[k], -1}})
	}
}

// extremes returns the least and the largest number of a column.
func extremes(x *mat.Dense, d int) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	n, _ := x.Dims()
	for i := range n {
		low, high = min(low, x.At(i, d)), max(high, x.At(i, d))
	}
	return low, high
}
