package chart

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"grfgp/internal/plural"
)

// MapData is a graph in the plane with a value at each node.
type MapData struct {
	Title   string
	Unit    string              // above the colours; may be empty
	X, Y    []float64           // coordinates, in equal units; a node with NaN is not drawn
	Edges   iter.Seq2[int, int] // each edge once; nil draws none
	Values  []float64           // numbers, or with Classes indices of classes
	Classes []string            // names; nil: values are numbers
	Beside  []string            // classes of another map, which leaves the same room for its legend; nil: none
	Range   Range               // of the colours of numbers
	Ramp    Ramp                // the same
	Areas   [][]Outline         // of the nodes, in the units of X and Y, drawn in place of dots and edges; nil: none
	Marked  []int               // nodes with an outline
	Mark    string              // meaning of the outline
	Length  string              // unit of lengths, for a scale bar; "": none
	Lengths float64             // how many of them a unit of X and Y is
}

// Outline is a part of the area of a node: a ring, or a line. Rings around an area run
// counter-clockwise, and those around holes clockwise.
type Outline struct {
	Closed bool
	X, Y   []float64
}

const (
	mostEdges   = 20_000 // more would be a grey mass
	mostBorders = 2000   // areas with white borders between them; more are too small for these
	mapTallest  = 360.0
	barRoom     = 62.0  // to the right of the map, for the colours
	classRoom   = 136.0 // the same, for the names of classes
	classRow    = 16.0
	footRoom    = 26.0
	perPixel    = 10 // steps of places on the map
)

// view is a map on a sheet.
type view struct {
	MapData
	*sheet
	colors         []string // the last is for nodes without a value
	values         span     // from the first colour to the last but one
	shown          []int    // nodes that have a place, in an order that keeps neighbours together
	marked         []bool
	left, top      float64 // of the map
	wide, high     float64
	right, foot    float64 // where the legend begins, and the middle of the line below the map
	x0, y0, scale  float64 // where X and Y are at the left and lower edge, and pixels per unit
	radius, stroke float64 // of nodes and of their outlines
}

// Map draws nodes coloured by their values.
func Map(m MapData) *Picture {
	v := newView(m)
	var missing []string
	edges := 0
	if m.Edges != nil && m.Areas == nil {
		for range m.Edges {
			edges++
		}
	}
	// Whole numbers and one path per colour take a fraction of the bytes of an element per node.
	v.add(`<g transform="scale(%v)" `+roundEnds+` stroke-linejoin="round">`, 1.0/perPixel)
	switch {
	case edges > mostEdges:
		missing = append(missing, plural.Count(edges, "edges"))
	case edges > 0:
		v.drawEdges()
	}
	v.drawAreas()
	v.drawNodes()
	v.add(`</g>`)
	about := "A map of " + plural.Count(len(v.shown), "nodes")
	if m.Classes != nil {
		v.drawClasses()
		about += ", coloured by class: " + strings.Join(m.Classes[:min(len(m.Classes), len(v.colors)-1)], ", ")
	} else {
		v.drawBar()
		about += strings.TrimSpace(fmt.Sprintf(", coloured from %.4g to %.4g %s", v.values.lo, v.values.hi, m.Unit))
	}
	v.drawMark()
	v.drawLength()
	if lost := len(m.X) - len(v.shown); lost > 0 {
		missing = append(missing, plural.Count(lost, "nodes")+" without coordinates")
	}
	if len(m.Marked) > 0 {
		about += fmt.Sprintf("; %d are outlined: %s", len(m.Marked), m.Mark)
	}
	note := ""
	if len(missing) > 0 {
		note = "not drawn: " + strings.Join(missing, ", ")
	}
	return v.picture(m.Title, about+".", note)
}

