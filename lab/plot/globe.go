package plot

import (
	"image"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// GlobeData is a value at each node of a grid of latitude and longitude: rows from the
// north pole to the south pole, columns eastward from longitude 0.
type GlobeData struct {
	Title      string
	Unit       string // beside the colours; may be empty
	Rows, Cols int
	Values     []float64
	Like       []float64 // further values that the colours span
	Marked     []int     // nodes with a dot
	Mark       string    // what the dot says
	Most       float64   // what is higher has the colour of Most; 0: all have their own
}

const (
	globeRadius = 88 // points
	globeTilt   = 20 // degrees of latitude in the middle of the first half
)

// Globe draws two hemispheres in orthographic projection: one around a point on the
// meridian of Greenwich, and the opposite one.
func Globe(g GlobeData) *Picture {
	const gap = 10
	v := &view{MapData: MapData{Unit: g.Unit}, colors: scaleOf(slices.Concat(g.Values, g.Like)), left: margin, bottom: footRoom,
		height: 2 * globeRadius, side: barRoom}
	if g.Most != 0 && g.Most > v.colors.lo && g.Most < v.colors.hi {
		v.colors.hi, v.clipped = g.Most, true
	}
	p := &Picture{title: clean(g.Title), width: 2*margin + 4*globeRadius + gap + barRoom, height: v.height + headRoom + footRoom}
	p.draw = func(c draw.Canvas) {
		c.FillText(letters(midText, ink, true), vg.Point{X: margin, Y: c.Max.Y - 22}, p.title)
		for half := range 2 {
			h := hemisphere{vg.Point{X: margin + globeRadius + vg.Length(half)*(2*globeRadius+gap), Y: v.bottom + globeRadius}, half == 1}
			corner := vg.Point{X: globeRadius, Y: globeRadius}
			c.DrawImage(vg.Rectangle{Min: h.middle.Sub(corner), Max: h.middle.Add(corner)}, g.image(h, v.colors))
			h.grid(c)
			var dots vg.Path
			for _, i := range g.Marked {
				if at, ok := h.place(g.node(i)); ok {
					dots = circle(dots, at, 0.8)
				}
			}
			if len(dots) > 0 {
				c.SetColor(ink)
				c.Fill(dots)
			}
		}
		v.drawBar(c)
		if len(g.Marked) > 0 && g.Mark != "" {
			c.SetColor(ink)
			c.Fill(circle(nil, vg.Point{X: v.left + 4, Y: 12}, 1.4))
			c.FillText(letters(lowText, soft, false), vg.Point{X: v.left + 11, Y: 9}, clean(g.Mark))
		}
	}
	return p
}

// node returns the latitude and longitude of a node.
func (g GlobeData) node(i int) (lat, lon float64) {
	return 90 - 180*float64(i/g.Cols)/float64(g.Rows-1), 360 * float64(i%g.Cols) / float64(g.Cols)
}

// hemisphere is one half of the globe: around latitude globeTilt on the meridian of
// Greenwich, or around its antipode.
type hemisphere struct {
	middle vg.Point
	behind bool
}

// place returns the position of a point on the disc; false if it is in the other half. A
// point is always in exactly one half: for the other one, only signs change.
func (h hemisphere) place(lat, lon float64) (vg.Point, bool) {
	sinLat, cosLat := math.Sincos(lat * math.Pi / 180)
	sinLon, cosLon := math.Sincos(lon * math.Pi / 180)
	sinTilt, cosTilt := math.Sincos(globeTilt * math.Pi / 180)
	x, y, depth := cosLat*sinLon, cosTilt*sinLat-sinTilt*cosLat*cosLon, sinTilt*sinLat+cosTilt*cosLat*cosLon
	seen := depth > 0
	if h.behind {
		x, seen = -x, !seen
	}
	return h.middle.Add(vg.Point{X: globeRadius * vg.Length(x), Y: globeRadius * vg.Length(y)}), seen
}

// point returns the latitude and longitude seen at (x, y) of the unit disc.
func (h hemisphere) point(x, y float64) (lat, lon float64) {
	depth := math.Sqrt(max(0, 1-x*x-y*y))
	if h.behind {
		x, depth = -x, -depth
	}
	sinTilt, cosTilt := math.Sincos(globeTilt * math.Pi / 180)
	lat = math.Asin(max(-1, min(1, y*cosTilt+depth*sinTilt))) * 180 / math.Pi
	lon = math.Atan2(x, depth*cosTilt-y*sinTilt) * 180 / math.Pi
	return lat, math.Mod(lon+720, 360)
}

// image returns the colours of a half, interpolated between nodes.
func (g GlobeData) image(h hemisphere, colors scale) image.Image {
	const side = 6 * globeRadius // pixels
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	for py := range side {
		for px := range side {
			x, y := 2*(float64(px)+0.5)/side-1, 1-2*(float64(py)+0.5)/side
			r := math.Hypot(x, y)
			if r > 1 {
				continue
			}
			fill := Values.shade(colors.shade(g.at(h.point(x, y))))
			fill.A = uint8(255 * min(1, (1-r)*side/2)) // no steps at the rim
			img.SetNRGBA(px, py, fill)
		}
	}
	return img
}

// at interpolates between the four nodes around a point.
func (g GlobeData) at(lat, lon float64) float64 {
	row, col := (90-lat)/180*float64(g.Rows-1), lon/360*float64(g.Cols)
	i, j := min(int(row), g.Rows-2), int(col)%g.Cols
	a, b := row-float64(i), col-math.Floor(col)
	value := func(i, j int) float64 { return g.Values[i*g.Cols+j%g.Cols] }
	return (1-a)*((1-b)*value(i, j)+b*value(i, j+1)) + a*((1-b)*value(i+1, j)+b*value(i+1, j+1))
}

// grid draws every 30th meridian and circle of latitude.
func (h hemisphere) grid(c draw.Canvas) {
	var path vg.Path
	follow := func(point func(t float64) (lat, lon float64)) {
		drawn := false
		for t := 0.0; t <= 360; t += 3 {
			at, ok := h.place(point(t))
			if ok && drawn {
				path.Line(at)
			} else if ok {
				path.Move(at)
			}
			drawn = ok
		}
	}
	for lat := -60.0; lat <= 60; lat += 30 {
		follow(func(t float64) (float64, float64) { return lat, t })
	}
	for lon := 0.0; lon < 360; lon += 30 {
		follow(func(t float64) (float64, float64) { return t/2 - 90, lon })
	}
	c.SetLineStyle(draw.LineStyle{Color: color.NRGBA{0xff, 0xff, 0xff, 0x70}, Width: 0.4})
	c.Stroke(path)
	c.SetLineStyle(draw.LineStyle{Color: soft, Width: 0.6})
	c.Stroke(circle(nil, h.middle, globeRadius))
}
