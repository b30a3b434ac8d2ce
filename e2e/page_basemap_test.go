package e2e

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"
	"testing"

	"grfgp/server"
	"grfgp/server/pmtiles"
	"grfgp/server/pmtiles/pmtilestest"
	"grfgp/server/servertest"
)

// Tiles around theCountry, of one zoom.
const (
	mapZoom = 10
	mapSide = 1 << mapZoom
)

func countryTiles(tile func(x, y int) []byte) map[pmtilestest.Tile][]byte {
	tiles := map[pmtilestest.Tile][]byte{}
	for x := 164; x <= 167; x++ {
		for y := 395; y <= 399; y++ {
			if body := tile(x, y); body != nil {
				tiles[pmtilestest.Tile{Zoom: mapZoom, X: x, Y: y}] = body
			}
		}
	}
	return tiles
}

// withBasemap gives a server a map of the tiles of the country.
func withBasemap(t *testing.T, kind byte, tile func(x, y int) []byte) func(*server.Options) {
	t.Helper()
	body := pmtilestest.Archive{
		Kind: kind, Packing: 2, Inner: 2, MaxZoom: mapZoom, Bounds: [4]float64{-122.4, 37, -121.3, 37.8},
		Metadata: `{"attribution":"<a href=\"https://maps.example\">© Mapmakers</a>"}`, Tiles: countryTiles(tile),
	}.Bytes()
	archive, err := pmtiles.Open(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	return func(o *server.Options) { o.Basemap, o.NewEngine = archive, newWaving }
}

// painted is a picture of one colour.
func painted(c color.Color) []byte {
	tile := image.NewNRGBA(image.Rect(0, 0, 256, 256))
	for k := range 256 * 256 {
		tile.Set(k%256, k/256, c)
	}
	var out bytes.Buffer
	png.Encode(&out, tile)
	return out.Bytes()
}

var red, blue = painted(color.NRGBA{255, 0, 0, 255}), painted(color.NRGBA{0, 0, 255, 255})

// chess has red and blue tiles in turn, and none in one place.
func chess(x, y int) []byte {
	switch {
	case x == 165 && y == 396:
		return nil
	case (x+y)%2 == 0:
		return red
	}
	return blue
}

// plane tells where places are on a map of theCountry that shows all of it.
type plane struct{ zoom, y, meridian, shrink, width, height float64 }

func planeOf(p *tab, lat, lon []float64) plane {
	size := eval[[2]float64](p, `(({ width, height }) => [width, height])(document.querySelector("#map").getBoundingClientRect())`)
	south, north, west, east := slices.Min(lat), slices.Max(lat), slices.Min(lon), slices.Max(lon)
	m := plane{meridian: (west + east) / 2, shrink: math.Cos((south + north) / 2 * math.Pi / 180), y: (south + north) / 2, width: size[0],
		height: size[1]}
	m.zoom = min(0.92*m.width/((east-west)*m.shrink), 0.92*m.height/(north-south))
	return m
}

func (m plane) at(lat, lon float64) (x, y int) {
	return int(math.Round(m.width/2 + (lon-m.meridian)*m.shrink*m.zoom)), int(math.Round(m.height/2 - (lat-m.y)*m.zoom))
}

// corner is the place of the north-west corner of a tile.
func corner(x, y float64) (lat, lon float64) {
	return math.Atan(math.Sinh(math.Pi*(1-2*y/mapSide))) * 180 / math.Pi, x/mapSide*360 - 180
}

// look returns the picture of the map.
func (p *tab) look() image.Image {
	p.t.Helper()
	picture, err := png.Decode(bytes.NewReader(p.picture("#map")))
	if err != nil {
		p.t.Fatal(err)
	}
	return picture
}

// hue counts which colours there are in a small square: the map shows between nodes and edges.
func hue(picture image.Image, x, y int) (reds, blues int) {
	for dx := -4; dx <= 4; dx++ {
		for dy := -4; dy <= 4; dy++ {
			r, g, b, _ := picture.At(x+dx, y+dy).RGBA()
			switch {
			case r > g+0x4000 && r > b+0x4000:
				reds++
			case b > g+0x4000 && b > r+0x4000:
				blues++
			}
		}
	}
	return reds, blues
}

// The background map is loaded when it is wanted, lies under the nodes where it should, and says
// whom it is by.
func TestBasemap(t *testing.T) {
	inBrowser(t)
	h := servertest.New(t, withBasemap(t, 2, chess))
	country := theCountry(t, 20)
	putCountry(h, country)
	p := newTab(t, h.HTTP.URL, 1440, 900)
	p.open("#/studies/s/map")
	p.waitFor(`#map[data-coloured="true"]`)
	p.wait(`Number(document.querySelector("#map").dataset.edges) === 760`)
	loaded := `performance.getEntriesByType("resource").filter((e) => e.name.includes("basemap")).length`
	if n := eval[int](p, loaded); n != 0 {
		t.Errorf("%d files of a map that nobody wants", n)
	}
	p.click("#background-map")
	p.waitText("#map-attribution", "© Mapmakers")
	m := planeOf(p, country.Nodes.Lat, country.Nodes.Lon)
	// On both sides of a corner of four tiles, in the middle of the map, colours change.
	lat, lon := corner(166, 397)
	x, y := m.at(lat, lon)
	square := func(dx, dy int) string {
		if reds, blues := hue(p.look(), x+dx, y+dy); reds > 2*blues && reds > 10 {
			return "red"
		} else if blues > 2*reds && blues > 10 {
			return "blue"
		}
		return "neither"
	}
	var got string
	servertest.Eventually(t, func() bool {
		got = fmt.Sprint(square(-12, 12), " ", square(12, 12), " ", square(12, -12))
		return got == "red blue red"
	})
	if gap := square(-12, -12); gap != "neither" {
		t.Errorf("a tile that is not there is %s", gap)
	}
	p.shoot("basemap-raster")
	if axe := axeSource(t); axe != "" {
		eval[bool](p, axe+";true")
		for _, found := range p.axe() {
			t.Error(found)
		}
	}
	// Far beyond the zooms of the tiles, they are still there; and they can be hidden.
	for range 6 {
		p.click(`.zoom button[aria-label="Zoom in"]`)
	}
	servertest.Eventually(t, func() bool {
		reds, blues := hue(p.look(), int(m.width/2), int(m.height/2))
		return reds+blues > 10
	})
	p.click("#background-map")
	before := p.picture("#map")
	p.click("#background-map")
	p.changes("#map", before)

	h = servertest.New(t, withBasemap(t, 1, vectorTile))
	putCountry(h, country)
	p = newTab(t, h.HTTP.URL, 1440, 900)
	p.open("#/studies/s/map")
	p.waitFor(`#map[data-coloured="true"]`)
	p.click("#background-map")
	// The western half of each tile is water.
	for scheme, water := range map[string][2]color.RGBA{
		"light": {{0xcb, 0xdc, 0xe6, 0xff}, {0xf0, 0xf0, 0xec, 0xff}}, "dark": {{0x18, 0x2a, 0x35, 0xff}, {0x1d, 0x21, 0x26, 0xff}}} {
		p.prefer(scheme)
		lat, lon := corner(165.5, 397.5)
		x, y := m.at(lat, lon)
		servertest.Eventually(t, func() bool {
			picture := p.look()
			return has(picture, x-12, y, water[0]) && !has(picture, x-12, y, water[1]) && has(picture, x+12, y, water[1]) &&
				!has(picture, x+12, y, water[0])
		})
		p.shoot("basemap-vector-" + scheme)
	}
}

// has tells whether a colour is among those in a small square.
func has(picture image.Image, x, y int, want color.RGBA) bool {
	for dx := -4; dx <= 4; dx++ {
		for dy := -4; dy <= 4; dy++ {
			if color.RGBAModel.Convert(picture.At(x+dx, y+dy)) == want {
				return true
			}
		}
	}
	return false
}

// vectorTile has water in its western half, a road and a town.
func vectorTile(int, int) []byte {
	field := func(number int, body []byte) []byte {
		return slices.Concat(binary.AppendUvarint(nil, uint64(number<<3|2)), binary.AppendUvarint(nil, uint64(len(body))), body)
	}
	zigzag := func(v int) uint64 { return uint64(v<<1 ^ v>>63) }
	pen := func(commands ...[]int) (out []byte) { // command and count, then steps
		for _, c := range commands {
			out = binary.AppendUvarint(out, uint64(c[0]|c[1]<<3))
			for _, v := range c[2:] {
				out = binary.AppendUvarint(out, zigzag(v))
			}
		}
		return out
	}
	layer := func(name string, kind byte, shape []byte, properties ...string) []byte {
		var keys, tags []byte
		for k := 0; k < len(properties); k += 2 {
			keys = slices.Concat(keys, field(3, []byte(properties[k])), field(4, field(1, []byte(properties[k+1]))))
			tags = append(tags, byte(k/2), byte(k/2))
		}
		feature := slices.Concat(field(2, tags), []byte{3 << 3, kind}, field(4, shape))
		return field(3, slices.Concat(field(1, []byte(name)), field(2, feature), keys, []byte{5 << 3, 0x80, 0x20}))
	}
	return slices.Concat(
		layer("water", 3, pen([]int{1, 1, 0, 0}, []int{2, 3, 2048, 0, 0, 4096, -2048, 0}, []int{7, 1}), "kind", "lake"),
		layer("transportation", 2, pen([]int{1, 1, 3000, 0}, []int{2, 1, 0, 4096}), "class", "motorway"),
		layer("place", 1, pen([]int{1, 1, 3000, 1000}), "class", "city", "name", "Testville"))
}
