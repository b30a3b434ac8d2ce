package chart

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the pictures in testdata anew")

// gallery has every kind of figure, as it is meant to look.
func gallery() map[string]*Picture {
	left, pits := heldOut(60)
	bins := make([]Bin, 15)
	for k := 5; k < 15; k++ {
		bins[k] = Bin{Count: 4 * k * k, Confidence: (float64(k) + 0.6) / 15, Accuracy: math.Min(1, (float64(k)+0.2*float64(k%4))/15)}
	}
	names := []string{"Case_Based", "Genetic_Algorithms", "Neural_Networks", "Rule_Learning"}
	classes := lattice(4)
	classes.Title, classes.Classes, classes.Mark = "Classes", names, "labelled"
	for i := range classes.Values {
		classes.Values[i] = float64(i % 5)
	}
	diverging := lattice(4)
	diverging.Range, diverging.Ramp = diverging.Range.Around(0.2), Diverging
	diverging.Range.Above, diverging.Length, diverging.Lengths = 2, "km", 30
	return map[string]*Picture{
		"map": Map(lattice(5)), "diverging": Map(diverging), "classes": Map(classes), "areas": Map(areas()),
		"residuals": Residuals("Predicted against measured", "m", left), "calibration": Calibration("Coverage of intervals", pits),
		"pit":         PIT("PIT", pits),
		"bars":        Bars("Error", "km/h", []Bar{{"this model", 2.8, 0.17}, {"overall mean", 12.38, 0}, {"neighbours", 4.4712, 0.3}}),
		"reliability": Reliability("Reliability", bins),
		"confusion":   Confusion("Confusion matrix", names, [][]int{{40, 1, 4, 0}, {0, 70, 5, 0}, {0, 0, 12900, 9}, {0, 0, 0, 0}}),
		"curves":      Curves("Regret", "measurements", "regret", falling(3)),
	}
}

// odd has what figures must survive: nothing, one value, equal values, numbers that are none, text that is
// markup.
func odd() map[string]*Picture {
	strange := lattice(3)
	strange.X[1], strange.Values[2], strange.Values[3] = math.NaN(), math.NaN(), math.Inf(1)
	huge := lattice(3)
	huge.X[1], huge.Values[1], huge.Values[2] = 1e300, math.MaxFloat64, -math.MaxFloat64
	huge.Range = RobustRange(nil, huge.Values)
	evil := lattice(2)
	evil.Title, evil.Unit, evil.Mark = hostile, "\x00</text>\xff\n", strings.Repeat("long ", 40)
	evil.Length, evil.Lengths = hostile, 1
	lost := MapData{X: []float64{math.NaN()}, Y: []float64{1}, Values: []float64{1}, Ramp: Values}
	classes := lattice(3)
	classes.Classes = []string{hostile, "b"}
	classes.Values = []float64{0, 1, 7, -1, math.NaN(), math.Inf(1), 1e9, 0, 1}
	many, _ := heldOut(3 * mostHeldOut)
	nan, inf := math.NaN(), math.Inf(1)
	return map[string]*Picture{
		"map of nothing": Map(MapData{Ramp: Values}), "map without places": Map(lost), "odd map": Map(strange), "huge map": Map(huge),
		"evil map":    Map(evil),
		"odd classes": Map(classes),
		"point":       Map(MapData{X: []float64{5}, Y: []float64{5}, Values: []float64{7}, Range: RobustRange(nil, []float64{7}), Ramp: Values}),
		"line": Map(MapData{X: []float64{0, 1}, Y: []float64{3, 3}, Values: []float64{7, 7}, Range: Range{7, 7, 7, 7, 0, 0},
			Ramp: Values}),
		"no residuals": Residuals("None", "", nil), "many residuals": Residuals("Many", hostile, many), "one residual": Residuals("One", "",
			[]HeldOut{{2, 2, 0}}), "odd residuals": Residuals("Odd", "", []HeldOut{{nan, 1, 1}, {1, 1, inf}, {1, 1, math.MaxFloat64}, {2, 2, 0}}),
		"huge residuals": Residuals("Huge", "", []HeldOut{{math.MaxFloat64, -math.MaxFloat64, 1}, {-math.MaxFloat64, 1, 1}}),
		"no calibration": Calibration("None", nil), "one pit": Calibration("One", []float64{nan}),
		"few pits": PIT("Few", []float64{0, 1, 0.5, nan, 7, -1}), "no pits": PIT("None", nil),
		"no bars": Bars("None", "", nil), "odd bars": Bars(hostile, hostile, []Bar{{hostile, nan, 0}, {"b", 0, 0}, {"c", 1, inf}, {"d", -1, 2}}),
		"tiny bars": Bars("Tiny", "", []Bar{{"a", 1e-300, 1e-301}}), "huge bars": Bars("Huge", "", []Bar{{"a", math.MaxFloat64, 0}}),
		"no reliability":  Reliability("Nothing", nil),
		"odd reliability": Reliability("Odd", []Bin{{Count: 1, Confidence: 1, Accuracy: 0}, {Count: 3, Confidence: nan}}),
		"no confusion":    Confusion("None", nil, nil),
		"odd confusion":   Confusion("Two", []string{hostile, "b"}, [][]int{{5, 1}, {0, 0}}),
		"no curves":       Curves("None", "x", "y", nil),
		"odd curves": Curves(hostile, hostile, hostile, []Curve{
			{Name: hostile, X: []float64{1, 2, nan, 4}, Y: []float64{inf, 2, 3, nan}},
			{Name: "empty"}, {Name: "point", X: []float64{3}, Y: []float64{0}, Low: []float64{nan}, High: []float64{1}},
		}),
		"no loss": Curves("Zero", "x", "y", []Curve{{Name: "zero", X: []float64{1, 2}, Y: []float64{0, 0}}}),
	}
}

