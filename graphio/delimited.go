package graphio

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"grfgp/graph"
)

// edgeLayout describes how a row becomes an edge.
type edgeLayout struct {
	rowLayout
	edgeColumns
	keepLoops bool
	nodes     uint32 // of a matrix: ids are whole numbers from 1 to nodes; 0 elsewhere
}

// edgeBlock holds the edges of a block.
type edgeBlock struct {
	ids     localIDs
	u, v    []uint32 // codes, then numbers of nodes
	w       []float64
	scratch []byte
}

func (l *edgeLayout) parse(b *block) {
	b.ids.reset()
	b.u, b.v, b.w = b.u[:0], b.v[:0], b.w[:0]
	l.each(b, func(line []byte, fields []field, _ int64) fault { return l.edge(b, line, fields) })
}

// edge appends the edge of a row to the block.
func (l *edgeLayout) edge(b *block, line []byte, fields []field) fault {
	u, bad := l.end(b, line, fields[l.source], RoleSource)
	if bad.reason != noFault {
		return bad
	}
	v, bad := l.end(b, line, fields[l.target], RoleTarget)
	if bad.reason != noFault {
		return bad
	}
	if l.weight >= 0 {
		w, bad := l.strength(b, line, fields[l.weight], u == v && !l.keepLoops)
		if bad.reason != noFault {
			return bad
		}
		b.w = append(b.w, w)
	}
	b.u, b.v = append(b.u, u), append(b.v, v)
	return fault{}
}

func (l *edgeLayout) end(b *block, line []byte, f field, role Role) (uint32, fault) {
	if f.start == f.end {
		return 0, fault{reason: emptyID, role: role, start: f.start, end: f.end}
	}
	id := f.text(line, &b.scratch)
	if l.nodes == 0 {
		return b.ids.code(id), fault{}
	}
	i, ok := smallInteger(id)
	switch {
	case !ok:
		return 0, fault{reason: notIndex, role: role, start: f.start, end: f.end}
	case i < 1 || i > l.nodes:
		return 0, fault{reason: indexRange, role: role, start: f.start, end: f.end, count: int(l.nodes)}
	}
	return i, fault{}
}

// strength reads a weight or a distance. The distance zero is allowed for a self loop
// that is dropped anyway.
func (l *edgeLayout) strength(b *block, line []byte, f field, dropped bool) (float64, fault) {
	role := RoleWeight
	if l.distance {
		role = RoleDistance
	}
	w, ok, bad := l.number(line, f, role, &b.scratch)
	switch {
	case bad.reason != noFault:
		return 0, bad
	case !ok:
		bad.reason = missingNumber
	case w < 0:
		bad.reason = negative
	case w == 0 && l.distance && !dropped:
		bad.reason = zeroDistance
	default:
		return w, fault{}
	}
	bad.role, bad.start, bad.end = role, f.start, f.end
	return 0, bad
}

// edgeList collects edges block by block without copying a growing slice: into one
// chunk if the estimated number suffices, into several otherwise.
type edgeList struct {
	chunks []graph.Edges
	hint   int // how many edges the first chunk should have room for
	n      int
	sum    float64 // of all weights but those of dropped loops, in the order of the file
	terms  int
	lo, hi float64 // smallest and largest weight above zero
	lines  tally   // of the whole file
}

func newEdgeList() *edgeList { return &edgeList{lo: math.Inf(1)} }

// rename replaces codes by numbers of nodes.
func (n *namer) rename(u, v []uint32, ids *localIDs) {
	n.begin(ids)
	for k, code := range u {
		u[k] = n.node(code, ids)
		v[k] = n.node(v[k], ids)
	}
}

// take adds the edges of a block.
func (e *edgeList) take(b *edgeBlock, keepLoops bool) {
	for k, w := range b.w {
		if b.u[k] == b.v[k] && !keepLoops {
			continue
		}
		e.sum += w
		e.terms++
		if w > 0 {
			e.lo, e.hi = min(e.lo, w), max(e.hi, w)
		}
	}
	c := e.room(len(b.u), len(b.w) > 0)
	c.U, c.V, c.W = append(c.U, b.u...), append(c.V, b.v...), append(c.W, b.w...)
	e.n += len(b.u)
}

// room returns a chunk with room for n more edges.
func (e *edgeList) room(n int, weighted bool) *graph.Edges {
	last := len(e.chunks) - 1
	if last >= 0 && cap(e.chunks[last].U)-len(e.chunks[last].U) >= n {
		return &e.chunks[last]
	}
	if last < 0 {
		n = max(n, e.hint)
	}
	c := graph.Edges{U: make([]uint32, 0, n), V: make([]uint32, 0, n)}
	if weighted {
		c.W = make([]float64, 0, n)
	}
	e.chunks = append(e.chunks, c)
	return &e.chunks[last+1]
}

