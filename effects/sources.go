package effects

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/covariate"
)

// Source is a source column with the states between which effects are computed.
type Source struct {
	Name   string
	Dense  []int       // its columns of Set.X
	States [][]float64 // a row of values of dense per state
	shares []float64   // of nodes in the state, for levels
	Moves  []Move
}

// Move is a contrast between states.
type Move struct {
	Weights []float64 // of the states; they sum to 0
	Effect  Effect    // with its names
	Reading covariate.Reading
	Delta   float64 // by how much the column of numbers moves; 0 for levels
	groups  groups
}

// groups divide nodes by a column of Set.X: up to low, from high on, and others.
type groups struct {
	column    int
	low, high float64
	absent    int // column that says where the value is missing; -1: none
}

// Absent reports whether a node has no value.
func (v Move) Absent(x *mat.Dense, node int) bool {
	return v.groups.absent >= 0 && x.At(node, v.groups.absent) > 0 // its mean over all nodes is 0
}

// Side returns -1 or 1 for nodes of the two groups that a move compares, and 0 for others.
func (v Move) Side(x *mat.Dense, node int) int {
	const rounding = 1e-9
	g := v.groups
	at := x.At(node, g.column)
	switch {
	case v.Absent(x, node):
		return 0
	case at <= g.low+rounding:
		return -1
	case at >= g.high-rounding:
		return 1
	}
	return 0
}

// Sources returns the source columns of a set in their order.
func Sources(s *covariate.Set) []Source {
	var all []Source
	for d, r := range s.Readings {
		k := slices.IndexFunc(all, func(o Source) bool { return o.Name == r.Column })
		if k < 0 {
			k, all = len(all), append(all, Source{Name: r.Column})
		}
		all[k].Dense = append(all[k].Dense, d)
	}
	var some []Source
	for _, o := range all {
		if o.plan(s) {
			some = append(some, o)
		}
	}
	return some
}

// plan sets the states and moves of a source column; it reports whether there are any.
func (o *Source) plan(s *covariate.Set) bool {
	low, high := make([]float64, len(o.Dense)), make([]float64, len(o.Dense))
	number, absent, levels := -1, -1, []int(nil)
	for k, d := range o.Dense {
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
		r := s.Readings[o.Dense[number]]
		from, to := slices.Clone(low), slices.Clone(low) // a value is there
		from[number], to[number] = r.Position(r.Low), r.Position(r.High)
		if !(to[number]-from[number] > 1e-9) {
			return false // most nodes have the same value
		}
		o.States = [][]float64{from, to}
		o.Moves = []Move{{[]float64{-1, 1}, Effect{Column: o.Name, From: valueText(r, r.Low), To: valueText(r, r.High)}, r,
			to[number] - from[number], groups{o.Dense[number], from[number], to[number], absent}}}
	case len(levels) == 1:
		to := slices.Clone(low)
		to[levels[0]] = high[levels[0]]
		o.States = [][]float64{low, to}
		r := s.Readings[o.Dense[levels[0]]]
		o.Moves = []Move{{[]float64{-1, 1}, Effect{Column: o.Name, Of: r.Of, From: "not " + r.Of, To: r.Of}, r, 0,
			groups{o.Dense[levels[0]], low[levels[0]], high[levels[0]], absent}}}
	case len(levels) > 1:
		o.planLevels(s, levels, low, high)
	default:
		return false
	}
	return true
}

// planLevels compares each of several levels with the others, by their frequencies.
func (o *Source) planLevels(s *covariate.Set, levels []int, low, high []float64) {
	total := 0.0
	for _, k := range levels {
		to := slices.Clone(low)
		to[k] = high[k]
		o.States = append(o.States, to)
		n := 0.0
		for i := range s.Nodes {
			if s.X.At(i, o.Dense[k]) > (low[k]+high[k])/2 {
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
		r := s.Readings[o.Dense[k]]
		o.Moves = append(o.Moves, Move{weights, Effect{Column: o.Name, Of: r.Of, From: "other levels", To: r.Of}, r, 0,
			groups{o.Dense[k], low[k], high[k], -1}})
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

// Contrast writes the weights of nodes into a column: the mean over one group minus that
// over the other. It returns nil if one of the groups is empty.
func (v Move) Contrast(x *mat.Dense, sample []int, weights *mat.Dense, column int) *Contrast {
	c := new(Contrast)
	for _, node := range sample {
		switch v.Side(x, node) {
		case -1:
			c.Low++
		case 1:
			c.High++
		}
	}
	if c.Low == 0 || c.High == 0 {
		return nil
	}
	for k, node := range sample {
		switch v.Side(x, node) {
		case -1:
			weights.Set(k, column, -1/float64(c.Low))
		case 1:
			weights.Set(k, column, 1/float64(c.High))
		}
	}
	return c
}
