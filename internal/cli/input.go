package cli

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

// Input are the flags that name the graph.
type Input struct {
	Edges     string
	Nodes     []string
	Generated string
	KNN       int
	weights   Choice
	parallel  Choice
	keepLoops bool
	Unordered bool     // no flag: leave nodes in the order of the file
	points    bool     // no flag: the file of nodes is that of the measurements, see PointsOf
	Keep      []string // columns of --nodes that results repeat
	Reading
}

// Reading are the flags that say how files are read.
type Reading struct {
	Columns   []string
	OnBadRow  Choice
	OnUnknown Choice
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

// Flags registers the flags of cmd.
func (in *Input) Flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&in.Edges, "edges", "", "`file` of edges: delimited text; a map (GeoJSON, shapefile, OpenStreetMap, GTFS); a graph "+
		"(GraphML, GML, GEXF, Pajek, Graphviz, JSON, MatrixMarket, METIS, DIMACS, networkx, NumPy); a table of Parquet, SQLite or Excel; "+
		"plain, gzip or zstd; - is standard input")
	f.StringArrayVar(&in.Nodes, "nodes", nil, "`file` of nodes (node table), as text or another format of --edges: id and any of label, "+
		"lat, lon, x, y, cost, allowed, group; other columns can be covariates; may be repeated, tables are joined by id")
	f.IntVar(&in.KNN, "knn", 0, "without --edges: connect each node to its `K` nearest, by lat and lon or by x and y, of --nodes or else "+
		"of --measurements")
	f.StringVar(&in.Generated, "generate", "", generateHelp)
	in.weights.Flag(cmd, "weights", "what the numbers of edges mean", "auto", "similarity", "distance", "ignore")
	in.parallel.Flag(cmd, "parallel-edges", "how to merge several edges between two nodes", "auto", "sum", "once")
	f.BoolVar(&in.keepLoops, "keep-loops", false, "keep edges from a node to itself")
	in.Reading.Flags(cmd)
}

// Flags registers the flags of cmd.
func (in *Reading) Flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&in.Columns, "column", nil, "which column has a role: `ROLE=NAME` or ROLE=NUMBER; may be repeated")
	in.OnBadRow.Flag(cmd, "on-bad-row", "what to do with unusable rows", "fail", "skip")
	in.OnUnknown.Flag(cmd, "on-unknown", "what to do with rows of nodes that are not in the graph; fail tolerates one row in a hundred, "+
		"with a note", "fail", "skip")
	f.StringVar(&in.rejects, "rejects", "", "`file` that receives the skipped rows, unchanged")
	f.Float64Var(&in.snap, "snap", formats.DefaultSnap,
		"`METRES` within which ends of lines and borders of areas meet, in geographic files; 0: only where coordinates are equal")
	f.Float64Var(&in.within, "within", graphio.DefaultWithin,
		"largest distance in `METRES` between a measurement that has coordinates and no id, and its node")
	in.delimiter.flag(cmd, "delimiter", "field separator", "auto", "comma", "semicolon", "tab", "pipe", "blanks")
	in.header.flag(cmd, "header", "whether the first row has column names", "auto", "yes", "no")
	in.decimal.flag(cmd, "decimal", "decimal separator", "auto", "point", "comma")
	in.missing.flag(cmd, "missing", "`value` that stands for a missing one, such as -9999, in measurements and labels, or as in "+
		"nodes=-9999; none: no number does; may be repeated", "measurements", "labels")
	in.unit.flag(cmd, "strip-unit", "`unit` beside every measured number, such as mph, % or $, that is taken off; for edges as in edges=km",
		"measurements")
	in.table.flag(cmd, "table", "`name` of the table or sheet to read from an SQLite or Excel file that has several; for one file as in "+
		"edges=roads", tableNames...)
}

// Options returns the options of readers, without Rejects and without those that
// may differ between files: see Of.
func (in *Input) Options() (graphio.Options, error) {
	opts, err := in.Reading.Options()
	opts.KeepLoops, opts.Unordered = in.keepLoops, in.Unordered
	opts.Weights = graphio.Weights(in.weights.Chosen())
	switch in.parallel.Chosen() {
	case "sum":
		opts.Parallel = graph.ParallelSum
	case "once":
		opts.Parallel = graph.ParallelOnce
	}
	return opts, err
}

