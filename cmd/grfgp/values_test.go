package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"grfgp"
	"grfgp/gp"
	"grfgp/graphio"
	"grfgp/internal/testkit"
)

// lipCancer returns the files of districts and their borders.
func lipCancer(t *testing.T) (edges, districts string) {
	t.Helper()
	dir := "../../../shared/datasets/lip_cancer"
	if _, err := os.Stat(dir); err != nil {
		t.Skip("there is no shared data set of lip cancer")
	}
	return filepath.Join(dir, "edges.csv"), filepath.Join(dir, "districts.csv")
}

// TestPredictAboveZero predicts waiting times and amounts: intervals are above 0, a reading varies more than the quantity, and a value of
// 0 is refused by the name of its node.
func TestPredictAboveZero(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	edges, values := filepath.Join(dir, "edges.csv"), filepath.Join(dir, "values.csv")
	ring, rows := "from,to\n", "node,y\n"
	for i := range 40 {
		ring += fmt.Sprintf("n%d,n%d\n", i, (i+1)%40)
		if i%2 == 0 {
			rows += fmt.Sprintf("n%d,%.3f\n", i, math.Exp(math.Sin(float64(i)*math.Pi/10))*(0.6+0.1*float64(i*7%9)))
		}
	}
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(edges, ring)
	write(values, rows)
	for kind, what := range map[string]string{"duration": "mean duration", "positive": "mean"} {
		r := runLine(t, "", "predict", "--edges", edges, "--measurements", values, "--values", kind, "--family", "diffusion", "--method", "dense",
			"--scales", "one", "--roles", "none", "--trend", "none", "--variance", "natural", "--json")
		if r.code != exitOK {
			t.Fatalf("%s: %+v", kind, r)
		}
		var answer struct {
			Quantity, Reading string
			Nodes             []struct {
				Mean, Lower, Upper float64
				Low                float64 `json:"reading_lower"`
				High               float64 `json:"reading_upper"`
			}
		}
		if err := json.Unmarshal([]byte(r.out), &answer); err != nil {
			t.Fatal(err)
		}
		if answer.Quantity != what || len(answer.Nodes) != 40 {
			t.Errorf("%s: predictions of %q at %d nodes", kind, answer.Quantity, len(answer.Nodes))
		}
		for _, n := range answer.Nodes {
			if !(0 < n.Low && n.Low < n.Lower && n.Lower < n.Mean && n.Mean < n.Upper && n.Upper < n.High) {
				t.Fatalf("%s: %+v", kind, n)
			}
		}
		write(values+"0", rows+"n1,0\n")
		if r := runLine(t, "", "predict", "--edges", edges, "--measurements", values+"0", "--values", kind); r.code != exitBadData ||
			!strings.Contains(r.err, "n1") || !strings.Contains(r.err, "above 0") {
			t.Errorf("%s: a value of 0: %+v", kind, r)
		}
	}
}

