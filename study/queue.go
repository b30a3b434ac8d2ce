package study

import (
	"context"
	"fmt"
	"slices"
	"time"

	"grfgp/bayesopt"
)

// QueuedNode is a node that somebody chose, and that the next ask gets first.
type QueuedNode struct {
	Chosen
	By   string    `json:"by,omitempty"`
	Time time.Time `json:"time"`
	Note string    `json:"note,omitempty"`
}

// why is the reason of the trial.
func (q QueuedNode) why() string {
	words := "queued"
	if q.By != "" {
		words += " by " + q.By
	}
	if q.Note != "" {
		words += ": " + q.Note
	}
	return words
}

// Queue adds nodes of one's own choice to the queue of the study, all or none. The next asks
// get them first, in the order in which they were queued, before any suggestion. Nodes that
// are in the queue stay where they are. It returns the queue.
func (s *Study) Queue(ctx context.Context, nodes []string, note, by string) (queue []QueuedNode, err error) {
	chosen, err := s.choose(ctx, nodes)
	if err != nil {
		return nil, err
	}
	err = s.commit(ctx, by, func(st *State) (Payload, error) {
		p := Queued{Note: note}
		for _, c := range chosen {
			if st.queued(c.Node) < 0 {
				p.Nodes = append(p.Nodes, c)
			}
		}
		if p.Nodes == nil {
			return nil, nil
		}
		return p, nil
	}, func(st *State) { queue = slices.Clone(st.Queue) })
	return queue, err
}

// Unqueue takes nodes out of the queue; those that are not in it are ignored. It returns
// the queue.
func (s *Study) Unqueue(ctx context.Context, nodes []string, by string) (queue []QueuedNode, err error) {
	err = s.commit(ctx, by, func(st *State) (Payload, error) {
		var p Unqueued
		for _, node := range nodes {
			if st.queued(node) >= 0 && !slices.Contains(p.Nodes, node) {
				p.Nodes = append(p.Nodes, node)
			}
		}
		if p.Nodes == nil {
			return nil, nil
		}
		return p, nil
	}, func(st *State) { queue = slices.Clone(st.Queue) })
	return queue, err
}

// choose finds nodes in the graph, with their costs.
func (s *Study) choose(ctx context.Context, nodes []string) ([]Chosen, error) {
	if len(nodes) < 1 || len(nodes) > MaxCount {
		return nil, fmt.Errorf("%w: %d nodes; name 1 to %d", ErrInvalid, len(nodes), MaxCount)
	}
	engine, err := s.Engine(ctx)
	if err != nil {
		return nil, err
	}
	chosen, seen := make([]Chosen, 0, len(nodes)), map[string]bool{}
	for _, node := range nodes {
		i, ok := engine.IDs().Lookup([]byte(node))
		switch {
		case !ok:
			return nil, fmt.Errorf("%w: %q", ErrUnknownNode, node)
		case seen[node]:
			return nil, fmt.Errorf("%w: node %q is named twice", ErrInvalid, node)
		}
		seen[node] = true
		chosen = append(chosen, Chosen{node, engine.Cost(i)})
	}
	return chosen, nil
}

// queued returns the place of a node in the queue, −1 if it is not there.
func (s *State) queued(node string) int {
	return slices.IndexFunc(s.Queue, func(q QueuedNode) bool { return q.Node == node })
}

func (s *State) checkQueued(p Queued) error {
	if s.Status == StatusClosed {
		return fmt.Errorf("%w: the study is closed and makes no trials any more", ErrConflict)
	}
	if len(p.Nodes) == 0 || len(s.Queue)+len(p.Nodes) > MaxCount {
		return fmt.Errorf("%w: a queue has 1 to %d nodes", ErrInvalid, MaxCount)
	}
	if err := checkText("a note", p.Note, MaxNote); err != nil {
		return err
	}
	there := map[string]bool{}
	for _, q := range s.Queue {
		there[q.Node] = true
	}
	for _, c := range p.Nodes {
		if err := checkText("a node", c.Node, MaxID); err != nil {
			return err
		}
		switch {
		case !(c.Cost > 0) || !finite(c.Cost):
			return fmt.Errorf("%w: node %q costs %v", ErrInvalid, c.Node, c.Cost)
		case there[c.Node]:
			return fmt.Errorf("%w: node %q is in the queue", ErrConflict, c.Node)
		case !s.available(c.Node):
			return s.taken(c.Node)
		}
		there[c.Node] = true
	}
	return nil
}

// taken is the error about a node that is not available.
func (s *State) taken(node string) error {
	n, why := s.nodes[node], "measured"
	switch {
	case n.pending > 0:
		why = "reserved"
	case n.abandoned:
		why = "abandoned"
	}
	return fmt.Errorf("%w: node %q is %s", ErrConflict, node, why)
}

func (s *State) checkUnqueued(p Unqueued) error {
	if len(p.Nodes) == 0 {
		return fmt.Errorf("%w: no nodes", ErrInvalid)
	}
	there := map[string]bool{}
	for _, q := range s.Queue {
		there[q.Node] = true
	}
	for _, node := range p.Nodes {
		if !there[node] {
			return fmt.Errorf("%w: node %q is not in the queue", ErrConflict, node)
		}
		delete(there, node)
	}
	return nil
}

func (s *State) enqueue(e Event, p Queued) {
	for _, c := range p.Nodes {
		s.Queue = append(s.Queue, QueuedNode{c, e.By, e.Time, p.Note})
	}
}

// unqueue takes a node out of the queue, if it is there.
func (s *State) unqueue(node string) {
	if len(s.Queue) == 0 {
		return
	}
	if k := s.queued(node); k >= 0 {
		s.Queue = slices.Concat(s.Queue[:k], s.Queue[k+1:]) // others may read the old one
	}
}

// plan is how the next ask is answered: nodes of the queue first, and then suggestions.
type plan struct {
	queued []Suggestion
	query  Query    // for the rest
	failed []string // nodes that are suggested last
	basis  int64
}

// plan returns the plan of an ask for count nodes.
func (s *State) plan(count int) plan {
	p := plan{failed: s.recentlyFailed(), basis: s.Seq, query: s.query(count)}
	left := p.query.Budget
	for _, q := range s.Queue {
		if len(p.queued) == count {
			break
		}
		if !s.available(q.Node) || left != nil && q.Cost > *left {
			continue
		}
		if left != nil {
			rest := *left - q.Cost
			left = &rest
		}
		p.queued = append(p.queued, Suggestion{Node: q.Node, Cost: q.Cost, Why: q.why()})
		p.query.Pending = append(p.query.Pending, q.Node)
	}
	p.query.Budget, p.query.Count = left, count-len(p.queued)
	return p
}

// QueueCovers reports whether the queue has all nodes of an ask for count nodes, which then
// needs no engine.
func (s *State) QueueCovers(count int) bool {
	return len(s.Queue) > 0 && s.plan(count).query.Count == 0
}

// answer returns the nodes of the plan; suggest gives those that are not of the queue.
func (p plan) answer(suggest func(q Query, failed []string) (Suggestions, error)) (Suggestions, error) {
	if p.query.Count == 0 {
		return Suggestions{List: p.queued, Short: bayesopt.Enough}, nil
	}
	out, err := suggest(p.query, p.failed)
	out.List = slices.Concat(p.queued, out.List)
	return out, err
}
