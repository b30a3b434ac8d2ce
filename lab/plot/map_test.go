package plot

import (
	"math"
	"strings"
	"testing"
)

// furnished is a map with all that can be on it.
func furnished() MapData {
	m := lattice(5)
	m.Diamond, m.Other, m.Length, m.Separate = []int{7, 9}, "tested", "km", true
	m.Frame = &Frame{Name: "the centre", Left: 1, Right: 3, Low: 1, High: 3}
	return m
}

func TestMapSaysWhatIsOnIt(t *testing.T) {
	svg := string(Map(furnished()).SVG())
	for _, want := range []string{">measured<", ">tested<", ">1 km<", ">the centre<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s", want)
		}
	}
	metres := furnished()
	metres.Lengths = 2000
	if svg := string(Map(metres).SVG()); !strings.Contains(svg, ">2000 km<") {
		t.Error("the scale does not follow the unit")
	}
	bare := string(Map(MapData{X: []float64{0, 1}, Y: []float64{0, 1}, Values: []float64{0, 1}}).SVG())
	if strings.Contains(bare, "km") {
		t.Error("a scale without a unit")
	}
}

// A scale is a quarter of the map's width at most, and a tenth at least.
func TestScaleOfLengths(t *testing.T) {
	for _, v := range []float64{1e-9, 0.199, 0.2, 1, 1.9, 4.99, 5, 73, 1e9} {
		got := roundBelow(v)
		if digit := got / math.Pow(10, math.Floor(math.Log10(got*1.0001))); got > v || got < v/2.5001 || math.Abs(digit-1) > 1e-9 &&
			math.Abs(digit-2) > 1e-9 && math.Abs(digit-5) > 1e-9 {
			t.Errorf("%v for %v", got, v)
		}
	}
}

// Nodes that would hide each other are seen side by side, and all others stay.
func TestNodesAreMovedApart(t *testing.T) {
	m := MapData{Separate: true, X: []float64{0, 0, 0.001, 5, 10}, Y: []float64{0, 0, 0.001, 5, 10}, Values: make([]float64, 5)}
	v := newView(m)
	m.Separate = false
	still := newView(m)
	for i := range m.X {
		for j := range i {
			gap := v.at(i).Sub(v.at(j))
			if far := math.Hypot(float64(gap.X), float64(gap.Y)); far < 2*float64(v.radius) {
				t.Errorf("nodes %d and %d are %v points apart", j, i, far)
			}
		}
		moved := v.at(i).Sub(still.at(i))
		if far := math.Hypot(float64(moved.X), float64(moved.Y)); i > 2 && far > 0 || far > 6*float64(v.radius) {
			t.Errorf("node %d is moved by %v points", i, far)
		}
	}
}

// Looks stand above colours of classes.
func TestLooks(t *testing.T) {
	v := newView(MapData{Values: []float64{0, 1, 2}, Classes: []string{"a", "b", "c"}, Looks: []Look{Small, Plain, Strong}})
	for k, want := range []any{lookColors[Small], classColors[1], lookColors[Strong]} {
		if v.color(k) != want {
			t.Errorf("class %d has %v, want %v", k, v.color(k), want)
		}
	}
	if !(lookSizes[v.look(0)] < lookSizes[v.look(1)] && lookSizes[v.look(1)] < lookSizes[v.look(2)]) || v.look(-1) != Plain {
		t.Error("sizes are not in order")
	}
}
