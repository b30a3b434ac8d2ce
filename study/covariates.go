package study

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"grfgp"
	"grfgp/covariate"
	"grfgp/graph"
	"grfgp/graphio"
)

// rolesAuto and rolesNone are values of grfgp.Spec.Roles.
const (
	rolesAuto = "auto"
	rolesNone = "none"
)

// EncodeCovariates selects the columns of the node table that the settings name, and
// returns them as models use them; nil if the settings name none. The table, which may be
// nil, has a row for each of the nodes. The error wraps ErrInvalid.
func (s Settings) EncodeCovariates(table *graphio.NodeTable, nodes int) (*covariate.Set, error) {
	if len(s.Covariates) == 0 {
		return nil, nil
	}
	columns := table.Covariates()
	if len(columns) == 0 {
		return nil, fmt.Errorf("%w: covariates %s, but the graph has no columns of nodes; give a node table with the graph, or leave out the "+
			"covariates", ErrInvalid, strings.Join(s.Covariates, ", "))
	}
	chosen, err := covariate.Select(columns, s.Covariates)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	set, err := covariate.Encode(chosen, nodes, covariate.Options{})
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	case set.Empty():
		return nil, fmt.Errorf("%w: no column can be used as a covariate: %s", ErrInvalid, strings.Join(set.Notes, "; "))
	}
	return set, nil
}

// modelSpec returns the Spec of the model, with the covariates of the node table.
func (s Settings) modelSpec(table *graphio.NodeTable, nodes int) (grfgp.Spec, error) {
	spec := s.Spec
	if spec.Roles == "" && !spec.Terms.Has(grfgp.RoleTerm) { // created before there were roles
		spec.Roles = rolesNone
	}
	set, err := s.EncodeCovariates(table, nodes)
	if set != nil {
		spec.Covariates = set
	}
	return spec, err
}

// CheckOn returns an error, which wraps ErrInvalid, if no model of the settings can be
// fitted on a graph with its node table, whatever is measured. Studies are checked when
// they are created.
func (s Settings) CheckOn(g *graph.Graph, table *graphio.NodeTable) error {
	spec, err := s.modelSpec(table, g.Len())
	if err != nil {
		return err
	}
	if err := spec.CheckOn(g); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}

// sameModel reports whether studies with these settings on the same graph have the same
// model before there are measurements.
func (s Settings) sameModel(t Settings) bool {
	return s.Labels == t.Labels && reflect.DeepEqual(s.Spec, t.Spec) && slices.Equal(s.Covariates, t.Covariates)
}