func newView(m MapData) *view {
	v := &view{MapData: m, marked: make([]bool, len(m.X)), left: margin, top: headRoom,
		values: span{m.Range.Low, m.Range.High}.widened()}
	for _, i := range m.Marked {
		v.marked[i] = true
	}
	xs, ys := empty, empty
	for i, x := range m.X {
		if !(math.Abs(x) < farthest && math.Abs(m.Y[i]) < farthest) {
			continue
		}
		v.shown = append(v.shown, i)
		xs, ys = xs.with(x), ys.with(m.Y[i])
		for _, part := range v.area(i) {
			for k := range part.X {
				xs, ys = xs.with(part.X[k]), ys.with(part.Y[k])
			}
		}
	}
	if len(v.shown) == 0 {
		xs, ys = span{0, 1}, span{0, 1}
	}
	// A map that is a line still gets a strip of paper.
	w, h := xs.hi-xs.lo, ys.hi-ys.lo
	longest := max(w, h)
	if longest < 1/farthest { // all at one place
		longest = 1
	}
	w, h = max(w, longest/1000), max(h, longest/1000)
	side, least := barRoom, 120.0
	if names := max(len(m.Classes), len(m.Beside)); names > 0 {
		side, least = classRoom, max(least, classRow*float64(min(names, len(Classes)))+10)
	}
	v.right, v.wide = halfWide-side+8, halfWide-side-margin
	v.radius = min(4.5, max(0.7, 0.25*math.Sqrt(v.wide*min(v.wide*h/w, mapTallest)/float64(1+len(v.shown)))))
	v.stroke = min(1.1, max(0.5, v.radius/3))
	around := 2 * (1.1*v.radius + v.stroke + 1)
	v.scale = min((v.wide-around)/w, (mapTallest-around)/h)
	v.high = max(least, h*v.scale+around)
	v.x0, v.y0 = (xs.lo+xs.hi)/2-v.wide/2/v.scale, (ys.lo+ys.hi)/2-v.high/2/v.scale
	v.sheet = &sheet{width: halfWide, height: headRoom + v.high + footRoom}
	v.foot = v.height - 12
	if v.colors = Classes; m.Classes == nil {
		v.colors = m.Ramp.cut()
	}
	// Strips from left to right: steps from node to node are short, and so are the numbers of paths.
	const strip = 6 * perPixel
	type place struct{ strip, x, y int }
	places := make([]place, len(m.X))
	for _, i := range v.shown {
		x, y := v.at(m.X[i], m.Y[i])
		places[i] = place{y / strip, x, y}
	}
	slices.SortStableFunc(v.shown, func(i, j int) int {
		a, b := places[i], places[j]
		return cmp.Or(a.strip-b.strip, a.x-b.x, a.y-b.y)
	})
	return v
}

// area returns the outlines of a node.
func (v *view) area(i int) []Outline {
	if v.Areas == nil {
		return nil
	}
	return v.Areas[i]
}

// at returns a place on the map in steps.
func (v *view) at(x, y float64) (int, int) {
	return int(math.Round(perPixel * (v.left + (x-v.x0)*v.scale))), int(math.Round(perPixel * (v.top + v.high - (y-v.y0)*v.scale)))
}

// color returns the number of the colour of a node.
func (v *view) color(i int) int {
	value, last := v.Values[i], len(v.colors)-1
	switch {
	case math.IsNaN(value):
		return last
	case v.Classes != nil && value >= 0:
		return int(min(value, float64(last)))
	case v.Classes != nil:
		return last
	}
	return int(min(shades-1, max(0, shades*v.values.share(value))))
}

func (v *view) drawEdges() {
	placed := make([]bool, len(v.X))
	for _, i := range v.shown {
		placed[i] = true
	}
	var p pen
	for i, j := range v.Edges {
		if i != j && placed[i] && placed[j] {
			p.move(v.at(v.X[i], v.Y[i]))
			p.line(v.at(v.X[j], v.Y[j]))
		}
	}
	v.stroked(p, hair, min(0.9, max(0.25, v.radius/3.5)))
}

// stroked adds a path in a colour, so many pixels wide.
func (v *view) stroked(p pen, color string, wide float64) {
	if len(p.path) > 0 {
		v.add(`<path d="%v" stroke="%v" stroke-width="%v"/>`, string(p.path), color, perPixel*wide)
	}
}

// drawAreas fills the areas of nodes, and draws thin borders.
func (v *view) drawAreas() {
	fills, lines, areas := make([]pen, len(v.colors)), make([]pen, len(v.colors)), 0
	for _, i := range v.shown {
		for _, part := range v.area(i) {
			if part.Closed {
				fills[v.color(i)].outline(v, part)
				areas++
			} else {
				lines[v.color(i)].outline(v, part)
			}
		}
	}
	for k, p := range fills {
		border := "#ffffff"
		if areas > mostBorders {
			border = v.colors[k]
		}
		if len(p.path) > 0 {
			v.add(`<path d="%v" fill="%v" stroke="%v" stroke-width="3"/>`, string(p.path), v.colors[k], border)
		}
	}
	for k, p := range lines {
		v.stroked(p, v.colors[k], max(1.2, v.radius/2))
	}
}

