package graphio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"grfgp/covariate"
	"grfgp/formats"
)

// tables reads a file of another program, whose format was recognized.
func (in *input) tables(ctx context.Context, opts Options) (*formats.File, error) {
	from := formats.Input{Name: in.name, Path: in.path}
	if in.path == "" || !in.kind.ByPath {
		data, err := in.readAll()
		if err != nil {
			return nil, err
		}
		from.Data = data
	}
	ask := opts.Formats
	id := opts.Columns[RoleID]
	if node := opts.Columns[RoleNode]; node != "" && in.table != TableEdges && in.table != TableNodes {
		id = node
	}
	if opts.Nodes == nil {
		ask.ID = id
	}
	f, err := in.kind.Tables(ctx, from, ask)
	if asksID(err) && id != "" && ask.ID == "" { // it may be the column of ids of both the given nodes and this file
		ask.ID = id
		f, err = in.kind.Tables(ctx, from, ask)
	}
	if err != nil {
		return nil, in.translate(err)
	}
	in.tell()
	return f, nil
}

// asksID reports whether an error can be solved by naming the ids.
func asksID(err error) bool {
	var e *formats.Error
	return errors.As(err, &e) && e.Kind == formats.Ambiguous &&
		slices.ContainsFunc(e.Remedies, func(r formats.Remedy) bool { return r.Option == "ID" })
}

// readAll returns the rest of the stream.
func (in *input) readAll() ([]byte, error) {
	var all bytes.Buffer
	if in.compression == "" && in.size > 0 {
		all.Grow(int(in.size) + bytes.MinRead)
	}
	for {
		_, err := io.CopyN(&all, in.text, defaultBlock)
		in.tell()
		if errors.Is(err, io.EOF) {
			return all.Bytes(), nil
		}
		if err != nil {
			return nil, in.readError(err)
		}
	}
}

// translate makes an *Error of one of package formats.
func (in *input) translate(err error) error {
	var e *formats.Error
	if !errors.As(err, &e) {
		return err // of the context
	}
	out := &Error{Code: Code(e.Kind), Table: in.table, File: in.name, Line: e.Line, Column: e.Column, Unit: e.Unit, What: e.What, Err: e.Err}
	for _, r := range e.Remedies {
		remedy := do(r.Do)
		switch r.Option {
		case "":
		case "ID":
			remedy.Set = []Setting{nameColumn(RoleID, r.Value)}
		default:
			remedy.Set = []Setting{{Option: Option(r.Option), Value: r.Value}}
		}
		out.Remedies = append(out.Remedies, remedy)
	}
	return out
}

// readForeign reads a graph from a file of another program.
func readForeign(ctx context.Context, in *input, opts Options) (*Network, error) {
	f, err := in.tables(ctx, opts)
	if err != nil {
		return nil, err
	}
	var own *NodeTable
	if f.Nodes != nil && len(f.Nodes.Rows) > 0 {
		if own, err = in.ownNodes(ctx, f, opts); err != nil {
			return nil, err
		}
	}
	given := opts.Nodes
	if opts.Nodes, err = given.withOwn(own); err != nil {
		return nil, err
	}
	edges, fixed := f.Edges, 2
	if edges == nil {
		edges, fixed = f.Rows, 0
	}
	if edges == nil {
		return nil, in.fail(CodeContent, fmt.Sprintf("is a file of nodes (%s): it contains no edges", in.kind.Name),
			do("name another file"), do("build the edges from coordinates", Setting{Option: OptionReader, Value: "NearestNeighbours"}))
	}
	c := in.cut(opts.blockSize)
	s, err := c.lay(edges, fixed, edgeTable, opts)
	if err != nil {
		return nil, err
	}
	s.distances, s.equal = f.Distance, f.Equal
	r := s.report()
	r.note(f.Notes)
	r.note(f.EdgeNotes)
	if given != nil && own != nil {
		r.Warnings = append(r.Warnings, own.Report.Warnings...)
	}
	return readSheet(ctx, c, s, r, opts)
}

// note adds what a reader of another format noticed.
func (r *Report) note(notes []string) {
	for _, text := range notes {
		r.warn("%s", text)
	}
}

// ownNodes reads the nodes of a file that holds edges too.
func (in *input) ownNodes(ctx context.Context, f *formats.File, opts Options) (*NodeTable, error) {
	nodes := *in
	nodes.table, nodes.closers = TableNodes, nil
	opts.Columns = maps.Clone(opts.Columns)
	delete(opts.Columns, RoleID) // the edges say what ids are
	if opts.Nodes != nil {
		opts.Columns = nil // they are those of that table
	}
	t, err := nodes.openGrid(f.Nodes, 1, nodeTable, opts)
	if err != nil {
		return nil, err
	}
	return t.readNodes(ctx, opts)
}

// withOwn adds the nodes of a graph's own file to the table that was given. Where both
// say something, the given table is right.
func (n *NodeTable) withOwn(own *NodeTable) (*NodeTable, error) {
	if n == nil || own == nil {
		if n == nil {
			return own, nil
		}
		return n, nil
	}
	rest := *own
	rest.Columns = slices.DeleteFunc(slices.Clone(own.Columns), func(c covariate.Column) bool {
		return slices.ContainsFunc(n.Columns, func(d covariate.Column) bool { return c.Name == d.Name })
	})
	for _, role := range codedRoles {
		if n.has(role) {
			rest.drop(role)
		}
	}
	return n.join(&rest)
}

// openGrid opens a table of a file of another program.
func (in *input) openGrid(rows *formats.Table, fixed int, kind tableKind, opts Options) (*table, error) {
	c := in.cut(opts.blockSize)
	s, err := c.lay(rows, fixed, kind, opts)
	if err != nil {
		return nil, err
	}
	return &table{in: in, cutter: c, sheet: s, report: s.report()}, nil
}

// openForeign opens the table of nodes, or the only table, of a file of another program.
func (in *input) openForeign(ctx context.Context, kind tableKind, opts Options) (*table, error) {
	f, err := in.tables(ctx, opts)
	if err != nil {
		return nil, err
	}
	rows, fixed := f.Nodes, 1
	if rows == nil {
		rows, fixed = f.Rows, 0
	}
	if rows == nil {
		return nil, in.fail(CodeFormat, fmt.Sprintf("is a file of edges (%s), but a table of %s is expected", in.kind.Name, kind.kind),
			do("give a table of "+string(kind.kind)), do("read it as a graph", Setting{Option: OptionReader, Value: "ReadGraph"}))
	}
	t, err := in.openGrid(rows, fixed, kind, opts)
	if err == nil {
		t.report.note(f.Notes)
	}
	return t, err
}