const hostile = `<script>alert("x")</script>'&]]>`

// lattice is a map of n×n nodes.
func lattice(n int) MapData {
	m := MapData{Title: "A lattice", Unit: "m", Mark: "measured", Marked: []int{0, 3}, Ramp: Values}
	for i := range n * n {
		m.X, m.Y = append(m.X, float64(i%n)), append(m.Y, float64(i/n))
		m.Values = append(m.Values, math.Sin(float64(i)))
	}
	m.Range = RobustRange(m.Values, m.Values)
	m.Edges = func(yield func(i, j int) bool) {
		for i := range n * n {
			if i%n+1 < n && !yield(i, i+1) || i+n < n*n && !yield(i, i+n) {
				return
			}
		}
	}
	return m
}

// areas is a map of a square with a hole, a road, and a node that is a point.
func areas() MapData {
	square := Outline{true, []float64{0, 1, 1, 0}, []float64{0, 0, 1, 1}}
	hole := Outline{true, []float64{0.4, 0.4, 0.6, 0.6}, []float64{0.4, 0.6, 0.6, 0.4}}
	road := Outline{false, []float64{1.5, 2, 2.0001, 2}, []float64{0, 0.5, 0.5001, 1}}
	return MapData{Title: "Areas", X: []float64{0.5, 1.8, 3}, Y: []float64{0.5, 0.5, 0.5}, Values: []float64{1, 2, 3}, Ramp: Uncertainty,
		Range: Range{Low: 1, High: 3}, Areas: [][]Outline{{square, hole}, {road}, nil}, Marked: []int{0, 2}, Mark: "measured"}
}

// heldOut are n predictions of a model that is right.
func heldOut(n int) (left []HeldOut, pits []float64) {
	for k := range n {
		u := (float64(k) + 0.5) / float64(n)
		left, pits = append(left, HeldOut{float64(k) + math.Sqrt2*math.Erfinv(2*u-1), float64(k), 1}), append(pits, u)
	}
	return left, pits
}

// falling are n curves that fall at different speeds, with bands, and one to compare with.
func falling(n int) []Curve {
	all := []Curve{{Name: "expected", Reference: true}}
	for k := range n {
		c := Curve{Name: string(rune('a' + k))}
		for x := range 12 {
			y := math.Exp(-float64(x*(k+1)) / 12)
			c.X, c.Y = append(c.X, float64(x+1)), append(c.Y, y)
			c.Low, c.High = append(c.Low, y-0.1), append(c.High, y+0.1)
		}
		all = append(all, c)
	}
	all[0].X, all[0].Y = all[1].X, all[1].Y
	return all
}

