package experiment

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"grfgp/lab/plot"
)

// Exponents are drawn with their intervals, and every name is in the legend once.
func TestGrowthShowsExponents(t *testing.T) {
	var rows Rows
	for k, n := range []float64{1024, 2048, 4096, 8192} {
		wiggle := 1 + 0.1*float64(k%2)
		for arm, power := range map[string]float64{denseArm: 2, featuresArm: 1} {
			cost := wiggle * math.Pow(n/1024, power)
			rows = append(rows, Row{"arm": arm, "nodes": n, "seed": 1, "stored_mb": cost, "init_seconds": cost, "training_seconds": cost,
				"inference_seconds": cost, "rmse": 0.5})
		}
	}
	svg := string(ringFigure(rows).SVG())
	if n := len(regexp.MustCompile(`>[012]\.\d\d ± \d\.\d\d<`).FindAllString(svg, -1)); n != 2*len(ringCosts) {
		t.Errorf("%d exponents with intervals", n)
	}
	for name, want := range map[string]int{"dense": 1, "dense, paper": 1, "sparse features": 1, "sparse features, paper": 1,
		"clean: many scales": 0} {
		if n := strings.Count(svg, ">"+name+"<"); n != want {
			t.Errorf("%s is %d times in the legend", name, n)
		}
	}
}

// An unfinished run has the figures of its finished parts.
func TestFiguresOfAPart(t *testing.T) {
	rows := Rows{{"check": "concentration", "graph": "grid", "quantity": deviation, "nodes": 900, "walks": 4, "observed": 0.1, "bound": 5.0}}
	s, err := showTheory(Options{}, &Results{Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range s.Figures {
		names = append(names, f.Name)
	}
	if !slices.Equal(names, []string{"theorem1"}) {
		t.Errorf("figures %v", names)
	}
}

// A reference slope is below all lines at large sizes.
func TestSlopes(t *testing.T) {
	lines := []plot.Line{{X: []float64{100, 1000, 10_000}, Y: []float64{1, 20, 300}}, {X: []float64{10, 20_000}, Y: []float64{1e-9, 150}}}
	for _, power := range []float64{1, lemma1} {
		s := slope(lines, power, "s", plot.Dotted)
		if s.X[1] != 20_000 || s.Y[1] >= 150 || math.Abs(math.Log10(s.Y[1]/s.Y[0])-power*math.Log10(s.X[1]/s.X[0])) > 1e-9 {
			t.Errorf("slope %v: %v, %v", power, s.X, s.Y)
		}
	}
	if s := slope(nil, 1, "s", plot.Dotted); s.X != nil {
		t.Error("a slope beside nothing")
	}
}

// The paper's curve has the colour of ours; a method without walks is a horizontal line.
func TestLinesOverWalks(t *testing.T) {
	rows := Rows{{"arm": learnableArm, "walks": 64, "rmse": 1.0}, {"arm": learnableArm, "walks": 128, "rmse": 0.9},
		{"arm": autoArm, "walks": 0, "rmse": 0.5}}
	lines := walkLines(rows, "rmse", []float64{64, 128}, []float64{1.1, 1}, []float64{1.2, 1.1})
	if len(lines) != 4 || lines[1].Like != lines[0].Name || lines[3].Like != lines[2].Name || lines[0].Like != "" ||
		lines[1].Dash != plot.Dashed || len(lines[2].X) != 0 {
		t.Errorf("%+v", lines)
	}
	if l := level(rows.Where("arm", autoArm), "auto", "rmse"); !l.Level || !slices.Equal(l.Y, []float64{0.5}) {
		t.Errorf("%+v", l)
	}
}
