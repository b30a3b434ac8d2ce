// Package effects describes what the columns of a node table do to a quantity: which moves of a column are looked at, their
// results, and how these are told. Package grfgp computes them.
package effects

import "math"

// Effects say what the columns of a node table do to the quantity, as a fitted model
// has it.
type Effects struct {
	Columns []Effect `json:"columns,omitempty"`  // in the order of the source columns; empty if the kernel has no covariates
	LeftOut []string `json:"left_out,omitempty"` // source columns beyond the most effective ones, which are not computed
	Parts   []Part   `json:"parts"`              // of the variation of predictions over nodes
	Nodes   int      `json:"nodes"`              // number of nodes over which an effect is averaged
	Level   float64  `json:"level"`              // of the intervals
	Scale   string   `json:"scale,omitempty"`    // of effects: log, log1p, sqrt or logit; empty: that of the values
}

// Effect is the mean change of the quantity when one column alone moves: a number from its
// lower to its upper quartile, a category from its other levels, by their frequencies,
// to one level. Neighbours' columns stay as they are.
type Effect struct {
	Column  string   `json:"column"`
	Of      string   `json:"level,omitempty"` // of a category
	From    string   `json:"from"`            // as text: the quartile, or what the level is compared with
	To      string   `json:"to"`
	Mean    float64  `json:"mean"`
	SD      float64  `json:"sd"`
	Lower   float64  `json:"lower"` // credible interval
	Upper   float64  `json:"upper"`
	PerUnit *float64 `json:"per_unit,omitempty"` // linear coefficient, where the smooth part adds less than 5 % to the effect
	Unit    string   `json:"unit,omitempty"`     // of PerUnit, as covariate.Reading names it
	// Between compares nodes as they are: those from To on with those up to From, or those
	// of the level with those of other levels. All that differs between them counts, not
	// this column alone. Nil: one of the two groups is empty.
	Between *Contrast `json:"between,omitempty"`
}

// Contrast is the difference between the means of the quantity over two groups of nodes.
type Contrast struct {
	Mean  float64 `json:"mean"`
	SD    float64 `json:"sd"`
	Lower float64 `json:"lower"` // credible interval
	Upper float64 `json:"upper"`
	Low   int     `json:"low_nodes"` // number of nodes in the groups
	High  int     `json:"high_nodes"`
	// Chance is the standard deviation that the difference would have if the nodes of
	// the groups were drawn at random: a column that has nothing to do with the quantity
	// differs that much.
	Chance float64 `json:"chance_sd"`
}

// BeyondChance reports whether the interval is on one side of 0 and the difference is
// larger than twice that of random groups.
func (c *Contrast) BeyondChance() bool { return c.Clear() && math.Abs(c.Mean) > 2*c.Chance }

// Clear reports whether the interval is on one side of 0.
func (c *Contrast) Clear() bool { return c != nil && (c.Lower > 0 || c.Upper < 0) }

// Clear reports whether the interval is on one side of 0.
func (e Effect) Clear() bool { return e.Lower > 0 || e.Upper < 0 }

// Part is a part of a model.
type Part struct {
	Name     string  `json:"name"`     // graph, covariates, roles, covariates × roles, graph × covariates, or noise
	Variance float64 `json:"variance"` // of its posterior mean over nodes, or that of the noise
	Share    float64 `json:"share"`    // Variance over the sum of all parts'
}
