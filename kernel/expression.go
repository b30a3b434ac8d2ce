package kernel

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Expression describes a kernel on the nodes of a graph: a sum of terms, of which the one of the graph has a family, a
// Laplacian, scales, a trend and a variance; and its representation. JSON has the same names and values. It is a value: two are
// equal if they describe the same kernel. What is empty is left open, a hole that a choice fills in.
type Expression struct {
	Family string  `json:"family,omitempty"` // see Families; empty: chosen by marginal likelihood
	Nu     float64 `json:"nu,omitempty"`     // smoothness ν of families that have one; 0: chosen by marginal likelihood
	Method string  `json:"method,omitempty"` // dense, series, grf or lowrank; empty: chosen by cost
	// longest walk of grf, lowrank and free, and cut-off of series; 0: chosen automatically, without a cut-off for series
	Hops   int    `json:"hops,omitempty"`
	Scales string `json:"scales,omitempty"` // one; or many: kernels of longer reach are added; empty: chosen by marginal likelihood
	Trend  string `json:"trend,omitempty"`  // degree: a linear term in the log degree; or none; empty: chosen by marginal likelihood
	// natural: as the kernel has it; or unit: the same at every node; empty: chosen by marginal likelihood
	Variance string `json:"variance,omitempty"`
	Terms    Terms  `json:"terms,omitempty"` // 0: chosen by marginal likelihood
	// pairs of random Fourier features by which smooth terms are approximated; 0: exact up to 3,000 measurements
	Pairs int `json:"pairs,omitempty"`
	// normalized, raw or signless; empty: chosen by marginal likelihood if Family is empty too, normalized otherwise
	Laplacian string `json:"laplacian,omitempty"`
}

// Many reports whether kernels of longer reach are added.
func (e Expression) Many() bool { return e.Scales == "many" }

// Unit reports whether all nodes have the same variance.
func (e Expression) Unit() bool { return e.Variance == "unit" }

// Trending reports whether there is a linear term in the log degree.
func (e Expression) Trending() bool { return e.Trend == "degree" }

// Usual names the Laplacian that most kernels have.
const Usual = "normalized"

// FilledBy returns the expression with its holes filled in from another.
func (e Expression) FilledBy(other Expression) Expression {
	return Expression{
		Family: cmp.Or(e.Family, other.Family), Nu: cmp.Or(e.Nu, other.Nu), Method: cmp.Or(e.Method, other.Method),
		Hops: cmp.Or(e.Hops, other.Hops), Scales: cmp.Or(e.Scales, other.Scales), Trend: cmp.Or(e.Trend, other.Trend),
		Variance: cmp.Or(e.Variance, other.Variance), Terms: cmp.Or(e.Terms, other.Terms), Pairs: cmp.Or(e.Pairs, other.Pairs),
		Laplacian: cmp.Or(e.Laplacian, other.Laplacian),
	}
}

// Admits reports whether a complete expression is this one with its holes filled in.
func (e Expression) Admits(complete Expression) bool {
	filled := e.FilledBy(complete)
	if complete.Method == "dense" { // has no longest walk
		filled.Hops = complete.Hops
	}
	if complete.Pairs == 0 { // as a kernel of the graph alone
		filled.Pairs = 0
	}
	return filled == complete
}

// Alike reports whether two expressions have the same member of a family on the same Laplacian, of which hyperparameters mean
// the same.
func (e Expression) Alike(other Expression) bool {
	return e.Family == other.Family && e.Nu == other.Nu && e.Laplacian == other.Laplacian && e.Unit() == other.Unit()
}

// FamilyWords names the family in words, with its Laplacian.
func (e Expression) FamilyWords() string {
	words := e.Family
	if f, known := FamilyNamed(e.Family); known {
		words = f.String(Member{Nu: e.Nu})
	}
	if e.Laplacian != "" && e.Laplacian != Usual {
		words += ", " + e.Laplacian + " Laplacian"
	}
	return words
}

// Name names the kernel in words.
func (e Expression) Name() string {
	s := e.FamilyWords()
	if e.Unit() {
		s += ", unit variance"
	}
	if e.Many() {
		s += ", many scales"
	}
	if e.Trending() {
		s += ", trend"
	}
	switch {
	case e.Terms&KnownTerms == 0:
		return s
	case !e.Terms.Has(GraphTerm):
		return e.Terms.String()
	}
	return s + " + " + (e.Terms &^ GraphTerm).String()
}

// Terms are the terms of a kernel, which is their sum; in JSON a list of their names.
type Terms uint8

// The terms.
const (
	GraphTerm     Terms = 1 << iota // closeness on the graph
	CovariateTerm                   // linear and smooth functions of the covariates and of the neighbours' covariates
	RoleTerm                        // the same of the roles of nodes, which the graph itself gives
	ProductTerm                     // closeness on the graph times similarity of covariates and roles

	KnownTerms = CovariateTerm | RoleTerm // over what is known about nodes
)

var termNames = []string{"graph", "covariates", "roles", "product"}

// TermNames returns the names of all terms.
func TermNames() []string { return slices.Clone(termNames) }

// TermsNamed returns the terms of the given names.
func TermsNamed(names ...string) (Terms, error) {
	var t Terms
	for _, name := range names {
		k := slices.Index(termNames, name)
		if k < 0 {
			return 0, fmt.Errorf("no term of a kernel is called %q; there are %s", name, strings.Join(termNames, ", "))
		}
		t |= 1 << k
	}
	return t, nil
}

// Names returns the names of the terms.
func (t Terms) Names() []string {
	var names []string
	for k, name := range termNames {
		if t&(1<<k) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// Has reports whether all of some terms are among t.
func (t Terms) Has(all Terms) bool { return t&all == all }

// String names the terms in words.
func (t Terms) String() string { return strings.Join(t.Names(), " + ") }

// MarshalJSON writes the names.
func (t Terms) MarshalJSON() ([]byte, error) { return json.Marshal(t.Names()) }

// UnmarshalJSON reads the names.
func (t *Terms) UnmarshalJSON(text []byte) error {
	var names []string
	if err := json.Unmarshal(text, &names); err != nil {
		return err
	}
	var err error
	*t, err = TermsNamed(names...)
	return err
}
