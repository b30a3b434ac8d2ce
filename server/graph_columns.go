package server

import (
	"net/http"

	"grfgp/covariate"
	"grfgp/graphio"
)

// graphColumn is a column of a node table that a study can use as a covariate.
type graphColumn struct {
	Name    string         `json:"name"`
	Kind    covariate.Kind `json:"kind"`
	Missing int            `json:"missing"`        // nodes without a value
	Role    string         `json:"role,omitempty"` // such as "group"; covariates "all" leave the column out
	Notes   []string       `json:"notes,omitempty"`
}

// graphColumns lists the columns of a node table, which may be nil.
func graphColumns(nodes *graphio.NodeTable) []graphColumn {
	all := []graphColumn{}
	for _, c := range nodes.Covariates() {
		all = append(all, graphColumn{c.Name, c.Kind, c.Missing(), c.Role, c.Notes})
	}
	return all
}

// showGraphColumns sends what a graph has, and the columns of its node table.
func (s *Server) showGraphColumns(w http.ResponseWriter, r *http.Request) error {
	net := s.network(r.PathValue("g"))
	ctx, cancel := s.waitContext(r)
	defer cancel()
	if err := net.wait(ctx, false); err != nil {
		return err
	}
	return respond(w, http.StatusOK, map[string]any{
		"id": net.id, "nodes": net.Graph.Len(), "edges": net.Graph.Edges(), "coordinates": coordinates(net.Nodes),
		"columns": graphColumns(net.Nodes),
	})
}

// termsOf returns the terms of a model's kernel, never nil.
func termsOf(terms []string) []string { return append([]string{}, terms...) }
