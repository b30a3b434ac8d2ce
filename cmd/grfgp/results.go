package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grfgp/graphio"
	"grfgp/internal/cli"
	"grfgp/internal/plural"
	"grfgp/internal/table"
)

// resultFlags say where results go, and what they have of the node table.
type resultFlags struct {
	out  string
	kept []string
}

func (f *resultFlags) flags(cmd *cobra.Command, what, otherwise string) {
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "`file` for the "+what+
		", by its name CSV (.csv), GeoJSON (.geojson), Parquet (.parquet) or, as with --json, JSON (.json); text may be compressed (.csv.gz, "+
		".csv.zst) (default: "+otherwise+")")
	cmd.Flags().StringSliceVar(&f.kept, "keep", nil, "`columns` of --nodes that results repeat unchanged: all, or names separated by "+
		"commas (default: label and coordinates only)")
	cli.Complete(cmd, "keep", graphio.KeepAll)
}

// keepNames returns the names of --keep.
func (f *resultFlags) keepNames() []string {
	var names []string
	for _, name := range f.kept {
		names = append(names, strings.TrimSpace(name))
	}
	return names
}

// check refuses a file whose name and --json say different things, before any work is
// done. A file called .json means --json.
func (f *resultFlags) check(a *app) error {
	format, extension := table.FormatOf(f.out), table.Extension(f.out)
	switch {
	case f.out == "":
		return nil
	case extension == ".json":
		a.JSON = true
		return nil
	case a.JSON && format != "":
		return cli.Usagef("-o %s is for %s and --json for JSON: name the file .json, or leave out --json", f.out, formatNames[format])
	case format == table.Parquet && table.Compressed(f.out):
		return cli.Usagef("-o %s: Parquet files are compressed inside; name it %s", f.out, strings.TrimSuffix(f.out, filepath.Ext(f.out)))
	case format == "" && slices.Contains(otherTables, extension):
		return cli.Usagef("-o %s: tables are written as CSV (.csv), GeoJSON (.geojson), Parquet (.parquet) or JSON (.json); GIS programs and "+
			"spreadsheets read these", f.out)
	case format == table.Parquet:
		_, err := table.New(io.Discard, format, []table.Column{{Name: "node"}})
		if err != nil {
			return cli.Usagef("-o %s: %w", f.out, err)
		}
	}
	return nil
}

var formatNames = map[table.Format]string{table.CSV: "CSV", table.GeoJSON: "GeoJSON", table.Parquet: "Parquet"}

// otherTables are extensions of tables that are not written: a file of that name with
// CSV inside would mislead.
var otherTables = []string{".shp", ".gpkg", ".xlsx", ".xls", ".feather", ".arrow", ".kml", ".fgb", ".db", ".sqlite"}

// nodeColumns is what results repeat of the node table: label, coordinates and the
// columns of --keep.
type nodeColumns struct {
	nodes *graphio.NodeTable // nil: none
	texts []graphio.TextColumn
	names []string // of texts in tables: their own, unless taken
}

// newNodeColumns chooses the columns, and refuses a map of nodes without coordinates. The
// other columns of the results are named.
func (f *resultFlags) newNodeColumns(a *app, net *graphio.Network, others []string) (*nodeColumns, error) {
	n := &nodeColumns{nodes: net.Nodes}
	if err := n.checkPlaces(f); err != nil {
		return nil, err
	}
	taken := slices.Clone(others)
	for _, c := range n.head() {
		taken = append(taken, c.Name)
	}
	if names := f.keepNames(); len(names) > 0 {
		var err error
		if n.texts, err = net.Nodes.TextsOf(names); err != nil {
			return nil, cli.Usagef("--keep %s: %w", strings.Join(names, ","), err)
		}
	}
	for _, c := range n.texts {
		name := freeName(c.Name, taken)
		if name != c.Name {
			a.Talk.Say("  note: the column %q of --nodes is called %q in the results, which have a column of that name themselves", c.Name, name)
		}
		taken = append(taken, name)
		n.names = append(n.names, name)
	}
	return n, nil
}

// freeName returns a name that is not taken, in upper or lower case: the name itself, or
// node_NAME, node_NAME_2 and so on.
func freeName(name string, taken []string) string {
	free := func(name string) bool {
		return !slices.ContainsFunc(taken, func(o string) bool { return strings.EqualFold(o, name) })
	}
	if free(name) {
		return name
	}
	next := "node_" + name
	for k := 2; !free(next); k++ {
		next = fmt.Sprintf("node_%s_%d", name, k)
	}
	return next
}

// geographic and planar say which coordinates the table has.
func (n *nodeColumns) geographic() bool {
	return n.nodes != nil && n.nodes.Lat != nil && n.nodes.Lon != nil
}

func (n *nodeColumns) planar() bool {
	return n.nodes != nil && n.nodes.X != nil && n.nodes.Y != nil && !n.geographic()
}

// checkPlaces refuses GeoJSON of nodes whose places are unknown.
func (n *nodeColumns) checkPlaces(f *resultFlags) error {
	switch {
	case table.FormatOf(f.out) != table.GeoJSON || n.geographic() || n.nodes != nil && n.nodes.Shapes != nil && !n.planar():
		return nil
	case n.planar():
		return cli.Usagef("-o %s: GeoJSON has latitudes and longitudes, and the nodes have x and y of an unknown projection; give a node table "+
			"with columns lat and lon, or write CSV", f.out)
	case n.nodes == nil:
		return cli.Usagef("-o %s: the places of the nodes are not known; give --nodes FILE with columns lat and lon, or write CSV", f.out)
	}
	return cli.Usagef("-o %s: the node table has no columns lat and lon; add them, name them with --column lat=NAME --column lon=NAME, or "+
		"write CSV", f.out)
}