// Options is that of Input.
func (in *Reading) Options() (graphio.Options, error) {
	opts := graphio.Options{Columns: map[graphio.Role]string{}}
	for _, c := range in.Columns {
		role, name, ok := strings.Cut(c, "=")
		if !ok || name == "" {
			return opts, Usagef("--column %q: give a role and a column, as in --column source=from", c)
		}
		opts.Columns[graphio.Role(role)] = name
	}
	if !(in.snap >= 0) || !(in.within > 0) || math.IsInf(in.snap+in.within, 0) {
		return opts, Usagef("--snap %g --within %g: give distances in metres", in.snap, in.within)
	}
	opts.Formats.Snap, opts.Within = in.snap, in.within
	if in.snap == 0 {
		opts.Formats.Snap = -1 // the zero value means the default
	}
	opts.BadRows = graphio.BadRows(in.OnBadRow.Chosen())
	opts.Unknown = graphio.Unknown(in.OnUnknown.Chosen())
	if in.rejects != "" && opts.BadRows != graphio.BadRowsSkip {
		return opts, Usagef("--rejects %s needs --on-bad-row skip", in.rejects)
	}
	return opts, nil
}

// Of returns opts as they are for one file: edges, nodes, measurements or labels.
func (in *Reading) Of(file string, opts graphio.Options) graphio.Options {
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

// PointsOf makes a file of measurements or labels the table of nodes, too, if --knn is given
// and no other table: points with their coordinates and values in one file.
func (in *Input) PointsOf(a *App, file string) error {
	switch {
	case in.KNN <= 0 || in.Edges != "" || in.Generated != "" || file == "" || len(in.Nodes) > 1:
		return nil
	case len(in.Nodes) == 1 && !SameFile(in.Nodes[0], file):
		return nil
	}
	in.Nodes, in.points = []string{file}, true
	if file != "-" || a.again != nil {
		return nil
	}
	text, err := io.ReadAll(a.In) // it is read twice
	if err != nil {
		return Unreadable("standard input", file, err, "check the stream")
	}
	a.again = text
	return nil
}

// Load reads the graph that the flags name. Rejected rows go to the file of
// --rejects once all is read.
func (in *Input) Load(ctx context.Context, a *App) (*graphio.Network, error) {
	net, err := in.LoadThen(ctx, a, func(*graphio.Network, graphio.Options) error { return nil })
	if err == nil {
		a.TellNetwork(net)
	}
	return net, err
}

// LoadThen is Load for verbs that read more files: then reads them with the same
// options, and its rejected rows go to the same file.
func (in *Input) LoadThen(ctx context.Context, a *App, then func(*graphio.Network, graphio.Options) error) (net *graphio.Network,
	err error) {
	opts, err := in.Options()
	if err != nil {
		return nil, err
	}
	switch {
	case in.KNN < 0:
		return nil, Usagef("--knn %d: give 1 or more", in.KNN)
	case in.Generated != "" && (in.Edges != "" || len(in.Nodes) > 0):
		return nil, Usagef("--generate defines the whole graph: leave out --edges and --nodes")
	case in.Edges == "" && in.KNN == 0 && in.Generated == "":
		return nil, Usagef("no graph: give --edges FILE, or --nodes FILE with --knn K, or --generate grid:30x30")
	case in.Edges != "" && in.KNN != 0:
		return nil, Usagef("--edges and --knn both define the edges: give only one")
	case in.Edges == "" && len(in.Nodes) == 0 && in.Generated == "":
		return nil, Usagef("--knn needs --nodes FILE with coordinates, or measurements that have them")
	}
	err = in.Rejecting(a, func(w io.Writer) (err error) {
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

// Rejecting lets read write rejected rows to the file of --rejects, if there is one.
func (in *Reading) Rejecting(a *App, read func(w io.Writer) error) error {
	if in.rejects == "" {
		return read(nil)
	}
	return a.WriteFile(in.rejects, read)
}

func (in *Input) read(ctx context.Context, a *App, opts graphio.Options) (*graphio.Network, error) {
	if in.Generated != "" {
		return a.generate(in.Generated, in.Unordered)
	}
	nodes, err := in.readNodes(ctx, a, opts)
	if err != nil {
		return nil, err
	}
	opts.Nodes = nodes
	if in.KNN > 0 {
		return nearest(a, opts.Nodes, in.KNN)
	}
	s := a.Talk.Stage("reading edges")
	opts.Progress = thenOrder(s)
	net, err := graphio.ReadGraph(ctx, a.Source(in.Edges), in.Of("edges", opts))
	if err != nil {
		return nil, err
	}
	s.Done("%s and %s from %s", plural.Count(net.Graph.Len(), "nodes"), plural.Count(net.Graph.Edges(), "edges"), net.Report.File)
	return net, nil
}

// thenOrder reports the bytes that are read, and then that nodes are numbered, which takes
// about as long.
func thenOrder(s *Stage) func(done, total int64) {
	read := s.Work().Part(1, 1)
	return func(done, total int64) {
		if read.Count(done, total); total > 0 && done >= total {
			s.Work().Step("numbering the nodes")
		}
	}
}

// readNodes reads and joins the node tables; the result is nil if there are none.
func (in *Input) readNodes(ctx context.Context, a *App, opts graphio.Options) (*graphio.NodeTable, error) {
	var tables []*graphio.NodeTable
	if opts.Points = in.points; in.points {
		opts.Rejects = nil // the measurements are in the same rows, and leave out all bad ones
	}
	for _, path := range in.Nodes {
		s := a.Talk.Stage("reading nodes")
		opts.Progress, opts.Keep = s.Update, in.Keep
		table, err := graphio.ReadNodes(ctx, a.Source(path), in.Of("nodes", opts))
		if err != nil {
			return nil, err
		}
		s.Done("%d nodes from %s", table.IDs.Len(), table.Report.File)
		tables = append(tables, table)
	}
	nodes, err := graphio.JoinNodes(tables...)
	if err == nil && len(tables) > 1 {
		for _, table := range tables[1:] {
			a.Tell(table.Report)
		}
	}
	return nodes, err
}

// nearest connects nodes to their nearest neighbours in space.
func nearest(a *App, nodes *graphio.NodeTable, k int) (*graphio.Network, error) {
	s := a.Talk.Stage("joining neighbours")
	net, err := graphio.NearestNeighbours(nodes, k)
	if err != nil {
		return nil, fmt.Errorf("--knn %d: %w", k, err)
	}
	s.Done("%d edges to the %d nearest", net.Graph.Edges(), k)
	return net, nil
}

// TellNetwork prints how the files of a graph were understood.
func (a *App) TellNetwork(net *graphio.Network) {
	if net.Nodes != nil && net.Nodes.Report != net.Report {
		a.Tell(net.Nodes.Report)
	}
	a.Tell(net.Report)
}

// Tell prints how a file was understood and which rows were skipped; check prints
// more.
func (a *App) Tell(r *graphio.Report) {
	if r == nil {
		return
	}
	a.tellBut(r, nil)
}

// TellValues is Tell for a file of measurements or labels. If it is a node table, too,
// other columns are those of that table, which says what becomes of them.
func (in *Input) TellValues(a *App, r *graphio.Report, file string, net *graphio.Network) {
	var elsewhere []string
	if slices.ContainsFunc(in.Nodes, func(path string) bool { return SameFile(path, file) }) {
		for _, c := range net.Nodes.Covariates() {
			elsewhere = append(elsewhere, c.Name)
		}
	}
	a.tellBut(r, elsewhere)
}

// tellBut is Tell without the columns that are used elsewhere among those not used.
func (a *App) tellBut(r *graphio.Report, elsewhere []string) {
	for _, c := range r.Columns {
		a.Talk.Detail("  %s", c)
	}
	unused := slices.DeleteFunc(slices.Clone(r.Unused), func(name string) bool {
		return slices.Contains(elsewhere, name) || slices.ContainsFunc(r.Covariates, func(c graphio.Covariate) bool { return c.Name == name })
	})
	if len(unused) > 0 {
		a.Talk.Say("  not used: %s", strings.Join(unused, ", "))
	}
	if r.Weights != "" {
		a.Talk.Detail("  weights: %s", r.Weights)
	}
	if r.Ledger.Bad > 0 {
		a.Talk.Say("  bad rows skipped: %d", r.Ledger.Bad)
	}
	for _, bad := range r.BadRows {
		a.Talk.Say("    %s", bad)
	}
	if r.Ledger.Missing > 0 {
		a.Talk.Say("  rows without a value skipped: %d", r.Ledger.Missing)
	}
	for _, w := range r.Warnings {
		say := a.Talk.Say
		if w.Loss {
			say = a.Talk.Warn
		}
		say("  note: %s", w.Text(AsFlags))
	}
}

// Source opens a path, "-" being the standard input that Run was given.
func (a *App) Source(path string) graphio.Source {
	if path == "-" {
		if a.again != nil {
			return graphio.Reader("standard input", bytes.NewReader(a.again))
		}
		return graphio.Reader("standard input", a.In)
	}
	return graphio.File(path)
}