// join returns all edges and releases the chunks.
func (e *edgeList) join(weighted bool) graph.Edges {
	if len(e.chunks) == 1 {
		all := e.chunks[0]
		e.chunks = nil
		return all
	}
	all := graph.Edges{U: make([]uint32, 0, e.n), V: make([]uint32, 0, e.n)}
	if weighted {
		all.W = make([]float64, 0, e.n)
	}
	for i, c := range e.chunks {
		all.U, all.V = append(all.U, c.U...), append(all.V, c.V...)
		if weighted {
			all.W = append(all.W, c.W...)
		}
		e.chunks[i] = graph.Edges{}
	}
	e.chunks = nil
	return all
}

func readDelimited(ctx context.Context, in *input, opts Options) (*Network, error) {
	c := in.cut(opts.blockSize)
	s, err := inspect(c, edgeTable, opts)
	if err != nil {
		return nil, err
	}
	return readSheet(ctx, c, s, s.report(), opts)
}

// readSheet reads the edges of a table.
func readSheet(ctx context.Context, c *cutter, s *sheet, r *Report, opts Options) (*Network, error) {
	columns, err := s.chooseEdges(opts.Nodes.ids(), opts, r)
	if err != nil {
		return nil, err
	}
	if s.comma {
		r.Decimal = "comma"
	}
	l := &edgeLayout{
		rowLayout:   s.layout(columns.source, columns.target, columns.weight),
		edgeColumns: columns,
		keepLoops:   opts.KeepLoops,
	}
	names := newNamer(opts.Nodes)
	list, err := readEdges(ctx, c, l, names, r, opts)
	if err != nil {
		return nil, err
	}
	return buildNetwork(list, l.edgeColumns, names, r, opts)
}

// report starts the report of a file of delimited text.
func (s *sheet) report() *Report {
	r := &Report{
		table: s.in.table, File: s.in.name, Format: formatDelimited, Compression: s.in.compression,
		Header: "none", Ledger: Ledger{Unit: "lines"},
	}
	if s.in.kind != nil {
		r.Format, r.Delimiter, r.Header, r.Ledger.Unit = s.in.kind.Name, "", "", s.in.unit+"s"
		if s.names != nil && !s.keyed {
			r.Header = s.namesFrom
		}
		return r
	}
	r.Delimiter = string(s.delim.delimiter())
	if s.columns == 1 {
		r.Delimiter = "none: one column"
	}
	if s.names != nil {
		r.Header = s.namesFrom
	}
	return r
}

// readEdges reads all lines. Nodes of a matrix keep their index as a code.
func readEdges(ctx context.Context, c *cutter, l *edgeLayout, names *namer, r *Report, opts Options) (*edgeList, error) {
	rejects := newRejects(r, &l.rowLayout, opts)
	list := newEdgeList()
	err := c.stream(ctx, l.parse, func(b *block) error {
		r.Ledger.add(b)
		list.lines.gather(b)
		if err := rejects.take(b.bad); err != nil {
			return err
		}
		if l.nodes == 0 {
			names.rename(b.u, b.v, &b.ids)
		}
		if list.hint == 0 && c.grid != nil {
			list.hint = len(c.grid.Rows)
		} else if list.hint == 0 && c.in.compression == "" {
			// Assume that the rest of the file is as dense, with a margin of 2 %.
			list.hint = 1 + int(1.02*float64(c.in.size)/float64(len(b.text))*float64(len(b.u)))
		}
		list.take(&b.edgeBlock, l.keepLoops)
		return nil
	})
	r.tellLines(&list.lines)
	return list, err
}

