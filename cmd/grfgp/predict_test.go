package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grfgp/internal/testkit"
	"grfgp/report"
)

// ladder writes a graph of 40 rungs and readings on every other node of one side.
func ladder(t testing.TB) (edges, measurements string) {
	t.Helper()
	var e, m strings.Builder
	e.WriteString("source,target\n")
	m.WriteString("node,value\n")
	for i := range 40 {
		fmt.Fprintf(&e, "a%d,b%d\n", i, i)
		if i > 0 {
			fmt.Fprintf(&e, "a%d,a%d\nb%d,b%d\n", i-1, i, i-1, i)
		}
		if i%2 == 0 {
			fmt.Fprintf(&m, "a%d,%g\n", i, 10+3*math.Sin(float64(i)/6)+0.1*math.Cos(float64(5*i)))
		}
	}
	e.WriteString("x,y\n") // a component without readings
	dir := t.TempDir()
	edges, measurements = filepath.Join(dir, "e.csv"), filepath.Join(dir, "m.csv")
	for path, text := range map[string]string{edges: e.String(), measurements: m.String()} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return edges, measurements
}

func TestPredict(t *testing.T) {
	t.Parallel()
	edges, measurements := ladder(t)
	r := runLine(t, "", "predict", "--edges", edges, "--measurements", measurements, "-v")
	if r.code != exitOK {
		t.Fatalf("%+v", r)
	}
	rows, err := csv.NewReader(strings.NewReader(r.out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(rows[0], ","); got != "node,mean,sd,lower,upper,reading_lower,reading_upper,measured,value,n" || len(rows) != 83 {
		t.Errorf("%d rows under %s", len(rows), got)
	}
	if rows[1][0] != "a0" || rows[1][7] != "true" || rows[1][9] != "1" || rows[2][0] != "b0" || rows[2][7] != "false" || rows[2][8] != "" {
		t.Errorf("first rows %v", rows[1:3])
	}
	for _, said := range []string{"exact solver: ", "components without a measurement: 1, with 2 nodes"} {
		if !strings.Contains(r.err, said) {
			t.Errorf("nothing said of %q in\n%s", said, r.err)
		}
	}
}

// A kept model gives the same file, needs no measurements, and belongs to its
// graph.
// A power series and the raw Laplacian can be asked for, and are said.
func TestPredictKernels(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	edges, measurements := ladder(t)
	for flags, said := range map[string]string{
		"--family power --alpha 1,0.8,0.5,0.2 --scales one":         "power series, method dense",
		"--family power --alpha 1,0.8 --method grf --scales one":    "power series, method grf",
		"--family diffusion --laplacian raw --scales one":           "diffusion, raw Laplacian, method dense",
		"--laplacian raw --method series --family matern --nu 2":    "matern, ν = 2, raw Laplacian, method series",
		"--laplacian normalized --family diffusion --method series": "diffusion, method series",
	} {
		line := append([]string{"predict", "--edges", edges, "--measurements", measurements}, strings.Fields(flags)...)
		if r := runLine(t, "", line...); r.code != exitOK || !strings.Contains(r.err, said) {
			t.Errorf("%s: %+v, want %q", flags, r, said)
		}
	}
	for flags, said := range map[string]string{
		"--alpha 1,2":                   "--alpha needs --family power",
		"--family power":                "such as --alpha 1,0.5,0.25",
		"--family power --alpha 1,2":    "not negative between −1 and 1",
		"--family power --alpha 0,1":    "α_0",
		"--family power --alpha 1,x":    "--alpha",
		"--laplacian signed":            "give auto, normalized, raw",
		"--family power --alpha 1,-inf": "α_1",
	} {
		line := append([]string{"predict", "--edges", edges, "--measurements", measurements}, strings.Fields(flags)...)
		if r := runLine(t, "", line...); r.code != exitUsage || !strings.Contains(r.err, said) {
			t.Errorf("%s: %+v, want %q", flags, r, said)
		}
	}
}

func TestPredictFromAModel(t *testing.T) {
	t.Parallel()
	edges, measurements := ladder(t)
	dir := t.TempDir()
	model := filepath.Join(dir, "m.model")
	fitted := runLine(t, "", "predict", "--edges", edges, "--measurements", measurements, "--save-model", model)
	loaded := runLine(t, "", "predict", "--edges", edges, "--model", model)
	if fitted.code != exitOK || loaded.code != exitOK || fitted.out != loaded.out {
		t.Errorf("exit %d and %d, same output: %v\n%s", fitted.code, loaded.code, fitted.out == loaded.out, loaded.err)
	}
	if r := runLine(t, "", "predict", "--generate", "ring:82", "--model", model); r.code != exitBadData ||
		!strings.Contains(r.err, "another graph") {
		t.Errorf("%+v", r)
	}
	if r := runLine(t, "", "predict", "--edges", edges, "--model", measurements); r.code != exitBadData {
		t.Errorf("%+v", r)
	}
}

// A saved model takes other measurements, in place of its own or in addition, with the
// hyperparameters that it has: added one by one they are as if given at once.
func TestPredictFromAModelWithMeasurements(t *testing.T) {
	t.Parallel()
	edges, measurements := ladder(t)
	dir := t.TempDir()
	model, more := filepath.Join(dir, "m.model"), filepath.Join(dir, "more.model")
	if r := runLine(t, "", "predict", "--edges", edges, "--measurements", measurements, "--save-model", model); r.code != exitOK {
		t.Fatalf("%+v", r)
	}
	saved := runLine(t, "", "predict", "--edges", edges, "--model", model)
	same := runLine(t, "", "predict", "--edges", edges, "--model", model, "--measurements", measurements)
	if same.code != exitOK || same.out != saved.out ||
		!strings.Contains(same.err, "conditioning: on 20 measurements of "+measurements+"; hyperparameters as learned from 20 measurements") {
		t.Errorf("its own measurements give other predictions: %+v", same)
	}
	first, second := write(t, dir, "1.csv", "node,value\nb1,11\nb5,12\n"), write(t, dir, "2.csv", "node,value\nb9,14\nb1,11.5\n")
	both := write(t, dir, "12.csv", "node,value\nb1,11.5\nb9,14\nb1,11\nb5,12\n")
	atOnce := runLine(t, "", "predict", "--edges", edges, "--model", model, "--measurements", both)
	if r := runLine(t, "", "predict", "--edges", edges, "--model", model, "--measurements", first, "--save-model", more); r.code != exitOK ||
		r.out == saved.out {
		t.Fatalf("%+v", r)
	}
	after := runLine(t, "", "predict", "--edges", edges, "--model", more, "--measurements", second, "--add")
	if after.code != exitOK || after.out != atOnce.out {
		t.Errorf("one file after another gives\n%s\nboth give\n%s", after.out, atOnce.out)
	}
	if want := "conditioning: on 2 measurements of the model and 2 measurements of " + second +
		"; hyperparameters as learned from 20 measurements"; !strings.Contains(after.err, want) {
		t.Errorf("nothing said of %q in\n%s", want, after.err)
	}
	rows, err := csv.NewReader(strings.NewReader(after.out)).ReadAll()
	if err != nil || len(rows) != 83 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, row := range rows[1:] {
		if row[0] == "a0" && row[7] != "false" || row[0] == "b1" && (row[8] != "11.25" || row[9] != "2") {
			t.Errorf("%v", row)
		}
	}
	sds, other := write(t, dir, "sd.csv", "node,value,sd\nb1,11,0.5\n"), write(t, dir, "other.csv", "node,value\nq,11\n")
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{exitUsage, "--add is for measurements in addition to those of --model", []string{"--measurements", measurements, "--add"}},
		{exitUsage, "--add: give the measurements to add", []string{"--model", model, "--add"}},
		{exitUsage, "leave out --values", []string{"--model", model, "--measurements", first, "--values", "count"}},
		{exitUsage, "is one of gaussian values", []string{"--model", model, "--measurements", first, "--tested", "value"}},
		{exitUsage, "leave out --repeats", []string{"--model", model, "--repeats", "keep"}},
		{exitUsage, "has no time", []string{"--model", model, "--measurements", first, "--time", "auto"}},
		{exitBadData, "either all have sds or none", []string{"--model", model, "--measurements", sds, "--add"}},
		{exitBadData, "other.csv", []string{"--model", model, "--measurements", other}},
	} {
		if r := runLine(t, "", append([]string{"predict", "--edges", edges}, c.args...)...); r.code != c.code ||
			!strings.Contains(r.err, c.want) {
			t.Errorf("%q: %+v", c.want, r)
		}
	}
	if r := runLine(t, "", "predict", "--generate", "ring:82", "--model", model, "--measurements",
		write(t, dir, "ring.csv", "node,value\n1,2\n")); r.code != exitBadData || !strings.Contains(r.err, "another graph") {
		t.Errorf("%+v", r)
	}
}

func TestPredictJSON(t *testing.T) {
	t.Parallel()
	edges, measurements := ladder(t)
	r := runLine(t, "", "predict", "--edges", edges, "--measurements", measurements, "--json", "--solver", "iterative", "--method", "grf")
	var answer predictAnswer
	if err := json.Unmarshal([]byte(r.out), &answer); r.code != exitOK || err != nil {
		t.Fatalf("%v %+v", err, r)
	}
	if answer.Version != 1 || answer.Of != "value" || answer.Reading != "value" || answer.Measurements != 20 || answer.LearnedFrom != 20 ||
		len(answer.Nodes) != 82 || answer.Choice.Fit.Solver.String() != "iterative" {
		t.Errorf("%+v", answer.Choice)
	}
}

func TestPredictRefuses(t *testing.T) {
	t.Parallel()
	edges, measurements := ladder(t)
	constant := filepath.Join(t.TempDir(), "c.csv")
	if err := os.WriteFile(constant, []byte("node,value\na0,1\na1,1\na2,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{exitUsage, "no measurements", []string{"--edges", edges}},
		{exitBadData, "all values are 1", []string{"--edges", edges, "--measurements", constant}},
		{exitUsage, "--level", []string{"--edges", edges, "--measurements", measurements, "--level", "2"}},
		{exitUsage, "grfgp: --nu 2: give a number > 0, together with --family matern",
			[]string{"--edges", edges, "--measurements", measurements, "--nu", "2"}},
		{exitUsage, "grfgp: --noise-sd -1: give 0 or more", []string{"--edges", edges, "--measurements", measurements, "--noise-sd", "-1"}},
		{exitUsage, "grfgp: --rank -1: give 1 or more", []string{"--edges", edges, "--measurements", measurements, "--rank", "-1"}},
		{exitUsage, "note: --hops 3 has no effect with --method dense",
			[]string{"--edges", edges, "--measurements", measurements, "--method", "dense", "--hops", "3", "--nu", "1"}},
		{exitUsage, "--family", []string{"--edges", edges, "--measurements", measurements, "--family", "rbf"}},
	} {
		r := runLine(t, "", append([]string{"predict"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.err, c.want) || r.out != "" {
			t.Errorf("%v: exit %d, %q; want exit %d and %q", c.args, r.code, r.err, c.code, c.want)
		}
	}
}

func TestValidateVerb(t *testing.T) {
	t.Parallel()
	edges, measurements := ladder(t)
	for _, scheme := range []string{"scattered", "neighbourhoods"} {
		r := runLine(t, "", "validate", "--edges", edges, "--measurements", measurements, "--folds", "4", "--leave-out", scheme)
		for _, want := range []string{"this model", "overall mean", "nearest measured node", "harmonic interpolation", "by 95 % intervals"} {
			if r.code != exitOK || !strings.Contains(r.out, want) {
				t.Errorf("%s: exit %d, no %q in\n%s%s", scheme, r.code, want, r.out, r.err)
			}
		}
	}
	if r := runLine(t, "", "validate", "--edges", edges, "--measurements", measurements, "--leave-out", "some"); r.code != exitUsage {
		t.Errorf("%+v", r)
	}
}

// What is left out is named by its id, and what came of it is said in words.
func TestValidateJSON(t *testing.T) {
	t.Parallel()
	edges, measurements := ladder(t)
	text, err := os.ReadFile(edges)
	if err != nil {
		t.Fatal(err)
	}
	base := []string{"validate", "--edges", edges, "--measurements", measurements, "--folds", "2", "--family", "diffusion"}
	r := runLine(t, "", append(base, "--json")...)
	var answer struct {
		Left []struct {
			Node  string
			Value float64
			SD    float64
		}
		Headline report.Headline
		Verdict  []string
	}
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil || len(answer.Left) != 20 || answer.Left[0].SD <= 0 {
		t.Fatalf("%v %+v", err, r)
	}
	for _, l := range answer.Left {
		if !strings.Contains(string(text), l.Node+",") {
			t.Errorf("%q is no id of the edges", l.Node)
		}
	}
	if len(answer.Verdict) != 4 || !strings.HasPrefix(answer.Verdict[0], "The error (RMSE) at held-out measurements is ") {
		t.Errorf("verdict %q", answer.Verdict)
	}
	if r := runLine(t, "", base...); !strings.HasSuffix(r.out, "\n\n"+
		strings.Join(append(headlineLines(answer.Headline), answer.Verdict[1:]...), "\n")+"\n") {
		t.Errorf("no verdict in\n%s", r.out)
	}
}

// Readings that are joined are told of, and flags that would do nothing are none.
func TestMeasurementNotes(t *testing.T) {
	t.Parallel()
	edges, measurements := ladder(t)
	text, err := os.ReadFile(measurements)
	if err != nil {
		t.Fatal(err)
	}
	twice := write(t, t.TempDir(), "m.csv", string(text)+"a0,11\n")
	for _, verb := range []string{"predict", "validate"} {
		r := runLine(t, "", verb, "--edges", edges, "--measurements", twice, "--family", "diffusion")
		if r.code != exitOK || !strings.Contains(r.err, "repeated measurements of a node: 1; the mean") {
			t.Errorf("%s: %+v", verb, r)
		}
	}
	for _, verb := range []string{"validate", "study create s --goal learn --store s.db"} {
		args := append(strings.Fields(verb), "--edges", edges, "--measurements", twice, "--level", "0.5")
		if r := runLine(t, "", args...); r.code != exitUsage || !strings.Contains(r.err, "unknown flag: --level") {
			t.Errorf("%s: %+v", verb, r)
		}
	}
}

// Verbs say where they wrote.
func TestWhereItIs(t *testing.T) {
	t.Parallel()
	edges, measurements := ladder(t)
	dir := t.TempDir()
	labels := write(t, dir, "l.csv", "node,class\na0,x\na1,x\nb30,y\nb31,y\n")
	for line, want := range map[string]string{
		"predict --family diffusion --measurements " + measurements:                              "the predictions are in ",
		"suggest --goal learn --policy random --family diffusion --measurements " + measurements: "the suggestions are in ",
		"classify --classifier spreading --family matern --labels " + labels:                     "the classes are in ",
		"classify --classifier spreading --family matern --quiet=false --hops 2 --labels " +
			labels: "note: --family has no effect with --classifier spreading\nnote: --hops has no effect",
	} {
		out := filepath.Join(dir, "out.csv")
		r := runLine(t, "", append(strings.Fields(line), "--edges", edges, "-o", out)...)
		if r.code != exitOK || !strings.Contains(r.err, want) || !strings.Contains(r.err, out) {
			t.Errorf("%s: %+v", line, r)
		}
	}
}
