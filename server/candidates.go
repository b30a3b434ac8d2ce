package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"grfgp/study"
)

// mostCandidates is the largest number of suggestions in a preview.
const mostCandidates = 100

// candidates sends the suggestions of the next ask without reserving them.
func (s *Server) candidates(w http.ResponseWriter, r *http.Request) error {
	q := only(r, "count")
	count := q.count("count", 5, 1, mostCandidates)
	if q.err != nil {
		return q.err
	}
	o, err := s.named(r)
	if err != nil {
		return err
	}
	ctx, cancel := s.waitContext(r)
	defer cancel()
	if err := o.awaitFit(ctx); err != nil {
		return err
	}
	engine, err := o.awaitEngine(ctx)
	if err != nil {
		return err
	}
	picked, seq, err := o.Preview(ctx, count)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: suggestions are being computed; try again soon", errLoading)
	}
	if err != nil {
		return err
	}
	type candidate struct {
		Number int     `json:"number"`
		Node   string  `json:"node"`
		Cost   float64 `json:"cost"`
		Why    string  `json:"why"`
		Rule   string  `json:"rule"`
		Mean   *number `json:"mean,omitempty"`
		SD     *number `json:"sd,omitempty"`

		Expected    string  `json:"expected,omitempty"` // most probable class
		Probability *number `json:"probability,omitempty"`
		spot
	}
	answer := struct {
		Seq        int64        `json:"seq"`
		Candidates []candidate  `json:"candidates"`
		Short      study.Reason `json:"short,omitempty"`
		Random     string       `json:"random,omitempty"`
	}{seq, []candidate{}, picked.Short, picked.Random}
	nodes := make([]int, len(picked.List))
	for k, p := range picked.List {
		nodes[k], _ = engine.IDs().Lookup([]byte(p.Node))
	}
	g := o.guide()
	g.predictAt(ctx, o, nodes)
	for k, p := range picked.List {
		at := g.spot(nodes[k])
		answer.Candidates = append(answer.Candidates, candidate{
			g.net.number[nodes[k]], p.Node, p.Cost, g.why(nodes[k], at, p.Why), p.Why, (*number)(p.Mean), (*number)(p.SD), p.Expected,
			(*number)(p.Probability), at})
	}
	return respond(w, http.StatusOK, answer)
}
