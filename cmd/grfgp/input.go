package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grfgp/formats"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/plural"
)

// input are the flags that name the graph.
type input struct {
	edges     string
	nodes     []string
	generated string
	knn       int
	weights   choice
	parallel  choice
	keepLoops bool
	unordered bool     // no flag: leave nodes in the order of the file
	points    bool     // no flag: the file of nodes is that of the measurements, see pointsOf
	keep      []string // columns of --nodes that results repeat
	reading
}

// reading are the flags that say how files are read.
type reading struct {
	columns   []string
	onBadRow  choice
	onUnknown choice
	rejects   string
	snap      float64
	within    float64
	delimiter fileChoice
	header    fileChoice
	decimal   fileChoice
	missing   fileTexts
	unit      fileTexts
	table     fileTexts
}

func (in *input) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&in.edges, "edges", "", "`file` of edges: delimited text; a map (GeoJSON, shapefile, OpenStreetMap, GTFS); a graph (GraphML, GML, GEXF, Pajek, Graphviz, JSON, MatrixMarket, METIS, DIMACS, networkx, NumPy); a table of Parquet, SQLite or Excel; plain, gzip or zstd; - is standard input")
	f.StringArrayVar(&in.nodes, "nodes", nil, "`file` of nodes (node table), as text or another format of --edges: id and any of label, lat, lon, x, y, cost, allowed, group; other columns can be covariates; may be repeated, tables are joined by id")
	f.IntVar(&in.knn, "knn", 0, "without --edges: connect each node to its `K` nearest, by lat and lon or by x and y, of --nodes or else of --measurements")
	f.StringVar(&in.generated, "generate", "", generateHelp)
	in.weights.flag(cmd, "weights", "what the numbers of edges mean", "auto", "similarity", "distance", "ignore")
	in.parallel.flag(cmd, "parallel-edges", "how to merge several edges between two nodes", "auto", "sum", "once")
	f.BoolVar(&in.keepLoops, "keep-loops", false, "keep edges from a node to itself")
	in.reading.flags(cmd)
}

func (in *reading) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&in.columns, "column", nil, "which column has a role: `ROLE=NAME` or ROLE=NUMBER; may be repeated")
	in.onBadRow.flag(cmd, "on-bad-row", "what to do with unusable rows", "fail", "skip")
	in.onUnknown.flag(cmd, "on-unknown", "what to do with rows of nodes that are not in the graph; fail tolerates one row in a hundred, with a note", "fail", "skip")
	f.StringVar(&in.rejects, "rejects", "", "`file` that receives the skipped rows, unchanged")
	f.Float64Var(&in.snap, "snap", formats.DefaultSnap, "`METRES` within which ends of lines and borders of areas meet, in geographic files; 0: only where coordinates are equal")
	f.Float64Var(&in.within, "within", graphio.DefaultWithin, "largest distance in `METRES` between a measurement that has coordinates and no id, and its node")
	in.delimiter.flag(cmd, "delimiter", "field separator", "auto", "comma", "semicolon", "tab", "pipe", "blanks")
	in.header.flag(cmd, "header", "whether the first row has column names", "auto", "yes", "no")
	in.decimal.flag(cmd, "decimal", "decimal separator", "auto", "point", "comma")
	in.missing.flag(cmd, "missing", "`value` that stands for a missing one, such as -9999, in measurements and labels, or as in nodes=-9999; none: no number does; may be repeated", "measurements", "labels")
	in.unit.flag(cmd, "strip-unit", "`unit` beside every measured number, such as mph, % or $, that is taken off; for edges as in edges=km", "measurements")
	in.table.flag(cmd, "table", "`name` of the table or sheet to read from an SQLite or Excel file that has several; for one file as in edges=roads", tableNames...)
}

// options returns the options of readers, without Rejects and without those that
// may differ between files: see of.
func (in *input) options() (graphio.Options, error) {
	opts, err := in.reading.options()
	opts.KeepLoops, opts.Unordered = in.keepLoops, in.unordered
	opts.Weights = graphio.Weights(in.weights.chosen())
	switch in.parallel.chosen() {
	case "sum":
		opts.Parallel = graph.ParallelSum
	case "once":
		opts.Parallel = graph.ParallelOnce
	}
	return opts, err
}

