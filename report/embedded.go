package report

import (
	"embed"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/chart"
)

//go:embed script/*.js
var scriptFiles embed.FS

// script is that of the page: its files in the order in which they need each other.
var script = func() string {
	var b strings.Builder
	b.WriteString("\"use strict\";\n(() => {\n")
	for _, name := range []string{"columns", "view", "picture", "maps", "table", "start"} {
		text, err := scriptFiles.ReadFile("script/" + name + ".js")
		if err != nil {
			panic(fmt.Sprintf("report: the script is embedded: %v", err))
		}
		b.Write(text)
	}
	b.WriteString("})();\n")
	return b.String()
}()

// embedded is the data that the script of the page reads: a row per node, in the order of the file.
// Numbers are little-endian in base64.
type embedded struct {
	IDs        []string   `json:"ids"`
	Labels     []string   `json:"labels,omitempty"`
	X          string     `json:"x"` // 32-bit floats
	Y          string     `json:"y"`
	Kilometres float64    `json:"kilometres"` // of a unit of x; 0: not known
	Edges      string     `json:"edges"`      // see edgeBytes
	Shapes     string     `json:"shapes"`     // see shapeBytes
	Grid       int        `json:"grid"`
	Decimals   int        `json:"decimals"` // of numbers; negative: powers of ten
	Unit       string     `json:"unit"`
	Classes    []string   `json:"classes,omitempty"`
	Others     string     `json:"others,omitempty"` // name of classes without a colour of their own
	Marked     string     `json:"marked"`           // rows, as whole numbers
	Mark       string     `json:"mark"`             // what marks mean
	Columns    []column   `json:"columns"`
	Maps       []mapScale `json:"maps"`
	File       string     `json:"file"` // name of the table when saved
}

// column is a column of the table: data, or, of a plain Gaussian prediction, so many standard
// deviations from the mean.
type column struct {
	Key   string  `json:"key"`   // in files
	Name  string  `json:"name"`  // in the table
	About string  `json:"about"` // beside a node
	Kind  string  `json:"kind"`  // number, share (three decimals) or class (16-bit numbers)
	Data  *string `json:"data,omitempty"`
	Rows  *string `json:"rows,omitempty"` // of the data, as gaps between them, if most rows have none
	SDs   float64 `json:"sds,omitempty"`
	Noise float64 `json:"noise,omitempty"` // standard deviation that is added
}

// mapScale is a map of a column and its colours.
type mapScale struct {
	Column  string   `json:"column"`
	Title   string   `json:"title"`
	Unit    string   `json:"unit"`
	Low     float64  `json:"low"`
	High    float64  `json:"high"`
	Ends    []string `json:"ends"`   // texts at both ends of the scale
	Beyond  string   `json:"beyond"` // which nodes are outside of it; empty: none
	Stops   []string `json:"stops"`
	Classes bool     `json:"classes,omitempty"`
}

// newMapScale describes a range of colours.
func newMapScale(column, title, unit string, r chart.Range, ramp chart.Ramp, n numbers) mapScale {
	m := mapScale{Column: column, Title: title, Unit: unit, Low: r.Low, High: r.High, Stops: ramp, Beyond: beyond(r, n)}
	m.Ends = []string{n.text(r.Low), n.text(r.High)}
	if r.Below > 0 {
		m.Ends[0] = "≤ " + m.Ends[0]
	}
	if r.Above > 0 {
		m.Ends[1] = "≥ " + m.Ends[1]
	}
	return m
}

// beyond says which nodes are outside of the colours; "" if none is.
func beyond(r chart.Range, n numbers) string {
	var parts []string
	if r.Below > 0 {
		parts = append(parts, fmt.Sprintf("%s below, down to %s", count(r.Below, "nodes"), n.text(r.Min)))
	}
	if r.Above > 0 {
		parts = append(parts, fmt.Sprintf("%s above, up to %s", count(r.Above, "nodes"), n.text(r.Max)))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Outside the colour scale: " + strings.Join(parts, "; ") + "."
}

// rows is the order of the rows of a page: row k is node order[k].
type rows struct {
	order []int
	of    []int // row of each node
}

func newRows(g *graph.Graph) rows {
	r := rows{g.InputOrder(), make([]int, g.Len())}
	for k, i := range r.order {
		r.of[i] = k
	}
	return r
}

// cell is node i in a table: its row in the data of the page, its id and, if it has one, its name in the node table.
func (r rows) cell(net *graphio.Network, i int) markup {
	m := `<span data-row="` + text(strconv.Itoa(r.of[i])) + `">` + isolated(net.Graph.IDs().At(i)) + `</span>`
	if nodes := net.Nodes; nodes != nil && nodes.Name != nil && nodes.Name[i] != "" {
		m += ` <span class="soft">` + isolated(nodes.Name[i]) + `</span>`
	}
	return m
}

// floats encodes values of nodes as 32-bit floats.
func (r rows) floats(values []float64) string {
	b := make([]byte, 0, 4*len(r.order))
	for _, i := range r.order {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(values[i])))
	}
	return base64.StdEncoding.EncodeToString(b)
}

