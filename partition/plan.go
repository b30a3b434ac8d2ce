package partition

import (
	"context"
	"fmt"
	"slices"

	"grfgp/graph"
	"grfgp/walk"
)

// Plan says what each of several processes owns, holds and exchanges.
type Plan struct {
	Nodes  int     `json:"nodes"`
	Hops   int     `json:"hops"` // longest walk
	Shares []Share `json:"shares"`
}

// Share is the part of one process.
type Share struct {
	Range
	Entries  float64 `json:"entries"`  // of its rows of Φ; estimated from one row per block
	Bytes    int64   `json:"bytes"`    // features, Φ, and W of the range and of the nodes around it; estimated
	Rim      int     `json:"rim"`      // nodes of others whose values it needs
	Owners   []Owner `json:"owners"`   // of the rim
	Lent     int     `json:"lent"`     // values that it has for others: of a node once for each of them
	Exchange int64   `json:"exchange"` // bytes that it sends and receives in a product of K and one vector
}

// Owner is a process that owns nodes of a rim.
type Owner struct {
	Rank  int `json:"rank"`
	Nodes int `json:"nodes"`
}

// New plans features of a graph in locality order, with steps on D^-½AD^-½, for a number of processes. The graph may be mapped: memory
// is that of one share at a time. Rims are exact: rows from which walks can leave a range are sampled.
func New(ctx context.Context, g *graph.Graph, opts walk.Options, ranks int) (*Plan, error) {
	s, err := Begin(ctx, g, opts, ranks)
	if err != nil {
		return nil, err
	}
	shares := make([]Share, ranks)
	for r := range shares {
		if shares[r], err = s.Share(ctx, r); err != nil {
			return nil, err
		}
	}
	return s.Plan(shares), nil
}

// Sketch is a plan on its way: the ranges are known, and the shares can be found by one process each.
type Sketch struct {
	Ranges []Range
	Facts  walk.Facts // of W, which walks on its parts must know

	g            *graph.Graph
	opts         walk.Options
	work, values []float64 // per block of nodes
}

// Begin finds the ranges of a plan.
func Begin(ctx context.Context, g *graph.Graph, opts walk.Options, ranks int) (*Sketch, error) {
	even, err := Split(g.Len(), ranks, evenWork(g.Len()))
	if err != nil {
		return nil, err
	}
	s := &Sketch{g: g, opts: opts}
	if s.Facts, err = Facts(g, even); err != nil {
		return nil, err
	}
	if s.work, s.values, err = rowWork(ctx, g, opts, even, s.Facts); err != nil {
		return nil, err
	}
	s.Ranges, err = Split(g.Len(), ranks, s.work)
	return s, err
}

// Share returns the share of one process, but for what it lends to others and exchanges, which depends on their
// shares.
func (k *Sketch) Share(ctx context.Context, rank int) (Share, error) {
	s := Share{Range: k.Ranges[rank]}
	perRow := 0.0
	for b := (s.Lo + BlockRows - 1) / BlockRows; b*BlockRows < s.Hi; b++ {
		rows := float64(min(s.Hi, (b+1)*BlockRows) - b*BlockRows)
		s.Entries += k.work[b]
		perRow += k.values[b] * rows
	}
	rim, bytes, err := shareOf(ctx, k.g, k.opts, s.Range, k.Facts)
	if err != nil {
		return s, err
	}
	const featureRow, entryBytes, valueBytes, phiBytes = 9, 5, 5, 7
	s.Bytes = bytes + int64(float64(featureRow*s.Len())+(entryBytes+phiBytes)*s.Entries+valueBytes*perRow)
	s.Rim, s.Owners = len(rim), owners(rim, k.Ranges)
	return s, nil
}

// Plan returns the plan of all shares, and enters what they lend and exchange.
func (k *Sketch) Plan(shares []Share) *Plan {
	p := &Plan{Nodes: k.g.Len(), Hops: k.opts.MaxLen, Shares: shares}
	for r := range p.Shares {
		for _, o := range p.Shares[r].Owners {
			p.Shares[o.Rank].Lent += o.Nodes
		}
	}
	for r := range p.Shares {
		s := &p.Shares[r]
		s.Exchange = 2 * 8 * int64(s.Rim+s.Lent)
	}
	return p
}

// evenWork is the same work for every node.
func evenWork(n int) []float64 {
	work := make([]float64, (n+BlockRows-1)/BlockRows)
	for b := range work {
		work[b] = float64(min(n, (b+1)*BlockRows) - b*BlockRows)
	}
	return work
}