func (in *reading) options() (graphio.Options, error) {
	opts := graphio.Options{Columns: map[graphio.Role]string{}}
	for _, c := range in.columns {
		role, name, ok := strings.Cut(c, "=")
		if !ok || name == "" {
			return opts, usagef("--column %q: give a role and a column, as in --column source=from", c)
		}
		opts.Columns[graphio.Role(role)] = name
	}
	if !(in.snap >= 0) || !(in.within > 0) || math.IsInf(in.snap+in.within, 0) {
		return opts, usagef("--snap %g --within %g: give distances in metres", in.snap, in.within)
	}
	opts.Formats.Snap, opts.Within = in.snap, in.within
	if in.snap == 0 {
		opts.Formats.Snap = -1 // the zero value means the default
	}
	opts.BadRows = graphio.BadRows(in.onBadRow.chosen())
	opts.Unknown = graphio.Unknown(in.onUnknown.chosen())
	if in.rejects != "" && opts.BadRows != graphio.BadRowsSkip {
		return opts, usagef("--rejects %s needs --on-bad-row skip", in.rejects)
	}
	return opts, nil
}

// of returns opts as they are for one file: edges, nodes, measurements or labels.
func (in *reading) of(file string, opts graphio.Options) graphio.Options {
	opts.Delimiter = graphio.Delimiter(in.delimiter.get(file))
	opts.Header = graphio.Header(in.header.get(file))
	opts.Decimal = graphio.Decimal(in.decimal.get(file))
	opts.Missing = in.missing.get(file)
	if tables := in.table.get(file); len(tables) > 0 {
		opts.Formats.Table = tables[len(tables)-1]
	}
	if units := in.unit.get(file); len(units) > 0 {
		opts.Unit = units[len(units)-1]
	}
	return opts
}

// pointsOf makes a file of measurements or labels the table of nodes, too, if --knn is given
// and no other table: points with their coordinates and values in one file.
func (in *input) pointsOf(a *app, file string) error {
	switch {
	case in.knn <= 0 || in.edges != "" || in.generated != "" || file == "" || len(in.nodes) > 1:
		return nil
	case len(in.nodes) == 1 && !sameFile(in.nodes[0], file):
		return nil
	}
	in.nodes, in.points = []string{file}, true
	if file != "-" || a.again != nil {
		return nil
	}
	text, err := io.ReadAll(a.In) // it is read twice
	if err != nil {
		return unreadable("standard input", file, err, "check the stream")
	}
	a.again = text
	return nil
}

// load reads the graph that the flags name. Rejected rows go to the file of
// --rejects once all is read.
func (in *input) load(ctx context.Context, a *app) (*graphio.Network, error) {
	net, err := in.loadThen(ctx, a, func(*graphio.Network, graphio.Options) error { return nil })
	if err == nil {
		a.tellNetwork(net)
	}
	return net, err
}

// loadThen is load for verbs that read more files: then reads them with the same
// options, and its rejected rows go to the same file.
func (in *input) loadThen(ctx context.Context, a *app, then func(*graphio.Network, graphio.Options) error) (net *graphio.Network, err error) {
	opts, err := in.options()
	if err != nil {
		return nil, err
	}
	switch {
	case in.knn < 0:
		return nil, usagef("--knn %d: give 1 or more", in.knn)
	case in.generated != "" && (in.edges != "" || len(in.nodes) > 0):
		return nil, usagef("--generate defines the whole graph: leave out --edges and --nodes")
	case in.edges == "" && in.knn == 0 && in.generated == "":
		return nil, usagef("no graph: give --edges FILE, or --nodes FILE with --knn K, or --generate grid:30x30")
	case in.edges != "" && in.knn != 0:
		return nil, usagef("--edges and --knn both define the edges: give only one")
	case in.edges == "" && len(in.nodes) == 0 && in.generated == "":
		return nil, usagef("--knn needs --nodes FILE with coordinates, or measurements that have them")
	}
	err = in.rejecting(a, func(w io.Writer) (err error) {
		opts.Rejects = w
		if net, err = in.read(ctx, a, opts); err != nil {
			return err
		}
		opts.Places = net.Nodes
		if in.points {
			opts.Nodes = net.Nodes
		}
		return then(net, opts)
	})
	return net, err
}

// rejecting lets read write rejected rows to the file of --rejects, if there is one.
func (in *reading) rejecting(a *app, read func(w io.Writer) error) error {
	if in.rejects == "" {
		return read(nil)
	}
	return a.writeFile(in.rejects, read)
}

func (in *input) read(ctx context.Context, a *app, opts graphio.Options) (*graphio.Network, error) {
	if in.generated != "" {
		return a.generate(in.generated, in.unordered)
	}
	nodes, err := in.readNodes(ctx, a, opts)
	if err != nil {
		return nil, err
	}
	opts.Nodes = nodes
	if in.knn > 0 {
		return nearest(a, opts.Nodes, in.knn)
	}
	s := a.talk.Stage("reading edges")
	opts.Progress = thenOrder(s)
	net, err := graphio.ReadGraph(ctx, a.source(in.edges), in.of("edges", opts))
	if err != nil {
		return nil, err
	}
	s.Done("%s and %s from %s", plural.Count(net.Graph.Len(), "nodes"), plural.Count(net.Graph.Edges(), "edges"), net.Report.File)
	return net, nil
}

