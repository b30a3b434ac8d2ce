package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"maps"
	"math"
	"regexp"
	"strings"
	"testing"

	"grfgp/internal/testkit"
)

// lattice is a map of n×n nodes.
func lattice(n int) MapData {
	m := MapData{Title: "A lattice", Unit: "m", Mark: "measured", Marked: []int{0, 3}}
	for i := range n * n {
		m.X, m.Y = append(m.X, float64(i%n)), append(m.Y, float64(i/n))
		m.Values = append(m.Values, math.Sin(float64(i)))
	}
	m.Edges = func(yield func(i, j int) bool) {
		for i := range n * n {
			if i%n+1 < n && !yield(i, i+1) || i+n < n*n && !yield(i, i+n) {
				return
			}
		}
	}
	return m
}

// gallery has every kind of picture, and the odd inputs of each.
func gallery() map[string]*Picture {
	odd := lattice(3)
	odd.X[1], odd.Values[2], odd.Values[3] = math.NaN(), math.NaN(), math.Inf(1)
	huge := lattice(3)
	huge.X[1], huge.Values[1], huge.Values[2] = 1e300, math.MaxFloat64, -math.MaxFloat64
	point := MapData{X: []float64{5}, Y: []float64{5}, Values: []float64{7}}
	evil := lattice(2)
	evil.Title, evil.Unit, evil.Mark = `<script>"&'`, "\x00</text>\xff\n", strings.Repeat("long ", 40)
	framed := furnished()
	framed.X[1], framed.Frame.Right, framed.Frame.Name = 1e300, math.MaxFloat64, evil.Title
	all := map[string]*Picture{
		"furnished map": Map(furnished()), "odd frame": Map(framed), "map": Map(lattice(12)), "map of nothing": Map(MapData{}),
		"map of a point": Map(point),
		"odd map":        Map(odd), "huge map": Map(huge), "evil map": Map(evil), "large map": Map(lattice(150)),
	}
	maps.Copy(all, classPictures())
	return all
}

func TestPicturesAreWholeAndAlwaysTheSame(t *testing.T) {
	testkit.Unraced(t)
	again := gallery()
	for name, p := range gallery() {
		svg := p.SVG()
		if err := parseXML(svg); err != nil {
			t.Errorf("%s is no XML: %v", name, err)
		}
		words := pixels.ReplaceAll(svg, nil)
		for _, bad := range []string{"NaN", "Inf", "#-", "<script", "<?xml"} {
			if bytes.Contains(words, []byte(bad)) {
				t.Errorf("%s has %q in it", name, bad)
			}
		}
		if !bytes.Equal(svg, again[name].SVG()) || !bytes.Equal(svg, p.SVG()) {
			t.Errorf("%s was drawn in two ways", name)
		}
		if img, err := png.Decode(bytes.NewReader(p.PNG(50))); err != nil || img.Bounds().Empty() {
			t.Errorf("%s is no PNG: %v", name, err)
		}
	}
}

// pixels are those of an image, which may spell anything.
var pixels = regexp.MustCompile(`base64,[^"]*`)

func parseXML(text []byte) error {
	for dec := xml.NewDecoder(bytes.NewReader(text)); ; {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func TestMapSaysWhatItLeavesOut(t *testing.T) {
	dense := lattice(2)
	dense.Edges = func(yield func(i, j int) bool) {
		for range 3*MaxEdges - 1 {
			if !yield(0, 1) {
				return
			}
		}
	}
	lost := lattice(2)
	lost.Y[0] = math.NaN()
	for name, c := range map[string]struct {
		data MapData
		want string
	}{
		"small":     {lattice(3), ""},
		"large":     {lattice(150), "22500 nodes are drawn as dots; the 44700 edges are not drawn"},
		"dense":     {dense, "of 179999 edges, one in 3 is drawn"},
		"placeless": {lost, "1 nodes without coordinates are not drawn"},
	} {
		if got := Map(c.data).Note(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestLargeMapsDoNotGrow(t *testing.T) {
	if size := len(Map(lattice(400)).SVG()); size > 3<<20 {
		t.Errorf("160,000 nodes take %d bytes", size)
	}
}

func TestScale(t *testing.T) {
	s := scaleOf([]float64{math.NaN(), 2, 4, math.Inf(1)})
	for v, want := range map[float64]int{2: 0, 3: shades / 2, 4: shades - 1, -9: 0, 9: shades - 1, math.Inf(1): shades - 1} {
		if got := s.shade(v); got != want {
			t.Errorf("%v has shade %d, want %d", v, got, want)
		}
	}
	if s.shade(math.NaN()) != -1 || Values.shade(-1) != faint {
		t.Error("what is no number has a colour")
	}
	// Lighter all the way up, for eyes that see no hues.
	before := -1.0
	for k := range shades {
		c := Values.shade(k)
		light := 0.2126*float64(c.R) + 0.7152*float64(c.G) + 0.0722*float64(c.B)
		if light <= before {
			t.Fatalf("shade %d is no lighter than the one before", k)
		}
		before = light
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{-3, 7, "−2 0 2 4 6"},
		{18, 82, "20 40 60 80"},
		{0, 0.0031, "0.000 0.001 0.002 0.003"},
		{1e7, 3.5e7, "10^{7} 1.5·10^{7} 2·10^{7} 2.5·10^{7} 3·10^{7} 3.5·10^{7}"},
		{-5e5, 1e6, "−5·10^{5} 0 5·10^{5} 10^{6}"},
		{0, 4e-5, "0 10^{−5} 2·10^{−5} 3·10^{−5} 4·10^{−5}"},
		{5, 5, "5"},
	} {
		var got []string
		for _, tick := range (roundTicks{}).Ticks(c.lo, c.hi) {
			got = append(got, tick.Label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("ticks of %v to %v: %v, want %s", c.lo, c.hi, got, c.want)
		}
	}
}

func BenchmarkMap(b *testing.B) {
	m := lattice(100)
	for b.Loop() {
		Map(m).SVG()
	}
}
