package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// reportFiles writes a path of n nodes, whose first id is a trap, with values
// at every second node.
func reportFiles(t testing.TB, n int) (edges, measurements string) {
	t.Helper()
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("n%d", i)
	}
	ids[0] = evilID
	var e, m strings.Builder
	e.WriteString("source\ttarget\n")
	m.WriteString("node\tlevel </text><b>\n")
	for i := range n {
		if i+1 < n {
			fmt.Fprintf(&e, "%s\t%s\n", ids[i], ids[i+1])
		}
		if i%2 == 0 {
			fmt.Fprintf(&m, "%s\t%.4f\n", ids[i], math.Sin(float64(i)/4)+0.1*math.Cos(float64(i*i)))
		}
	}
	dir := t.TempDir()
	edges, measurements = filepath.Join(dir, "e.tsv"), filepath.Join(dir, "m.tsv")
	for path, text := range map[string]string{edges: e.String(), measurements: m.String()} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return edges, measurements
}

const evilID = `<script>alert('x')</script>"&`

func runReport(t testing.TB, args ...string) (page string, r result) {
	t.Helper()
	edges, measurements := reportFiles(t, 40)
	out := filepath.Join(t.TempDir(), "r.html")
	r = runLine(t, "", append([]string{"report", "--edges", edges, "--measurements", measurements, "--column", "value=2", "-o", out},
		args...)...)
	if r.code != exitOK {
		t.Fatalf("%+v", r)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), r
}

func TestReportHoldsEverything(t *testing.T) {
	t.Parallel()
	page, r := runReport(t, "--folds", "4", "--title", "Levels & more", "--unit", "m", "--seed", "5")
	for _, want := range []string{
		`<h1>Levels &amp; more</h1>`, `id="maps"`, `id="uncertain"`, `id="validation"`, `id="residuals"`, `id="model"`, `id="read"`,
		`id="settings"`,
		"40 lines = 1 header + 39 edges", "21 lines = 1 header + 20 rows", // ledgers
		"Predicted mean", "Standard deviation", "connected nodes are drawn close together",
		`id="verdict"`, "Can I trust it?", "Too early to tell.", "20 measurements are too few to tell", `id="highest"`, `id="lowest"`,
		`id="table"`,
		"nearest measured node", "Coverage of intervals", "Probability integral transform (PIT)", "Predicted against measured",
		"log marginal likelihood", "4 folds, scattered", "<dt>seed</dt><dd>5: it determines", programName(),
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the report", want)
		}
	}
	if rows := strings.Count(page, "<bdi>"); rows != 40 {
		t.Errorf("%d rows of nodes, want %d", rows, 40)
	}
	if !strings.Contains(r.out, "r.html") {
		t.Errorf("where is it? %q", r.out)
	}
}

// A report opens offline and runs nothing but its own script, whatever ids are.
func TestReportIsSelfContainedAndEscaped(t *testing.T) {
	t.Parallel()
	page, _ := runReport(t, "--folds", "4")
	if strings.Count(page, "<script") != 2 || strings.Count(page, "</script") != 2 || strings.Contains(page, "</text><b>") {
		t.Error("text from a file became markup")
	}
	if strings.Count(page, "script-src 'sha256-") != 1 {
		t.Error("any script may run")
	}
	if !strings.Contains(page, "&lt;script&gt;alert(") {
		t.Error("the first node is not among the least known")
	}
	for _, outside := range regexp.MustCompile(`(?i)(src|href|url|@import)\s*[=(]?\s*["']?\s*(https?:)?//`).FindAllString(page, -1) {
		t.Errorf("the report points outside: %s", outside)
	}
	svg := regexp.MustCompile(`(?s)<svg .*?</svg>`).FindAllString(page, -1)
	if len(svg) != 6 {
		t.Errorf("%d pictures, want 6", len(svg))
	}
	for _, s := range svg {
		dec := xml.NewDecoder(strings.NewReader(s))
		for {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("a picture is no XML: %v", err)
				break
			}
		}
	}
}

func TestReportIsTheSameBytes(t *testing.T) {
	edges, measurements := reportFiles(t, 40)
	pages := map[string][]byte{}
	for _, threads := range []string{"1", "4"} {
		out := filepath.Join(t.TempDir(), "r.html")
		r := runLine(t, "", "report", "--edges", edges, "--measurements", measurements, "--column", "value=2", "-o", out, "--folds", "3",
			"--threads", threads)
		if r.code != exitOK {
			t.Fatalf("%+v", r)
		}
		pages[threads], _ = os.ReadFile(out)
	}
	if !bytes.Equal(pages["1"], pages["4"]) {
		t.Error("the report depends on the number of threads")
	}
}

func TestReportWithoutValidation(t *testing.T) {
	t.Parallel()
	page, r := runReport(t, "--folds", "0", "--json")
	if !strings.Contains(page, "No validation was made") || strings.Contains(page, "Coverage of intervals") {
		t.Error("there is a validation nobody asked for")
	}
	var answer reportAnswer
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil || answer.Version != 1 || answer.Nodes != 40 || answer.RMSE != nil ||
		len(answer.Uncertain) != 10 {
		t.Errorf("%v, %+v", err, answer)
	}
}

func TestReportUsage(t *testing.T) {
	t.Parallel()
	edges, measurements := reportFiles(t, 40)
	for flag, want := range map[string]string{"--folds=1": "--folds 1", "--leave-out=all": "scattered", "--level=2": "--level 2",
		"--centre=zero": "--centre zero: give a number, auto or none"} {
		out := filepath.Join(t.TempDir(), "r.html")
		r := runLine(t, "", "report", "--edges", edges, "--measurements", measurements, "-o", out, flag)
		if _, err := os.Stat(out); r.code != exitUsage || !strings.Contains(r.err, want) || err == nil {
			t.Errorf("%s: %+v", flag, r)
		}
	}
}

// With --fast the model is learned once: the report says so, and differs little.
func TestReportFast(t *testing.T) {
	t.Parallel()
	slow, _ := runReport(t, "--folds", "4", "--family", "diffusion")
	fast, r := runReport(t, "--folds", "4", "--family", "diffusion", "--fast", "--json")
	const note = "Kernel and hyperparameters were learned once, from all values"
	if strings.Contains(slow, note) || !strings.Contains(fast, note) {
		t.Error("who learned once?")
	}
	var answer struct{ RMSE float64 }
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil || !(answer.RMSE > 0 && answer.RMSE < 0.7) {
		t.Errorf("%v, %+v", err, answer)
	}
}

// Colours diverge from zero where values have both signs, or as asked.
func TestReportCentre(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "Colours diverge from 0."},
		{[]string{"--centre", "0.25"}, "Colours diverge from 0.25."},
		{[]string{"--centre", "none"}, ""},
	} {
		page, _ := runReport(t, append(c.args, "--folds", "0", "--family", "diffusion")...)
		if got := regexp.MustCompile(`Colours diverge from [0-9.]*`).FindString(page); got != c.want {
			t.Errorf("%v: %q, want %q", c.args, got, c.want)
		}
	}
}