// buildNetwork turns the edges that were read into a graph in locality order.
func buildNetwork(list *edgeList, columns edgeColumns, names *namer, r *Report, opts Options) (*Network, error) {
	if list.n == 0 {
		return nil, r.noEdges(&list.lines)
	}
	edges := list.join(columns.weight >= 0)
	if err := list.finish(&edges, columns, r); err != nil {
		return nil, err
	}
	if err := opts.Nodes.meet(&edges, names.ids, r); err != nil {
		return nil, err
	}
	names.small, names.local = nil, nil // the graph needs the labels alone
	const many = 1 << 20
	if list.n > many {
		runtime.GC() // the garbage of reading would add to the peak of building
	}
	g, counts, err := graph.FromEdges(names.ids, edges, graph.BuildOptions{Parallel: opts.Parallel, KeepLoops: opts.KeepLoops})
	if err != nil {
		return nil, &Error{Code: CodeContent, Table: TableEdges, File: r.File, What: fmt.Sprintf("the edges do not form a graph (%v)", err),
			Remedies: []Remedy{do("correct the weights")}, Err: err}
	}
	r.Ledger.Edges, r.Ledger.Repeats = int64(counts.Edges), int64(counts.Repeats)
	r.Ledger.SelfLoops, r.Ledger.ZeroWeights = int64(counts.Loops), int64(counts.Zero)
	if err := r.Ledger.close(r.File); err != nil {
		return nil, err
	}
	r.Nodes, r.Edges = g.Len(), counts.Edges
	r.tellCounts(counts, columns.weight >= 0)
	nodes := opts.Nodes.extend(g.IDs(), r)
	opts.Nodes.tellLone(g, r)
	if opts.Unordered {
		return &Network{Graph: g, Nodes: nodes, Report: r}, nil
	}
	if counts.Edges > many {
		runtime.GC() // the ordered copy comes on top of what building left behind
	}
	return NewNetwork(g, nodes, r), nil
}

// noEdges is the error of a file in which no row became an edge.
func (r *Report) noEdges(lines *tally) error {
	e := &Error{Code: CodeContent, Table: TableEdges, File: r.File, What: "it contains no edges"}
	if r.Ledger.Header > 0 && r.Ledger.Bad == 0 {
		e.What += ", only a header"
	}
	switch {
	case len(r.BadRows) > 0:
		e.Remedies = []Remedy{do("the first bad row is " + r.BadRows[0])}
	case lines.hidden > 0:
		e.Remedies = []Remedy{do(lines.unhide())}
	default:
		e.Remedies = []Remedy{do("name another file"), do("build the edges from coordinates",
			Setting{Option: OptionReader, Value: "NearestNeighbours"})}
	}
	return e
}

// finish makes weights of distances and says what the weights are.
func (e *edgeList) finish(edges *graph.Edges, columns edgeColumns, r *Report) error {
	if columns.weight < 0 || e.terms == 0 {
		return nil
	}
	if !columns.distance {
		r.Weights = "as given: larger means more similar"
	} else {
		mean := e.sum / float64(e.terms)
		if math.IsInf(mean/e.lo, 0) || math.IsInf(mean, 0) {
			return &Error{Code: CodeContent, Table: TableEdges, File: r.File,
				What:     fmt.Sprintf("distances from %g to %g cannot be made into weights", e.lo, e.hi),
				Remedies: []Remedy{do("correct them"), do("give them in another unit")}}
		}
		for k, d := range edges.W {
			if d > 0 {
				edges.W[k] = mean / d
			}
		}
		r.Weights = fmt.Sprintf("mean distance / distance; the mean distance is %.4g", mean)
	}
	const wide = 1e9
	if e.hi/e.lo > wide {
		r.warn("the largest weight is %.2g times the smallest; a few edges will dominate", e.hi/e.lo)
	}
	return nil
}

// tellCounts warns of repeated edges, self loops and many bad lines.
func (r *Report) tellCounts(c graph.BuildCounts, weighted bool) {
	switch {
	case c.BothWays:
		r.warn("every edge is listed in both directions; each counts once")
	case c.WeightsAdd:
		r.warn("repeated edges: %d; their weights were added up", c.Repeats)
	case !weighted && 2*c.Repeats > c.Given():
		r.warn("more than half of the rows repeat an edge; each edge counts once")
	case c.Repeats > 0:
		r.warn("repeated edges: %d; the first of each is used", c.Repeats)
	}
	if c.Reversed > 0 && !c.BothWays && r.Format == formatDelimited { // others say whether they have directions
		r.warn("%s listed in both directions, and others in one: edges have no direction here, and lead both ways",
			map[bool]string{true: "1 edge is", false: fmt.Sprintf("%d edges are", c.Reversed)}[c.Reversed == 1])
	}
	if c.Loops > 0 {
		r.offer(fmt.Sprintf("edges from a node to itself: %d; left out", c.Loops), do("keep them", Setting{Option: OptionKeepLoops}))
	}
	if c.KeptLoops > 0 {
		r.warn("edges from a node to itself: %d; kept", c.KeptLoops)
	}
	if r.Ledger.Bad*2 > r.Ledger.Total {
		r.warn("more than half of the lines are bad; is the file read the right way?")
	}
}
