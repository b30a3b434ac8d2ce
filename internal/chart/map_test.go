package chart

import (
	"math"
	"regexp"
	"strings"
	"testing"
)

// Every node is drawn once, in the colour of its value, and every edge once.
func TestMapDrawsEverything(t *testing.T) {
	m := lattice(6)
	svg := Map(m).SVG
	paths := regexp.MustCompile(`<path d="([^"]*)" stroke="([^"]*)"`).FindAllStringSubmatch(svg, -1)
	dots, colors := map[string]int{}, map[string]int{}
	for _, p := range paths {
		dots[p[2]] += strings.Count(p[1], "h0")
	}
	all := Values.cut()
	for i, v := range m.Values {
		colors[all[int(min(63, 64*span{m.Range.Low, m.Range.High}.share(v)))]]++
		if i == 0 || i == 3 { // marked: a dark one below
			colors[ink]++
		}
	}
	for color, n := range colors {
		if dots[color] != n {
			t.Errorf("%d dots of colour %s, want %d", dots[color], color, n)
		}
	}
	if paths[0][2] != hair || strings.Count(paths[0][1], "l") != 2*6*5 {
		t.Errorf("edges: %v", paths[0])
	}
	for _, want := range []string{">measured<", ">m<", ">0.0<", "A map of 36 nodes, coloured from -1 to 0.9999 m; 2 are outlined: measured."} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s", want)
		}
	}
}

// A map is not upside down, nor beyond its sheet.
func TestMapPlaces(t *testing.T) {
	v := newView(lattice(3))
	x0, y0 := v.at(0, 0)
	x1, y1 := v.at(2, 2)
	if x0 >= x1 || y0 <= y1 || x0 < 10*int(v.left) || y1 < 10*int(v.top) || x1 > 10*int(v.right) || y0 > 10*int(v.top+v.high) {
		t.Errorf("corners at %d, %d and %d, %d", x0, y0, x1, y1)
	}
	classes, beside := lattice(3), lattice(3)
	classes.Classes, beside.Beside = []string{"a", "b", "c"}, []string{"a", "b", "c"}
	a, b := newView(classes), newView(beside)
	if a.wide != b.wide || a.high != b.high || a.x0 != b.x0 || a.scale != b.scale || a.height != b.height {
		t.Errorf("maps side by side differ: %v and %v", a, b)
	}
}

// A map of many nodes takes some eight bytes for each: less than its share of the data of a report.
func TestMapIsSmall(t *testing.T) {
	m := lattice(316)
	for i := range m.X { // off the grid, with values that change little from node to node
		x, y := m.X[i], m.Y[i]
		m.X[i], m.Y[i] = x+0.35*math.Sin(float64(7*i)), y+0.35*math.Cos(float64(11*i))
		m.Values[i] = math.Sin(x/20)*math.Cos(y/30) + 0.5*math.Sin((x+y)/7)
	}
	p := Map(m)
	if n := len(m.X); len(p.SVG) > 9*n || p.Note != "not drawn: 199080 edges" {
		t.Errorf("%d nodes take %d bytes; %s", n, len(p.SVG), p.Note)
	}
}

// A map says that values lie beyond its colours, at both ends.
func TestMapNamesWhatIsBeyond(t *testing.T) {
	m := lattice(5)
	m.Range = Range{Low: -2, High: 9, Below: 1, Above: 2}
	svg := Map(m).SVG
	for _, want := range []string{">≤ −2<", ">≥ 9<", ">0<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(svg, ">−2<") {
		t.Error("the end of the scale is said twice")
	}
}

// Areas are filled with their holes left out; what is no area is a line or a dot.
func TestMapOfAreas(t *testing.T) {
	svg := Map(areas()).SVG
	colors := Uncertainty.cut()
	for _, want := range []string{
		`zm418-418l0-210l209 0l0 210z" fill="` + colors[0] + `" stroke="#ffffff"`, // the hole turns the other way
		`<path d="m1740 1483l523-523l0-523" stroke="` + colors[32] + `"`,          // a road, without its point that is near another
		`h0" stroke="` + colors[63] + `"`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s", want)
		}
	}
}

// Colours go to classes, not to amounts: those beyond the last share one.
func TestClassColors(t *testing.T) {
	m := lattice(2)
	last := len(Classes) - 1
	m.Classes, m.Values = make([]string, last+5), []float64{0, float64(last - 1), float64(last), -1}
	v := newView(m)
	for i, want := range []int{0, last - 1, last, last} {
		if got := v.color(i); got != want {
			t.Errorf("class %v has colour %d, want %d", v.Values[i], got, want)
		}
	}
	if svg := Map(m).SVG; strings.Count(svg, "<circle") != last+2 || !strings.Contains(svg, ">others<") {
		t.Error("the legend has no entry for the others")
	}
	seen := map[string]bool{}
	for _, c := range Classes {
		seen[c] = true
	}
	if len(seen) != last+1 {
		t.Errorf("%d different colours of %d", len(seen), last+1)
	}
}

// A scale bar has a round length, between a tenth and a quarter of the map.
func TestScaleBar(t *testing.T) {
	for _, v := range []float64{1e-9, 0.199, 0.2, 1, 1.9, 4.99, 5, 73, 1e9} {
		got := roundBelow(v)
		if digit := got / math.Pow(10, math.Floor(math.Log10(got*1.0001))); got > v || got < v/2.5001 || math.Abs(digit-1) > 1e-9 &&
			math.Abs(digit-2) > 1e-9 && math.Abs(digit-5) > 1e-9 {
			t.Errorf("%v for %v", got, v)
		}
	}
	m := lattice(5)
	if strings.Contains(Map(m).SVG, "km") {
		t.Error("a scale without a unit")
	}
	m.Length, m.Lengths = "km", 2000
	if !strings.Contains(Map(m).SVG, ">2000 km<") {
		t.Error("the scale does not follow the unit")
	}
}

// Paths have no more bytes than they need, and a pen comes back to where a ring began.
func TestPen(t *testing.T) {
	var p pen
	p.dot(10, 20)
	p.dot(10, 20)
	p.dot(7, 25)
	p.move(0, 0)
	p.line(5, -5)
	if got := string(p.path); got != "m10 20h0m-3 5h0m-7-25l5-5" {
		t.Error(got)
	}
}
