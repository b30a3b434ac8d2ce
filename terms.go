package grfgp

import (
	"slices"
	"strings"
)

// terms are the terms of a kernel, which is their sum.
type terms uint8

const (
	graphTerm     terms = 1 << iota // closeness on the graph
	covariateTerm                   // linear and smooth functions of the covariates and of the neighbours' covariates
	roleTerm                        // the same of the roles of nodes, which the graph itself gives
	productTerm                     // closeness on the graph times similarity of covariates and roles
)

// knownTerms are the terms over what is known about nodes.
const knownTerms = covariateTerm | roleTerm

var termNames = []string{"graph", "covariates", "roles", "product"}

// Terms returns the values in Spec.Terms.
func Terms() []string { return slices.Clone(termNames) }

// names returns the terms as they are in Spec.Terms.
func (t terms) names() []string {
	var names []string
	for k, name := range termNames {
		if t&(1<<k) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// termsOf is the inverse of names; no names stand for the graph.
func termsOf(names []string) terms {
	if len(names) == 0 {
		return graphTerm
	}
	var t terms
	for _, name := range names {
		if k := slices.Index(termNames, name); k >= 0 {
			t |= 1 << k
		}
	}
	return t
}

func (t terms) has(all terms) bool { return t&all == all }

// String names the terms in words.
func (t terms) String() string { return strings.Join(t.names(), " + ") }