// TestPredictLipCancer compares relative risks by the command line with those of
// package grfgp, and their order with what is known: district 1 has a high risk.
func TestPredictLipCancer(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	edges, districts := lipCancer(t)
	r := runLine(t, "", "predict", "--edges", edges, "--measurements", districts, "--values", "count", "--exposure", "expected", "--above",
		"1", "--roles", "none")
	if r.code != exitOK {
		t.Fatalf("%+v", r)
	}
	rows, err := csv.NewReader(strings.NewReader(r.out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if head := strings.Join(rows[0],
		","); head != "node,mean,sd,lower,upper,reading_lower,reading_upper,measured,value,n,above,exposure,quantity" {
		t.Fatalf("columns %s", head)
	}
	net, err := graphio.ReadGraph(t.Context(), graphio.File(edges), graphio.Options{})
	if err != nil {
		t.Fatal(err)
	}
	read, err := graphio.ReadMeasurements(t.Context(), graphio.File(districts), net.Graph,
		graphio.Options{Columns: map[graphio.Role]string{graphio.RoleExposure: "expected"}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := gp.DataOf(read)
	if err != nil {
		t.Fatal(err)
	}
	m, err := grfgp.Fit(t.Context(), net.Graph, d, grfgp.Spec{Values: "count", Roles: "none"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(t.Context(), net.Graph.Nodes())
	if err != nil {
		t.Fatal(err)
	}
	lower, upper := p.Interval(0.95)
	above := p.Above(1)
	for _, row := range rows[1:] {
		i, _ := net.Graph.IDs().Lookup([]byte(row[0]))
		for k, want := range map[int]float64{1: p.Mean[i], 2: p.SD[i], 3: lower[i], 4: upper[i], 10: above[i]} {
			if got, _ := strconv.ParseFloat(row[k], 64); math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("district %s: %s is %v, want %v", row[0], rows[0][k], got, want)
			}
		}
		if row[12] != "relative risk" {
			t.Errorf("district %s: %s", row[0], row[12])
		}
		if row[0] == "1" {
			mean, _ := strconv.ParseFloat(row[1], 64)
			chance, _ := strconv.ParseFloat(row[10], 64)
			if row[8] != "6.4285714" || mean < 2.5 || mean > 6.5 || chance < 0.999 { // 9 cases, 1.4 expected
				t.Errorf("district 1: %v", row)
			}
		}
	}
	for _, said := range []string{"those of the relative risk", "Poisson"} {
		if !strings.Contains(r.err, said) {
			t.Errorf("nothing said of %q in\n%s", said, r.err)
		}
	}

	// A new count at the median exposure.
	again := runLine(t, "", "predict", "--edges", edges, "--measurements", districts, "--exposure", "expected", "--json", "--roles", "none")
	var answer predictAnswer
	if err := json.Unmarshal([]byte(again.out), &answer); err != nil {
		t.Fatalf("%v in %+v", err, again)
	}
	if answer.Of != "relative risk" || answer.Reading != "count" || answer.Values != "count" || answer.Exposed != medianExposure(d) {
		t.Errorf("%s of %s values with the exposure %v", answer.Of, answer.Values, answer.Exposed)
	}
	for _, row := range answer.Nodes {
		if lower, upper, mean := row.ReadingLower, row.ReadingUpper, row.Mean*answer.Exposed; lower != math.Trunc(lower) ||
			upper != math.Trunc(upper) || lower > mean || mean > upper {
			t.Errorf("%+v", row)
		}
	}
}

// column writes a ladder with one measured value a node and returns the files.
func column(t *testing.T, head string, cell func(i int) string) (edges, measurements string) {
	t.Helper()
	edges, measurements = ladder(t)
	var m strings.Builder
	fmt.Fprintln(&m, head)
	for i := range 40 {
		fmt.Fprintf(&m, "a%d,%s\n", i, cell(i))
	}
	if err := os.WriteFile(measurements, []byte(m.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return edges, measurements
}

// TestValuesAreAsked: counts and yes-no values stop the program with the flags to go
// on; speeds in whole numbers do not.
func TestValuesAreAsked(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	for _, of := range []struct {
		name  string
		cell  func(i int) string
		flags []string // one of which is to be given; nil: nothing is asked
	}{
		{"yes and no", func(i int) string { return strconv.Itoa(i / 7 % 2) }, []string{"--values yes-no", "--values gaussian"}},
		{"counts", func(i int) string { return strconv.Itoa(i * 7 % 5) }, []string{"--values count", "--values gaussian"}},
		{"speeds", func(i int) string { return strconv.Itoa(55 + 10*(i/8%2) + i%3) }, nil},
		{"numbers", func(i int) string { return fmt.Sprint(float64(i) / 3) }, nil},
	} {
		edges, measurements := column(t, "node,value", of.cell)
		for _, verb := range [][]string{{"predict"}, {"validate", "--folds", "2"}, {"suggest", "--goal", "learn"}} {
			args := append(verb, "--edges", edges, "--measurements", measurements, "--family", "diffusion", "--roles", "none")
			r := runLine(t, "", args...)
			if (r.code == exitOK) != (of.flags == nil) {
				t.Errorf("%s of %s: %+v", verb[0], of.name, r)
			}
			for _, flag := range of.flags {
				if !strings.Contains(r.err, flag) {
					t.Errorf("%s of %s: no %q in %s", verb[0], of.name, flag, r.err)
				}
				if r := runLine(t, "", append(args, strings.Fields(flag)...)...); r.code != exitOK {
					t.Errorf("%s of %s with %s: %+v", verb[0], of.name, flag, r)
				}
			}
		}
	}
}

// TestShares: positives among tested are probabilities, also from a saved model.
func TestShares(t *testing.T) {
	t.Parallel()
	edges, measurements := column(t, "node,positive,tested", func(i int) string { return fmt.Sprintf("%d,%d", i/8+i%2, 6+i%3) })
	model := filepath.Join(t.TempDir(), "m")
	r := runLine(t, "", "predict", "--edges", edges, "--measurements", measurements, "--tested", "tested", "--family", "diffusion", "--roles",
		"none", "--save-model", model, "--json", "--above", "0.5")
	var first, second predictAnswer
	if err := json.Unmarshal([]byte(r.out), &first); err != nil {
		t.Fatalf("%v in %+v", err, r)
	}
	r = runLine(t, "", "predict", "--edges", edges, "--model", model, "--json", "--above", "0.5")
	if err := json.Unmarshal([]byte(r.out), &second); err != nil {
		t.Fatalf("%v in %+v", err, r)
	}
	for k, row := range first.Nodes {
		if row.Lower < 0 || row.Upper > 1 || row.Mean != second.Nodes[k].Mean || *row.Above != *second.Nodes[k].Above ||
			row.Upper != second.Nodes[k].Upper {
			t.Errorf("%+v, from the saved model %+v", row, second.Nodes[k])
		}
	}
	if first.Of != "probability" || second.Of != "probability" || first.Nodes[0].Value == nil || *first.Nodes[0].Value != 0 {
		t.Errorf("%s, %+v", first.Of, first.Nodes[0])
	}
}

// TestTransformFlag: the median is the exponential of that of logarithms, and a value
// of 0 is refused by its node.
func TestTransformFlag(t *testing.T) {
	t.Parallel()
	value := func(i int) float64 { return math.Exp(1 + math.Sin(float64(i)/6) + 0.1*math.Cos(float64(5*i))) }
	edges, logs := column(t, "node,value", func(i int) string { return fmt.Sprint(math.Log(value(i))) })
	_, values := column(t, "node,value", func(i int) string { return fmt.Sprint(value(i)) })
	run := func(args ...string) (answer predictAnswer) {
		r := runLine(t, "", append([]string{"predict", "--edges", edges, "--json", "--family", "diffusion", "--roles", "none"}, args...)...)
		if err := json.Unmarshal([]byte(r.out), &answer); err != nil {
			t.Fatalf("%v in %+v", err, r)
		}
		return answer
	}
	onLogs, answer := run("--measurements", logs), run("--measurements", values, "--transform", "log")
	for k, row := range answer.Nodes {
		if want := math.Exp(onLogs.Nodes[k].Lower); math.Abs(row.Lower-want) > 1e-6*want || !(row.Mean > math.Exp(onLogs.Nodes[k].Mean)) {
			t.Errorf("%+v, of logarithms %+v", row, onLogs.Nodes[k])
		}
	}
	edges, zero := column(t, "node,value", func(i int) string { return fmt.Sprint(float64(i) / 3) })
	if r := runLine(t, "", "predict", "--edges", edges, "--measurements", zero, "--transform", "log"); r.code == exitOK ||
		!strings.Contains(r.err, "--transform log1p") || !strings.Contains(r.err, "a0") {
		t.Errorf("%+v", r)
	}
	for _, bad := range []string{"--values count --transform log", "--values share", "--exposure x --tested y",
		"--values yes-no --exposure x"} {
		if r := runLine(t, "", append([]string{"predict", "--edges", edges, "--measurements", zero},
			strings.Fields(bad)...)...); r.code != exitUsage {
			t.Errorf("%s: %+v", bad, r)
		}
	}
}