// rowWork returns, per block of BlockRows nodes, the entries of its rows of Φ and the values per row of features, both by the row in its
// middle. Ranges say which part of the graph is held at a time.
func rowWork(ctx context.Context, g *graph.Graph, opts walk.Options, ranges []Range, facts walk.Facts) (work, values []float64, err error) {
	n := g.Len()
	blocks := (n + BlockRows - 1) / BlockRows
	work, values = make([]float64, blocks), make([]float64, blocks)
	for _, r := range ranges {
		part, err := g.Part(r.Lo, r.Hi, opts.MaxLen)
		if err != nil {
			return nil, nil, err
		}
		var rows []int
		for lo := r.Lo; lo < r.Hi; lo += BlockRows {
			rows = append(rows, (lo+min(n, lo+BlockRows))/2)
		}
		f, err := sample(ctx, part, n, opts, facts, rows)
		if err != nil {
			return nil, nil, err
		}
		for _, i := range rows {
			b := i / BlockRows
			entries := 0
			for e := range f.Row(i) {
				entries++
				values[b] += float64(len(e.Values))
			}
			work[b] = float64(entries) * float64(min(n, (b+1)*BlockRows)-b*BlockRows)
		}
	}
	return work, values, nil
}

// Facts returns the facts of W that walks on its parts must know. Processes can find those of one
// range each, and combine them.
func Facts(g *graph.Graph, ranges []Range) (walk.Facts, error) {
	var all walk.Facts
	for _, r := range ranges {
		part, err := g.Part(r.Lo, r.Hi, 1)
		if err != nil {
			return all, err
		}
		w, err := part.Normalized(graph.NormalizedAdjacency)
		if err != nil {
			return all, err
		}
		first := max(0, part.Local(r.Lo))
		all = all.Or(walk.FactsOf(w, part.WalkScale(graph.NormalizedAdjacency), first, first+r.Len()))
	}
	return all, nil
}

// Features samples the features of a range of nodes: the same rows as walk.Sample has, from the range and the
// nodes around it alone. Facts are those of the whole graph.
func Features(ctx context.Context, g *graph.Graph, opts walk.Options, r Range, facts walk.Facts) (*walk.Features, error) {
	part, err := g.Part(r.Lo, r.Hi, opts.MaxLen)
	if err != nil {
		return nil, err
	}
	return sample(ctx, part, g.Len(), opts, facts, nil)
}

// sample samples rows of the range of a part; nil means all.
func sample(ctx context.Context, part *graph.Part, nodes int, opts walk.Options, facts walk.Facts, rows []int) (*walk.Features, error) {
	w, err := part.Normalized(graph.NormalizedAdjacency)
	if err != nil {
		return nil, err
	}
	opts.Scale, opts.Strengths, opts.Rooted = part.WalkScale(graph.NormalizedAdjacency), nil, false
	opts.Lo, opts.Hi = part.Range()
	return walk.SamplePart(ctx, w, opts, walk.Part{Nodes: nodes, Numbers: part.Numbers(), Facts: facts}, rows)
}

// shareOf returns the rim of a range, and the memory of its part of W.
func shareOf(ctx context.Context, g *graph.Graph, opts walk.Options, r Range, facts walk.Facts) (rim []uint32, bytes int64, err error) {
	part, err := g.Part(r.Lo, r.Hi, opts.MaxLen)
	if err != nil {
		return nil, 0, err
	}
	// Some thousand rows at a time, so that features of a social network, where all rows leave the range, need not be held at once.
	const some = 1 << 16
	rows := part.Nearest(opts.MaxLen)
	for lo := 0; lo < len(rows); lo += some {
		f, err := sample(ctx, part, g.Len(), opts, facts, rows[lo:min(len(rows), lo+some)])
		if err != nil {
			return nil, 0, err
		}
		rim = append(rim, f.Outside()...)
		slices.Sort(rim)
		rim = slices.Compact(rim)
	}
	return rim, part.Bytes(), nil
}

// owners counts the nodes of a rim by the rank that owns them.
func owners(rim []uint32, ranges []Range) []Owner {
	var all []Owner
	for rank, r := range ranges {
		a, _ := slices.BinarySearch(rim, uint32(r.Lo))
		b, _ := slices.BinarySearch(rim, uint32(r.Hi))
		if b > a {
			all = append(all, Owner{rank, b - a})
		}
	}
	return all
}

// Exchanged returns the bytes that all processes together send in a product of K and one vector.
func (p *Plan) Exchanged() int64 {
	total := int64(0)
	for _, s := range p.Shares {
		total += s.Exchange
	}
	return total / 2 // every byte is sent by one process and received by another
}

// Largest returns the largest share, rim and exchange of all processes.
func (p *Plan) Largest() (bytes int64, rim int, exchange int64) {
	for _, s := range p.Shares {
		bytes, rim, exchange = max(bytes, s.Bytes), max(rim, s.Rim), max(exchange, s.Exchange)
	}
	return bytes, rim, exchange
}

// String describes a range for messages.
func (r Range) String() string { return fmt.Sprintf("[%d, %d)", r.Lo, r.Hi) }