// thenOrder reports the bytes that are read, and then that nodes are numbered, which takes
// about as long.
func thenOrder(s *stage) func(done, total int64) {
	read := s.Work().Part(1, 1)
	return func(done, total int64) {
		if read.Count(done, total); total > 0 && done >= total {
			s.Work().Step("numbering the nodes")
		}
	}
}

// readNodes reads and joins the node tables; the result is nil if there are none.
func (in *input) readNodes(ctx context.Context, a *app, opts graphio.Options) (*graphio.NodeTable, error) {
	var tables []*graphio.NodeTable
	if opts.Points = in.points; in.points {
		opts.Rejects = nil // the measurements are in the same rows, and leave out all bad ones
	}
	for _, path := range in.nodes {
		s := a.talk.Stage("reading nodes")
		opts.Progress, opts.Keep = s.Update, in.keep
		table, err := graphio.ReadNodes(ctx, a.source(path), in.of("nodes", opts))
		if err != nil {
			return nil, err
		}
		s.Done("%d nodes from %s", table.IDs.Len(), table.Report.File)
		tables = append(tables, table)
	}
	nodes, err := graphio.JoinNodes(tables...)
	if err == nil && len(tables) > 1 {
		for _, table := range tables[1:] {
			a.tell(table.Report)
		}
	}
	return nodes, err
}

// nearest connects nodes to their nearest neighbours in space.
func nearest(a *app, nodes *graphio.NodeTable, k int) (*graphio.Network, error) {
	s := a.talk.Stage("joining neighbours")
	net, err := graphio.NearestNeighbours(nodes, k)
	if err != nil {
		return nil, fmt.Errorf("--knn %d: %w", k, err)
	}
	s.Done("%d edges to the %d nearest", net.Graph.Edges(), k)
	return net, nil
}

// tellNetwork prints how the files of a graph were understood.
func (a *app) tellNetwork(net *graphio.Network) {
	if net.Nodes != nil && net.Nodes.Report != net.Report {
		a.tell(net.Nodes.Report)
	}
	a.tell(net.Report)
}

// tell prints how a file was understood and which rows were skipped; check prints
// more.
func (a *app) tell(r *graphio.Report) {
	if r == nil {
		return
	}
	a.tellBut(r, nil)
}

// tellValues is tell for a file of measurements or labels. If it is a node table, too,
// other columns are those of that table, which says what becomes of them.
func (in *input) tellValues(a *app, r *graphio.Report, file string, net *graphio.Network) {
	var elsewhere []string
	if slices.ContainsFunc(in.nodes, func(path string) bool { return sameFile(path, file) }) {
		for _, c := range net.Nodes.Covariates() {
			elsewhere = append(elsewhere, c.Name)
		}
	}
	a.tellBut(r, elsewhere)
}

// tellBut is tell without the columns that are used elsewhere among those not used.
func (a *app) tellBut(r *graphio.Report, elsewhere []string) {
	for _, c := range r.Columns {
		a.talk.Detail("  %s", c)
	}
	unused := slices.DeleteFunc(slices.Clone(r.Unused), func(name string) bool {
		return slices.Contains(elsewhere, name) || slices.ContainsFunc(r.Covariates, func(c graphio.Covariate) bool { return c.Name == name })
	})
	if len(unused) > 0 {
		a.talk.Say("  not used: %s", strings.Join(unused, ", "))
	}
	if r.Weights != "" {
		a.talk.Detail("  weights: %s", r.Weights)
	}
	if r.Ledger.Bad > 0 {
		a.talk.Say("  bad rows skipped: %d", r.Ledger.Bad)
	}
	for _, bad := range r.BadRows {
		a.talk.Say("    %s", bad)
	}
	if r.Ledger.Missing > 0 {
		a.talk.Say("  rows without a value skipped: %d", r.Ledger.Missing)
	}
	for _, w := range r.Warnings {
		say := a.talk.Say
		if w.Loss {
			say = a.talk.Warn
		}
		say("  note: %s", w.Text(asFlags))
	}
}

// source opens a path, "-" being the standard input that Run was given.
func (a *app) source(path string) graphio.Source {
	if path == "-" {
		if a.again != nil {
			return graphio.Reader("standard input", bytes.NewReader(a.again))
		}
		return graphio.Reader("standard input", a.In)
	}
	return graphio.File(path)
}