// column returns a column of values of nodes.
func (r rows) column(key, name, about, kind string, values []float64) column {
	text := r.floats(values)
	return column{Key: key, Name: name, About: about, Kind: kind, Data: &text}
}

// sparse returns a column of values of nodes that most nodes do not have: they are NaN.
func (r rows) sparse(key, name, about, kind string, values []float64) column {
	var data, gaps []byte
	last := 0
	for k, i := range r.order {
		if !math.IsNaN(values[i]) {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(values[i])))
			gaps = binary.AppendUvarint(gaps, uint64(k-last))
			last = k
		}
	}
	text, where := base64.StdEncoding.EncodeToString(data), base64.StdEncoding.EncodeToString(gaps)
	return column{Key: key, Name: name, About: about, Kind: kind, Data: &text, Rows: &where}
}

// classes returns a column of classes of nodes.
func (r rows) classes(key, name, about string, class []int) column {
	b := make([]byte, 0, 2*len(r.order))
	for _, i := range r.order {
		b = binary.LittleEndian.AppendUint16(b, uint16(class[i]))
	}
	text := base64.StdEncoding.EncodeToString(b)
	return column{Key: key, Name: name, About: about, Kind: "class", Data: &text}
}

// whole encodes the rows of some nodes, sorted.
func (r rows) whole(nodes []int) string {
	some := make([]int, len(nodes))
	for k, i := range nodes {
		some[k] = r.of[i]
	}
	slices.Sort(some)
	var b []byte
	for _, k := range slices.Compact(some) {
		b = binary.AppendUvarint(b, uint64(k))
	}
	return base64.StdEncoding.EncodeToString(b)
}

// mostEdges is the number of edges that a page holds at most, some 3 bytes each. More could not be
// told apart on a map.
const mostEdges = 300_000

// edgeBytes encodes the edges: for every row the number of its neighbours in later rows, and the
// gaps between these. It is empty if there are too many edges.
func (r rows) edgeBytes(g *graph.Graph) string {
	if g.Edges() > mostEdges {
		return ""
	}
	var b []byte
	var later []int
	for k, i := range r.order {
		cols, _ := g.Adjacency().Row(i)
		later = later[:0]
		for _, j := range cols {
			if to := r.of[j]; to > k {
				later = append(later, to)
			}
		}
		slices.Sort(later)
		b = binary.AppendUvarint(b, uint64(len(later)))
		at := k
		for _, to := range later {
			b = binary.AppendUvarint(b, uint64(to-at))
			at = to
		}
	}
	return base64.StdEncoding.EncodeToString(b)
}

// shapeBytes encodes areas: for every row the number of its parts; for each part twice the number
// of its points, and one more if it is closed; and the points as steps on the grid, each from the
// point before, also in the part before.
func (r rows) shapeBytes(p *places) string {
	if p.areas == nil {
		return ""
	}
	var b []byte
	for _, i := range r.order {
		b = binary.AppendUvarint(b, uint64(len(p.areas[i])))
		var x, y int64
		for _, o := range p.areas[i] {
			size := 2 * uint64(len(o.X))
			if o.Closed {
				size++
			}
			b = binary.AppendUvarint(b, size)
			for k := range o.X {
				toX, toY := int64(math.Round(o.X[k]*float64(p.grid))), int64(math.Round(o.Y[k]*float64(p.grid)))
				b = binary.AppendVarint(b, toX-x)
				b = binary.AppendVarint(b, toY-y)
				x, y = toX, toY
			}
		}
	}
	return base64.StdEncoding.EncodeToString(b)
}