// TestPictures compares all figures with the files in testdata; look at them after -update.
func TestPictures(t *testing.T) {
	for name, p := range gallery() {
		file := filepath.Join("testdata", name+".svg")
		if *update {
			if err := os.WriteFile(file, []byte(p.SVG), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if p.SVG != string(want) {
			t.Errorf("%s differs from %s; if it is meant to, run go test ./internal/chart -update", name, file)
		}
	}
}

// Figures are well-formed, have a name and a description, hold no number that is none, run and load nothing,
// and are the same each time.
func TestPicturesAreSound(t *testing.T) {
	all, again := gallery(), gallery()
	maps.Copy(all, odd())
	maps.Copy(again, odd())
	for name, p := range all {
		if p.SVG != again[name].SVG {
			t.Errorf("%s was drawn in two ways", name)
		}
		texts, err := parse(p.SVG)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Join(texts["title"], "|") != p.Title || len(texts["desc"]) != 1 || strings.Count(p.SVG, "<title>") != 1 {
			t.Errorf("%s has the titles %q and the descriptions %q", name, texts["title"], texts["desc"])
		}
		if !strings.HasPrefix(p.SVG, `<svg xmlns="http://www.w3.org/2000/svg" role="img" `) {
			t.Errorf("%s begins with %.60s", name, p.SVG)
		}
		for _, bad := range []string{"NaN", "Inf", "<script", "%!", "href", "url(", "style="} {
			if strings.Contains(p.SVG, bad) {
				t.Errorf("%s has %q in it", name, bad)
			}
		}
	}
	if got := all["evil map"].Title; got != hostile {
		t.Errorf("the title is %q", got)
	}
}

// parse returns the texts of a picture by element. Only elements that draw or describe are allowed.
func parse(svg string) (texts map[string][]string, err error) {
	texts = map[string][]string{}
	var open []string
	for dec := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return texts, nil
		} else if err != nil {
			return texts, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			if !strings.Contains(" svg title desc text tspan path circle g ", " "+name+" ") {
				return texts, fmt.Errorf("there is an element %s", name)
			}
			for _, a := range token.Attr {
				if strings.HasPrefix(a.Name.Local, "on") {
					return texts, fmt.Errorf("there is an attribute %s", a.Name.Local)
				}
				if a.Name.Local == "d" && strings.Trim(a.Value, "MmLlHhVvz0123456789.- ") != "" {
					return texts, fmt.Errorf("a path is %q", a.Value)
				}
			}
			open = append(open, name)
		case xml.CharData:
			texts[open[len(open)-1]] = append(texts[open[len(open)-1]], string(token))
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
}

func TestFitted(t *testing.T) {
	for name, want := range map[string]string{"Genetic_Algorithms": "Genetic_Algorithms",
		"a name that is far too long to be shown in full": "a name that is far …", "ネットワーク上のガウス過程": "ネットワーク上のガウス…"} {
		got := fitted(name, 10, 120)
		if got != want || width(got, 10) > 120 {
			t.Errorf("%q is cut to %q, want %q", name, got, want)
		}
	}
}

// The first curve lies above the others, all above the bands, and names stand apart within the sheet.
func TestCurves(t *testing.T) {
	flat := func(name string) Curve {
		return Curve{Name: name, X: []float64{0, 1}, Y: []float64{0, 0}, Low: []float64{0, 0}, High: []float64{1, 0}}
	}
	svg := Curves("", "x", "y", []Curve{flat("one"), flat("two"), flat("three"), flat("four")}).SVG
	last := 0
	for _, want := range []string{`fill-opacity=".18" fill="` + curveColors[3], `fill-opacity=".18" fill="` + curveColors[0],
		`stroke="` + curveColors[3], `stroke="` + curveColors[0], ">one</text>", ">two</text>", ">three</text>", ">four</text>"} {
		at := strings.Index(svg, want)
		if at <= last {
			t.Errorf("%s is at %d, after %d", want, at, last)
		}
		last = at
	}
	var ys []float64
	for _, part := range strings.Split(svg, `<text x="`)[1:] {
		var x, y float64
		if n, _ := fmt.Sscanf(part, `%g" y="%g"`, &x, &y); n == 2 && x > 560 && strings.Contains(part, `" fill="#`) {
			ys = append(ys, y)
		}
	}
	for k := range ys[1:] {
		if ys[k+1]-ys[k] < letters || ys[k+1] > 336 {
			t.Errorf("names are at %v", ys)
		}
	}
}

// Bars are as long as their numbers, and written with the same digits.
func TestBars(t *testing.T) {
	svg := Bars("b", "m", []Bar{{"a", 10, 1}, {"b", 5, 0}}).SVG
	for _, want := range []string{">10.00 ± 1.00<", ">m<", ">5.00<", "2 bars, in m: a 10.00 ± 1.00; b 5.00."} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
	var zero, y, end, other float64
	for _, part := range strings.Split(svg, `<path d="`)[1:] {
		var to float64
		if n, _ := fmt.Sscanf(part, "M%g %gH%gv15", &zero, &y, &to); n == 3 && strings.Contains(part[:30], "v15") {
			end, other = other, to
		}
	}
	if math.Abs((end-zero)-2*(other-zero)) > 0.2 || end <= zero {
		t.Errorf("bars of 10 and 5 from %v end at %v and %v", zero, end, other)
	}
}

func TestCoverage(t *testing.T) {
	_, pits := heldOut(1000)
	for _, level := range []float64{0.1, 0.5, 0.95, 1} {
		if got := coverage(pits, level); math.Abs(got-level) > 0.002 {
			t.Errorf("coverage at %v is %v", level, got)
		}
	}
}

// What a figure leaves out is said below it.
func TestNotes(t *testing.T) {
	dense := lattice(2)
	dense.Edges = func(yield func(i, j int) bool) {
		for range mostEdges + 1 {
			if !yield(0, 1) {
				return
			}
		}
	}
	lost := lattice(2)
	lost.Y[0] = math.NaN()
	many, _ := heldOut(mostHeldOut + 1)
	names, counts := make([]string, 30), make([][]int, 30)
	for k := range counts {
		counts[k] = make([]int, 30)
	}
	for want, p := range map[string]*Picture{
		"":                                      Map(lattice(3)),
		"not drawn: 20001 edges":                Map(dense),
		"not drawn: 1 node without coordinates": Map(lost),
		"of 2001 measurements, one in 2 is drawn": Residuals("", "", many),
		"of 30 classes, the first 20 are drawn":   Confusion("", names, counts),
	} {
		if p.Note != want {
			t.Errorf("the note is %q, want %q", p.Note, want)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{-3, 7, "−2 0 2 4 6"},
		{-0.21, 0.4, "−0.2 0.0 0.2 0.4"},
		{18, 82, "20 40 60 80"},
		{0, 0.0031, "0.000 0.001 0.002 0.003"},
		{1e7, 3.5e7, "10⁷ 1.5·10⁷ 2·10⁷ 2.5·10⁷ 3·10⁷ 3.5·10⁷"},
		{-5e5, 1e6, "−5·10⁵ 0 5·10⁵ 10⁶"},
		{0, 4e-5, "0 10⁻⁵ 2·10⁻⁵ 3·10⁻⁵ 4·10⁻⁵"},
		{-math.MaxFloat64, math.MaxFloat64, "−1.798·10³⁰⁸ 1.798·10³⁰⁸"},
	} {
		var got []string
		for _, t := range roundTicks(span{c.lo, c.hi}) {
			got = append(got, t.label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("ticks of %v to %v: %v, want %s", c.lo, c.hi, got, c.want)
		}
	}
	var whole []string
	for _, t := range wholeTicks(span{3, 5}) {
		whole = append(whole, t.label)
	}
	if strings.Join(whole, " ") != "3 4 5" {
		t.Errorf("whole ticks: %v", whole)
	}
}
