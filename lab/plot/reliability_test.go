package plot

import (
	"bytes"
	"fmt"
	"math"
	"testing"
)

// classPictures are pictures about classes, with odd cases among them.
func classPictures() map[string]*Picture {
	bins := make([]Bin, 15)
	for k := 5; k < 15; k++ {
		bins[k] = Bin{Count: 4 * k * k, Confidence: (float64(k) + 0.6) / 15, Accuracy: math.Min(1, (float64(k)+0.2*float64(k%4))/15)}
	}
	var x, y, class []float64
	for i := range 200 {
		a := float64(i) * 2.4
		x, y = append(x, math.Sqrt(float64(i))*math.Cos(a)), append(y, math.Sqrt(float64(i))*math.Sin(a))
		class = append(class, float64(i*14/200))
	}
	var many []string
	for i := range 30 {
		many = append(many, fmt.Sprintf("class %d", i))
	}
	return map[string]*Picture{
		"reliability":     Reliability("Can probabilities be trusted?", bins),
		"no reliability":  Reliability("Nothing", nil),
		"odd reliability": Reliability("Odd", []Bin{{Count: 1, Confidence: 1, Accuracy: 0}, {Count: 3, Confidence: math.NaN()}}),
		"classes": Map(MapData{Title: "Classes", X: x, Y: y, Values: class, Classes: many[:14], Marked: []int{1, 50, 199},
			Mark: "labelled"}),
		"one class": Map(MapData{Title: "Classes", X: x, Y: y, Values: make([]float64, 200), Classes: []string{"one"}}),
	}
}

func TestReliabilityShowsAccuracy(t *testing.T) {
	one := Reliability("r", []Bin{{Count: 100, Confidence: 0.5, Accuracy: 0.5}}).SVG()
	other := Reliability("r", []Bin{{Count: 100, Confidence: 0.5, Accuracy: 0.9}}).SVG()
	if bytes.Equal(one, other) {
		t.Error("what is right does not show")
	}
}

// Colours go to classes, not to amounts: those beyond the last share one.
func TestClassColours(t *testing.T) {
	v := newView(MapData{Values: []float64{0, float64(MaxColors - 1), float64(MaxColors), -1}, Classes: make([]string, MaxColors+1)})
	for i, want := range []int{0, MaxColors - 1, -1, -1} {
		if got := v.shade(i); got != want {
			t.Errorf("class %v has colour %d, want %d", v.Values[i], got, want)
		}
	}
	seen := map[any]bool{}
	for k := range MaxColors {
		seen[v.color(k)] = true
	}
	if len(seen) != MaxColors || v.color(-1) != faint {
		t.Errorf("%d different colours of %d", len(seen), MaxColors)
	}
}

func TestFitted(t *testing.T) {
	for name, want := range map[string]string{"Genetic_Algorithms": "Genetic_Algorithms",
		"a name that is far too long to be shown in full": "a name that is far too l…"} {
		if got := fitted(letters(lowText, ink, false), name, 100); got != want {
			t.Errorf("%q is cut to %q, want %q", name, got, want)
		}
	}
}