// drawNodes draws dots, and those of marked nodes above a larger dark one.
func (v *view) drawNodes() {
	plain, marked, within := make([]pen, len(v.colors)), make([]pen, len(v.colors)), make([]pen, len(v.colors))
	var dark, small pen
	for _, i := range v.shown {
		k := v.color(i)
		x, y := v.at(v.X[i], v.Y[i])
		switch hasArea := len(v.area(i)) > 0; {
		case hasArea && v.marked[i]: // a point within it
			small.dot(x, y)
			within[k].dot(x, y)
		case hasArea:
		case v.marked[i]:
			dark.dot(x, y)
			marked[k].dot(x, y)
		default:
			plain[k].dot(x, y)
		}
	}
	all := func(dots []pen, radius float64) {
		for k, p := range dots {
			v.stroked(p, v.colors[k], 2*radius)
		}
	}
	all(plain, v.radius)
	v.stroked(dark, ink, 2*(1.1*v.radius+v.stroke))
	all(marked, 1.1*v.radius)
	v.stroked(small, ink, 3)
	all(within, 0.9)
}

// drawBar draws the colours with numbers.
func (v *view) drawBar() {
	const thick = 11.0
	high := min(v.high-24, 250)
	bottom := v.top + (v.high+high)/2
	for k, color := range v.colors[:shades] { // up to the top each: no gaps shine through
		share := high * float64(k) / shades
		v.add(`<path d="M%v %vh%vV%vh-%vz" fill="%v"/>`, v.right, bottom-share, thick, bottom-high, thick, color)
	}
	of := v.values
	ticks, near := roundTicks(of), 0.08
	if v.Range.Below > 0 { // the bottom says that there is more
		ticks = slices.DeleteFunc(ticks, func(t tick) bool { return of.share(t.at) < near })
		ticks = append(ticks, tick{of.lo, "≤ " + threeDigits(of.lo)})
	}
	if v.Range.Above > 0 {
		ticks = slices.DeleteFunc(ticks, func(t tick) bool { return of.share(t.at) > 1-near })
		ticks = append(ticks, tick{of.hi, "≥ " + threeDigits(of.hi)})
	}
	for _, t := range ticks {
		if y := bottom - high*of.share(t.at); finite(y) {
			v.add(`<path d="M%v %vh4" stroke="`+soft+`"/>`, v.right+thick, y)
			v.add(`<text x="%v" y="%v" `+middle+`>%v</text>`, v.right+thick+6, y, t.label)
		}
	}
	unit := fitted(v.Unit, letters, v.width/2)
	v.add(`<text x="%v" y="%v" fill="`+soft+`">%v</text>`, min(v.right, v.width-4-width(unit, letters)), bottom-high-9, unit)
}

// threeDigits writes a number briefly.
func threeDigits(x float64) string {
	return strings.Replace(strconv.FormatFloat(x, 'g', 3, 64), "-", "−", 1)
}

// drawClasses draws the legend of classes.
func (v *view) drawClasses() {
	names := v.Classes
	if last := len(v.colors) - 1; len(names) > last {
		names = append(slices.Clone(names[:last]), "others")
	}
	for k, name := range names {
		y := v.top + 10 + classRow*float64(k)
		v.add(`<circle cx="%v" cy="%v" r="4.5" fill="%v"/>`, v.right+5, y, v.colors[k])
		v.add(`<text x="%v" y="%v" `+middle+`>%v</text>`, v.right+14, y, fitted(name, letters, v.width-margin/2-v.right-14))
	}
}

// drawMark draws the legend of outlines below the map.
func (v *view) drawMark() {
	if len(v.Marked) > 0 && v.Mark != "" {
		v.add(`<circle cx="%v" cy="%v" r="3.5" fill="none" stroke="`+ink+`"/>`, v.left+5, v.foot)
		v.add(`<text x="%v" y="%v" fill="`+soft+`" `+middle+`>%v</text>`, v.left+14, v.foot, fitted(v.Mark, letters, v.wide/2))
	}
}

// drawLength draws a scale bar of a round length at the lower right.
func (v *view) drawLength() {
	if v.Length == "" {
		return
	}
	length := roundBelow(v.wide / 4 / v.scale * v.Lengths)
	right := v.left + v.wide
	left := right - length/v.Lengths*v.scale
	v.add(`<path d="M%v %vv6m0-3H%vm0-3v6" fill="none" stroke="`+ink+`"/>`, left, v.foot-3, right)
	v.add(`<text x="%v" y="%v" text-anchor="end" `+middle+`>%v</text>`, left-6, v.foot, strconv.FormatFloat(length, 'f', -1, 64)+" "+v.Length)
}

// roundBelow returns the largest number of the form 1, 2 or 5 times a power of ten that is
// at most v.
func roundBelow(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{5, 2} {
		if m*power <= v {
			return m * power
		}
	}
	return power
}
