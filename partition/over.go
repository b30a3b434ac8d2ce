package partition

import (
	"context"
	"encoding/json"
	"fmt"

	"grfgp/graph"
	"grfgp/internal/ranks"
	"grfgp/walk"
)

// NewOver is New for ranks that find the plan of their group together: each looks at its part of the graph only. All get
// the same plan, which is that of New.
func NewOver(ctx context.Context, group *ranks.Group, g *graph.Graph, opts walk.Options) (*Plan, error) {
	s, err := beginOver(ctx, group, g, opts)
	if err != nil {
		return nil, err
	}
	own, err := s.Share(ctx, group.Rank())
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	all, starts, err := ranks.Gather(ctx, group, text)
	if err != nil {
		return nil, err
	}
	shares := make([]Share, group.Size())
	for r := range shares {
		if err := json.Unmarshal(all[starts[r]:starts[r+1]], &shares[r]); err != nil {
			return nil, fmt.Errorf("the share of rank %d: %w", r, err)
		}
	}
	return s.Plan(shares), nil
}

// beginOver is Begin for ranks that look at one range each.
func beginOver(ctx context.Context, group *ranks.Group, g *graph.Graph, opts walk.Options) (*Sketch, error) {
	even, err := Split(g.Len(), group.Size(), evenWork(g.Len()))
	if err != nil {
		return nil, err
	}
	own := even[group.Rank():][:1]
	s := &Sketch{g: g, opts: opts}
	f, err := Facts(g, own)
	if err != nil {
		return nil, err
	}
	bits := []uint8{0, 0, 0, 0}
	for k, is := range []bool{f.Steep, f.Grows, f.Signed, f.Sinks} {
		if is {
			bits[k] = 1
		}
	}
	all, _, err := ranks.Gather(ctx, group, bits)
	if err != nil {
		return nil, err
	}
	for k := 0; k < len(all); k += 4 {
		s.Facts = s.Facts.Or(walk.Facts{Steep: all[k] == 1, Grows: all[k+1] == 1, Signed: all[k+2] == 1, Sinks: all[k+3] == 1})
	}
	work, values, err := rowWork(ctx, g, opts, own, s.Facts)
	if err != nil {
		return nil, err
	}
	lo, hi := (own[0].Lo+BlockRows-1)/BlockRows, (own[0].Hi+BlockRows-1)/BlockRows
	if s.work, _, err = ranks.Gather(ctx, group, work[lo:hi]); err != nil {
		return nil, err
	}
	if s.values, _, err = ranks.Gather(ctx, group, values[lo:hi]); err != nil {
		return nil, err
	}
	s.Ranges, err = Split(g.Len(), group.Size(), s.work)
	return s, err
}
