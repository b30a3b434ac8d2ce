package plot

import (
	"fmt"
	"image"
	"image/color"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// MapData is a graph in the plane with a value at each node.
type MapData struct {
	Title    string
	Unit     string              // beside the colours; may be empty
	X, Y     []float64           // coordinates, in equal units; a node with NaN is not drawn
	Edges    iter.Seq2[int, int] // each edge once; nil draws none
	Values   []float64           // numbers, or with Classes indices of classes
	Classes  []string            // names; nil: values are numbers
	Looks    []Look              // styles of classes, later ones on top; nil: the default
	Like     []float64           // further values for the colour scale, for maps side by side
	Marked   []int               // nodes with an outline
	Mark     string              // meaning of the outline
	Diamond  []int               // nodes drawn as diamonds, up to MaxNodes
	Other    string              // meaning of the diamonds
	Length   string              // unit of lengths, for a scale bar; "": none
	Lengths  float64             // how many of them a unit of X and Y is; 0: one
	Frame    *Frame              // area shown by another map; nil: none
	Separate bool                // overlapping nodes are moved apart, if there are at most 1,000
	Range    *Range              // of the colours; nil: from the least to the largest value
	Ramp     Ramp                // nil: Values
	Areas    [][]Outline         // of the nodes, in the units of X and Y, drawn in place of dots and edges; nil: none
	Beside   []string            // classes of another map, which leaves the same room for its key; nil: none
}

// Frame is a named area of a map.
type Frame struct {
	Name                   string
	Left, Right, Low, High float64
}

// Limits of a map. Beyond MaxNodes, nodes become dots of an image without edges.
const (
	MaxNodes = 20_000
	MaxEdges = 60_000
)

const (
	mapWidth   = 480 // points, of the whole picture
	mapTallest = 420 // of the map in it
	barRoom    = 76  // to the right of the map, for the colours
	classRoom  = 130 // the same, for the names of classes
	headRoom   = 40
	footRoom   = 26
)

// farthest bounds coordinates, whose squares would overflow beyond.
const farthest = 1e150

// Map draws nodes coloured by their values.
func Map(m MapData) *Picture {
	v := newView(m)
	p := &Picture{
		title: clean(m.Title), note: v.note,
		width: mapWidth, height: v.height + headRoom + footRoom,
	}
	p.draw = func(c draw.Canvas) {
		c.FillText(letters(bigText, ink, true), vg.Point{X: margin, Y: c.Max.Y - 20}, p.title)
		v.drawGraph(c)
		v.drawFrame(c)
		v.drawLength(c)
		if m.Classes != nil {
			v.drawClasses(c)
		} else {
			v.drawBar(c)
		}
		v.drawMarkKey(c)
	}
	return p
}

// view maps a graph to the canvas.
type view struct {
	MapData
	colors        scale
	beneath       bool  // there are values below the colours
	clipped       bool  // there are values above the colours
	shown         []int // nodes that have a place
	marked        map[int]bool
	diamond       map[int]bool
	moved         map[int]vg.Point // nodes that are not where they should be
	width, height vg.Length
	left, bottom  vg.Length // of the map
	perUnit       float64   // points per unit of X and Y
	x0, y0        float64   // where X and Y are at left and bottom
	radius        vg.Length
	side          vg.Length // to the right of the map, for colours or names
	everyEdge     int       // 1: all are drawn; 0: none
	note          string
}

func newView(m MapData) *view {
	v := &view{MapData: m, colors: scaleOf(slices.Concat(m.Values, m.Like)), marked: set(m.Marked), diamond: set(m.Diamond), left: margin,
		bottom: footRoom, side: barRoom}
	if r := m.Range; r != nil {
		v.colors, v.beneath, v.clipped = scale{r.Low, r.High}, r.Below > 0, r.Above > 0
	}
	xs, ys := scale{math.Inf(1), math.Inf(-1)}, scale{math.Inf(1), math.Inf(-1)}
	for i, x := range m.X {
		y := m.Y[i]
		if !(math.Abs(x) < farthest && math.Abs(y) < farthest) {
			continue
		}
		v.shown = append(v.shown, i)
		xs, ys = scale{min(xs.lo, x), max(xs.hi, x)}, scale{min(ys.lo, y), max(ys.hi, y)}
		if v.hasArea(i) {
			for _, part := range m.Areas[i] {
				for k, x := range part.X {
					xs, ys = scale{min(xs.lo, x), max(xs.hi, x)}, scale{min(ys.lo, part.Y[k]), max(ys.hi, part.Y[k])}
				}
			}
		}
	}
	if len(v.shown) == 0 {
		xs, ys = scale{0, 1}, scale{0, 1}
	}
	// A map that is a line still gets a strip of paper.
	w, h := xs.hi-xs.lo, ys.hi-ys.lo
	longest := max(w, h)
	if longest < 1/farthest { // all at one place
		longest = 1
	}
	w, h = max(w, longest/1000), max(h, longest/1000)
	least := 120.0
	if names := max(len(m.Classes), len(m.Beside)); names > 0 {
		v.side = classRoom
		least = max(least, float64(classRow*min(names, MaxColors+1)+10))
	}
	room := float64(mapWidth - v.side - 2*margin)
	v.radius = vg.Length(min(5, max(0.8, 0.25*math.Sqrt(room*min(room*h/w, mapTallest)/float64(1+len(v.shown))))))
	inner := room - 2*float64(v.radius) - 4
	v.perUnit = min(inner/w, (mapTallest-2*float64(v.radius)-4)/h)
	v.width = vg.Length(room)
	v.height = vg.Length(max(least, h*v.perUnit+2*float64(v.radius)+4))
	v.x0 = (xs.lo+xs.hi)/2 - room/2/v.perUnit
	v.y0 = (ys.lo+ys.hi)/2 - float64(v.height)/2/v.perUnit
	v.thin()
	if m.Separate {
		v.moveApart()
	}
	return v
}

func set(nodes []int) map[int]bool {
	all := map[int]bool{}
	for _, i := range nodes {
		all[i] = true
	}
	return all
}

// thin decides which edges are drawn, and notes what is omitted.
func (v *view) thin() {
	edges := 0
	if v.Edges != nil {
		for range v.Edges {
			edges++
		}
	}
	switch {
	case edges == 0 || v.Areas != nil:
	case len(v.shown) > MaxNodes:
		v.say("%d nodes are drawn as dots; the %d edges are not drawn", len(v.shown), edges)
	default:
		v.everyEdge = (edges + MaxEdges - 1) / MaxEdges
		if v.everyEdge > 1 {
			v.say("of %d edges, one in %d is drawn", edges, v.everyEdge)
		}
	}
	if lost := len(v.X) - len(v.shown); lost > 0 {
		v.say("%d nodes without coordinates are not drawn", lost)
	}
}

func (v *view) say(format string, args ...any) {
	if v.note != "" {
		v.note += "; "
	}
	v.note += fmt.Sprintf(format, args...)
}

// at returns the position of a node, rounded to a tenth of a point to keep files small.
func (v *view) at(i int) vg.Point {
	if p, ok := v.moved[i]; ok {
		return p
	}
	return v.point(v.X[i], v.Y[i])
}

func (v *view) point(x, y float64) vg.Point {
	tenth := func(x float64) vg.Length { return vg.Length(math.Round(10*x) / 10) }
	return vg.Point{X: v.left + tenth((x-v.x0)*v.perUnit), Y: v.bottom + tenth((y-v.y0)*v.perUnit)}
}

func (v *view) drawGraph(c draw.Canvas) {
	if len(v.shown) > MaxNodes && v.Areas == nil {
		v.drawDots(c)
		return
	}
	v.drawEdges(c)
	v.drawAreas(c)
	// One path per colour: a fraction of the size of a path per node.
	var plain, circled, diamonds [shades + 1]vg.Path
	for _, i := range v.shown {
		k := v.shade(i)
		switch {
		case v.hasArea(i) && v.marked[i]: // a point within it
			circled[k+1] = circle(circled[k+1], v.at(i), 1)
		case v.hasArea(i):
		case v.diamond[i]:
			diamonds[k+1] = diamond(diamonds[k+1], v.at(i), v.markRadius())
		case v.marked[i]:
			circled[k+1] = circle(circled[k+1], v.at(i), v.markRadius())
		default:
			plain[k+1] = circle(plain[k+1], v.at(i), v.radius*lookSizes[v.look(k)])
		}
	}
	for k, path := range plain {
		if len(path) > 0 {
			c.SetColor(v.color(k - 1))
			c.Fill(path)
		}
	}
	for _, outlined := range [][shades + 1]vg.Path{circled, diamonds} {
		for k, path := range outlined {
			if len(path) > 0 {
				c.SetColor(v.color(k - 1))
				c.Fill(path)
				c.SetLineStyle(draw.LineStyle{Color: ink, Width: v.markWidth()})
				c.Stroke(path)
			}
		}
	}
}

func (v *view) markRadius() vg.Length { return v.radius*1.15 + 0.4 }
func (v *view) markWidth() vg.Length  { return min(1.2, max(0.6, v.radius/3)) }

func circle(path vg.Path, at vg.Point, radius vg.Length) vg.Path {
	path.Move(vg.Point{X: at.X + radius, Y: at.Y})
	path.Arc(at, radius, 0, 2*math.Pi)
	path.Close()
	return path
}

// diamond returns a diamond with the area of a circle of the given radius.
func diamond(path vg.Path, at vg.Point, radius vg.Length) vg.Path {
	r := 1.3 * radius
	path.Move(vg.Point{X: at.X + r, Y: at.Y})
	path.Line(vg.Point{X: at.X, Y: at.Y + r})
	path.Line(vg.Point{X: at.X - r, Y: at.Y})
	path.Line(vg.Point{X: at.X, Y: at.Y - r})
	path.Close()
	return path
}

func (v *view) drawEdges(c draw.Canvas) {
	if v.everyEdge == 0 {
		return
	}
	placed := make([]bool, len(v.X))
	for _, i := range v.shown {
		placed[i] = true
	}
	var path vg.Path
	k := 0
	for i, j := range v.Edges {
		if k++; k%v.everyEdge == 0 && i != j && placed[i] && placed[j] {
			path.Move(v.at(i))
			path.Line(v.at(j))
		}
	}
	if len(path) == 0 {
		return
	}
	style := hairs
	style.Width = min(0.9, max(0.25, v.radius/3.5))
	if v.Looks != nil { // few nodes matter
		style.Color = band
	}
	c.SetLineStyle(style)
	c.Stroke(path)
}

// drawDots draws nodes into an image, whose size does not grow with their number.
func (v *view) drawDots(c draw.Canvas) {
	const perPoint = 3 // pixels
	img := image.NewNRGBA(image.Rect(0, 0, int(math.Ceil(float64(v.width)*perPoint)), int(math.Ceil(float64(v.height)*perPoint))))
	disc := func(i int, radius float64, fill color.NRGBA) {
		at := v.at(i)
		x, y := float64(at.X-v.left)*perPoint, float64(img.Rect.Dy())-float64(at.Y-v.bottom)*perPoint
		for py := int(y - radius); py <= int(y+radius); py++ {
			for px := int(x - radius); px <= int(x+radius); px++ {
				dx, dy := float64(px)+0.5-x, float64(py)+0.5-y
				if dx*dx+dy*dy <= radius*radius && (image.Point{X: px, Y: py}).In(img.Rect) {
					img.SetNRGBA(px, py, fill)
				}
			}
		}
	}
	radius := float64(v.radius) * perPoint
	for _, i := range v.shown {
		disc(i, radius, v.color(v.shade(i)))
	}
	for _, i := range v.shown {
		if v.marked[i] {
			disc(i, radius+2, ink)
			disc(i, radius+0.8, v.color(v.shade(i)))
		}
	}
	size := vg.Point{X: vg.Length(img.Rect.Dx()) / perPoint, Y: vg.Length(img.Rect.Dy()) / perPoint}
	low := vg.Point{X: v.left, Y: v.bottom}
	c.DrawImage(vg.Rectangle{Min: low, Max: low.Add(size)}, img)
}

// drawBar draws the colour bar.
func (v *view) drawBar(c draw.Canvas) {
	const wide = 12
	left := c.Max.X - v.side + 8
	height := min(v.height-20, 260)
	bottom := v.bottom + (v.height-height)/2
	for k := range shades {
		// Up to the top each: no gaps shine through.
		low := bottom + height*vg.Length(k)/shades
		c.FillPolygon(v.ramp().shade(k), []vg.Point{{X: left, Y: low}, {X: left + wide, Y: low}, {X: left + wide, Y: bottom + height},
			{X: left, Y: bottom + height}})
	}
	style := letters(lowText, ink, false)
	style.YAlign = text.YCenter
	ticks := (roundTicks{}).Ticks(v.colors.lo, v.colors.hi)
	if v.beneath { // the bottom says that there is more
		near := v.colors.lo + 0.08*(v.colors.hi-v.colors.lo)
		ticks = slices.DeleteFunc(ticks, func(t gonum.Tick) bool { return t.Value < near })
		ticks = append(ticks, gonum.Tick{Value: v.colors.lo, Label: "≤ " +
			strings.Replace(strconv.FormatFloat(v.colors.lo, 'g', 3, 64), "-", "−", 1)})
	}
	if v.clipped { // the top says that there is more
		near := v.colors.hi - 0.08*(v.colors.hi-v.colors.lo)
		ticks = slices.DeleteFunc(ticks, func(t gonum.Tick) bool { return t.Value > near })
		ticks = append(ticks, gonum.Tick{Value: v.colors.hi, Label: "≥ " + strconv.FormatFloat(v.colors.hi, 'g', 3, 64)})
	}
	for _, t := range ticks {
		share := (t.Value - v.colors.lo) / (v.colors.hi - v.colors.lo)
		if !(share >= 0 && share <= 1) {
			continue
		}
		y := bottom + height*vg.Length(share)
		c.StrokeLine2(draw.LineStyle{Color: soft, Width: 0.7}, left+wide, y, left+wide+4, y)
		c.FillText(style, vg.Point{X: left + wide + 7, Y: y}, t.Label)
	}
	if unit := clean(v.Unit); unit != "" {
		style := letters(lowText, soft, false)
		x := min(left, c.Max.X-margin-style.Width(unit))
		c.FillText(style, vg.Point{X: x, Y: bottom + height + 10}, unit)
	}
}

// ramp returns the colours of numbers.
func (v *view) ramp() Ramp {
	if v.Ramp != nil {
		return v.Ramp
	}
	return Values
}

// drawMarkKey draws the legend of outlines below the map.
func (v *view) drawMarkKey(c draw.Canvas) {
	at := vg.Point{X: v.left + 6, Y: 12}
	style := letters(lowText, soft, false)
	style.YAlign = text.YCenter
	say := func(sign vg.Path, what string) {
		c.SetLineStyle(draw.LineStyle{Color: ink, Width: 1})
		c.Stroke(sign)
		c.FillText(style, vg.Point{X: at.X + 9, Y: at.Y}, clean(what))
		at.X += 9 + style.Width(clean(what)) + 18
	}
	if len(v.marked) > 0 && v.Mark != "" {
		say(circle(nil, at, 3.5), v.Mark)
	}
	if len(v.diamond) > 0 && v.Other != "" && len(v.shown) <= MaxNodes {
		say(diamond(nil, at, 3.5), v.Other)
	}
}