// head returns the columns that follow the node.
func (n *nodeColumns) head() []table.Column {
	var all []table.Column
	if n.nodes != nil && n.nodes.Name != nil {
		all = append(all, table.Column{Name: "label"})
	}
	switch {
	case n.geographic():
		all = append(all, table.Column{Name: "lat", Kind: table.Number}, table.Column{Name: "lon", Kind: table.Number})
	case n.planar():
		all = append(all, table.Column{Name: "x", Kind: table.Number}, table.Column{Name: "y", Kind: table.Number})
	}
	return all
}

// tail returns the columns that come last.
func (n *nodeColumns) tail() []table.Column {
	var all []table.Column
	for _, name := range n.names {
		all = append(all, table.Column{Name: name})
	}
	return all
}

// appendHead appends the cells of head for a node.
func (n *nodeColumns) appendHead(cells []table.Cell, node int) []table.Cell {
	if n.nodes != nil && n.nodes.Name != nil {
		cells = append(cells, table.TextCell(n.nodes.Name[node]))
	}
	switch {
	case n.geographic():
		cells = append(cells, table.NumberCell(n.nodes.Lat[node]), table.NumberCell(n.nodes.Lon[node]))
	case n.planar():
		cells = append(cells, table.NumberCell(n.nodes.X[node]), table.NumberCell(n.nodes.Y[node]))
	}
	return cells
}

// appendTail appends the cells of tail for a node.
func (n *nodeColumns) appendTail(cells []table.Cell, node int) []table.Cell {
	for _, c := range n.texts {
		cells = append(cells, table.TextCell(c.Cells[node]))
	}
	return cells
}

// geometry returns the place of a node as GeoJSON: the area or line that it came from, or
// a point; "" if it is unknown.
func (n *nodeColumns) geometry(node int) string {
	switch {
	case n.nodes == nil || n.planar():
		return ""
	case n.nodes.Shapes != nil && json.Valid([]byte(n.nodes.Shapes[node])):
		return n.nodes.Shapes[node]
	case !n.geographic():
		return ""
	}
	return table.Point(n.nodes.Lat[node], n.nodes.Lon[node])
}

// nodeInfo is what a row of JSON has of the node table.
type nodeInfo struct {
	Label string            `json:"label,omitempty"`
	Lat   *float64          `json:"lat,omitempty"`
	Lon   *float64          `json:"lon,omitempty"`
	X     *float64          `json:"x,omitempty"`
	Y     *float64          `json:"y,omitempty"`
	Kept  map[string]string `json:"kept,omitempty"` // columns of --keep, under their own names
}

// info returns what is known of a node.
func (n *nodeColumns) info(node int) (out nodeInfo) {
	if n.nodes == nil {
		return out
	}
	if n.nodes.Name != nil {
		out.Label = n.nodes.Name[node]
	}
	at := func(column []float64) *float64 {
		if v := column[node]; v == v { // not missing
			return &v
		}
		return nil
	}
	switch {
	case n.geographic():
		out.Lat, out.Lon = at(n.nodes.Lat), at(n.nodes.Lon)
	case n.planar():
		out.X, out.Y = at(n.nodes.X), at(n.nodes.Y)
	}
	for _, c := range n.texts {
		if out.Kept == nil {
			out.Kept = map[string]string{}
		}
		out.Kept[c.Name] = c.Cells[node]
	}
	return out
}

// tellPlaces notes how many of all nodes a map cannot show.
func (n *nodeColumns) tellPlaces(a *app, format table.Format, nodes int) {
	if format != table.GeoJSON {
		return
	}
	missing := 0
	for i := range nodes {
		if n.geometry(i) == "" {
			missing++
		}
	}
	if missing > 0 {
		a.Talk.Say("  note: %s without coordinates: their features have no geometry", plural.Count(missing, "nodes"))
	}
}

// writeTable writes rows in the format of the file that the flags name, CSV if it has
// none.
func (f *resultFlags) writeTable(w io.Writer, columns []table.Column, rows func(out table.Writer) error) error {
	format := table.FormatOf(f.out)
	if format == "" {
		format = table.CSV
	}
	return table.Compress(w, f.out, func(w io.Writer) error {
		buffered := bufio.NewWriterSize(w, 1<<16)
		out, err := table.New(buffered, format, columns)
		if err != nil {
			return err
		}
		if err := rows(out); err != nil {
			return err
		}
		if err := out.Close(); err != nil {
			return err
		}
		return buffered.Flush()
	})
}

// figures are columns of numbers that results give with eight significant digits.
func figures(names ...string) []table.Column {
	all := make([]table.Column, len(names))
	for k, name := range names {
		all[k] = table.Column{Name: name, Kind: table.Number, Digits: 8}
	}
	return all
}

// columnNames returns the names of columns.
func columnNames(columns []table.Column) []string {
	names := make([]string, len(columns))
	for k, c := range columns {
		names[k] = c.Name
	}
	return names
}
