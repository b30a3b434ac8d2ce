package pmtiles_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"grfgp/server/pmtiles"
	"grfgp/server/pmtiles/pmtilestest"
)

func open(t testing.TB, body []byte) *pmtiles.Archive {
	t.Helper()
	a, err := pmtiles.Open(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// world has a tile for every place up to a zoom, named by it, but for some gaps.
func world(zoom int) map[pmtilestest.Tile][]byte {
	tiles := map[pmtilestest.Tile][]byte{}
	for z := range zoom + 1 {
		for x := range 1 << z {
			for y := range 1 << z {
				if (x+2*y)%5 != 3 {
					tiles[pmtilestest.Tile{Zoom: z, X: x, Y: y}] = fmt.Appendf(nil, "%d/%d/%d", z, x, y)
				}
			}
		}
	}
	tiles[pmtilestest.Tile{Zoom: zoom, X: 0, Y: 0}] = []byte("sea") // the same twice: one entry
	if zoom > 0 {
		tiles[pmtilestest.Tile{Zoom: zoom, X: 1, Y: 0}] = []byte("sea")
	}
	return tiles
}

var europe = [4]float64{-10.5, 35, 30.25, 71}

func TestEveryTileIsFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		packing, inner byte
		leaf           int
	}{{"plain", 1, 1, 0}, {"gzip", 2, 2, 0}, {"directories below the root", 1, 2, 7}, {"many of them", 1, 1, 1}} {
		t.Run(c.name, func(t *testing.T) {
			tiles := world(5)
			a := open(t, pmtilestest.Archive{Kind: 2, Packing: c.packing, Inner: c.inner, MaxZoom: 5, Bounds: europe, Metadata: "{}", Tiles: tiles,
				Leaf: c.leaf}.Bytes())
			for z := range 7 {
				for x := -1; x <= 1<<z; x++ {
					for y := -1; y <= 1<<z; y++ {
						got, err := a.Tile(z, x, y)
						want, ok := tiles[pmtilestest.Tile{Zoom: z, X: x, Y: y}]
						if ok && (err != nil || !bytes.Equal(got, want)) || !ok && !errors.Is(err, pmtiles.ErrNoTile) {
							t.Fatalf("%d/%d/%d: %q %v", z, x, y, got, err)
						}
					}
				}
			}
		})
	}
}

func TestDescription(t *testing.T) {
	t.Parallel()
	sample := pmtilestest.Archive{Kind: 1, Packing: 2, Inner: 2, MaxZoom: 3, Bounds: europe, Tiles: world(3),
		Metadata: `{"name": "Europe", "attribution": "<a href=\"https://example.org\">© Mapmakers</a> &amp; friends<script>1</script>", ` +
			`"vector_layers": []}`}
	a := open(t, sample.Bytes())
	if a.Type != pmtiles.MVT || a.MaxZoom != 3 || a.Bounds != (pmtiles.Bounds{West: -10.5, South: 35, East: 30.25, North: 71}) ||
		a.Name != "Europe" || a.Attribution != "© Mapmakers & friends 1" {
		t.Errorf("%+v", a)
	}
	sample.Tiles[pmtilestest.Tile{Zoom: 1, X: 1, Y: 1}] = []byte("another, longer one")
	if other := open(t, sample.Bytes()); other.Tag == a.Tag || a.Tag == "" {
		t.Errorf("both are called %q", a.Tag)
	}
}

// What cannot be read is an error that says why, and takes no memory.
func TestBadArchives(t *testing.T) {
	t.Parallel()
	good := pmtilestest.Archive{Kind: 2, Packing: 1, Inner: 1, MaxZoom: 2, Bounds: europe, Metadata: "{}", Tiles: world(2)}.Bytes()
	change := func(at int, to ...byte) []byte {
		body := bytes.Clone(good)
		copy(body[at:], to)
		return body
	}
	long := binary.LittleEndian.AppendUint64(nil, 1<<62)
	for name, c := range map[string]struct {
		body []byte
		want error
		says string
	}{
		"empty":           {nil, pmtiles.ErrFormat, "header"},
		"another file":    {[]byte(strings.Repeat("id,lat,lon\n", 20)), pmtiles.ErrFormat, "header"},
		"an old version":  {change(7, 2), pmtiles.ErrFormat, "version is 2"},
		"brotli":          {change(98, 3), pmtiles.ErrUnsupported, "Brotli"},
		"avif":            {change(99, 5), pmtiles.ErrUnsupported, "vector tiles (MVT), PNG"},
		"no zooms":        {change(101, 99), pmtiles.ErrFormat, "zooms are 0 to 99"},
		"nowhere":         {change(102, 0, 0, 0, 0x7f), pmtiles.ErrFormat, "longitudes"},
		"far root":        {change(8, long...), pmtiles.ErrFormat, "root directory"},
		"long root":       {change(16, long...), pmtiles.ErrFormat, "root directory"},
		"no gzip":         {change(97, 2), pmtiles.ErrFormat, "gzip"},
		"cut in the root": {good[:130], pmtiles.ErrFormat, "ends early"},
		"no JSON": {pmtilestest.Archive{Kind: 2, Packing: 1, Inner: 1, Bounds: europe, Metadata: "{", Tiles: world(0)}.Bytes(),
			pmtiles.ErrFormat, "JSON"},
	} {
		if _, err := pmtiles.Open(bytes.NewReader(c.body), int64(len(c.body))); !errors.Is(err, c.want) ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A file that is cut off behind the directories opens; the tiles that are missing say so.
	a := open(t, good[:len(good)-3])
	if _, err := a.Tile(2, 2, 0); !errors.Is(err, pmtiles.ErrFormat) {
		t.Errorf("%v", err)
	}
}

// FuzzOpen reads damaged archives: no panic, no long work, no tile from outside of the file.
func FuzzOpen(f *testing.F) {
	for _, leaf := range []int{0, 3} {
		for _, how := range []byte{1, 2} {
			f.Add(pmtilestest.Archive{Kind: how, Packing: how, Inner: how, MaxZoom: 3, Bounds: europe, Metadata: `{"name":"x"}`, Tiles: world(3),
				Leaf: leaf}.Bytes())
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := pmtiles.Open(bytes.NewReader(body), int64(len(body)))
		if err != nil {
			return
		}
		source := rand.New(rand.NewPCG(1, 2))
		for range 20 {
			z := source.IntN(a.MaxZoom + 1)
			a.Tile(z, source.IntN(1<<z), source.IntN(1<<z))
		}
	})
}
