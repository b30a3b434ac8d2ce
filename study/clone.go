package study

import (
	"maps"
	"slices"
)

// clone returns a copy that changes independently. What events brought along, such as the
// trials of an ask, is never changed and is shared.
func (s *State) clone() *State {
	c := *s
	c.Trials, c.Records, c.Asks, c.Queue = slices.Clone(s.Trials), slices.Clone(s.Records), slices.Clone(s.Asks), slices.Clone(s.Queue)
	c.abandoned, c.classes = slices.Clone(s.abandoned), slices.Clone(s.classes)
	c.asks, c.observed, c.failedAt = maps.Clone(s.asks), maps.Clone(s.observed), maps.Clone(s.failedAt)
	c.sums.counts = maps.Clone(s.sums.counts)
	c.nodes = make(map[string]*nodeState, len(s.nodes))
	all := make([]nodeState, 0, len(s.nodes))
	for id, n := range s.nodes {
		all = append(all, *n)
		c.nodes[id] = &all[len(all)-1]
	}
	return &c
}
