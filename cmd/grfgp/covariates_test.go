package main

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grfgp"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
)

// roads is a grid of 12 × 12 nodes with a node table, and values that rise by 2 with each
// lane and vary smoothly over the grid.
type roads struct {
	dir, edges, nodes, measurements, labels string
	lanes, values                           []float64
}

func newRoads(t testing.TB, extra func(i int) string, header string) *roads {
	t.Helper()
	const side = 12
	r := &roads{dir: t.TempDir()}
	draw := rand.New(rng.New(7, "roads of a test"))
	var e, n, m, l strings.Builder
	e.WriteString("source,target\n")
	fmt.Fprintf(&n, "id,lanes,kind%s\n", header)
	m.WriteString("node,volume\n")
	l.WriteString("node,class\n")
	for i := range side * side {
		row, col := i/side, i%side
		if col > 0 {
			fmt.Fprintf(&e, "n%d,n%d\n", i-1, i)
		}
		if row > 0 {
			fmt.Fprintf(&e, "n%d,n%d\n", i-side, i)
		}
		lanes := float64(1 + draw.IntN(4))
		value := 5 + 2*lanes + math.Sin(float64(row)/3) + 0.3*draw.NormFloat64()
		r.lanes, r.values = append(r.lanes, lanes), append(r.values, value)
		fmt.Fprintf(&n, "n%d,%g,%s", i, lanes, []string{"urban", "rural"}[i*7%5%2])
		if extra != nil {
			n.WriteString(extra(i))
		}
		n.WriteByte('\n')
		if i%2 == 0 {
			fmt.Fprintf(&m, "n%d,%.6g\n", i, value)
			fmt.Fprintf(&l, "n%d,%s\n", i, map[bool]string{true: "wide", false: "narrow"}[lanes > 2])
		}
	}
	r.edges, r.nodes = r.file(t, "e.csv", e.String()), r.file(t, "n.csv", n.String())
	r.measurements, r.labels = r.file(t, "m.csv", m.String()), r.file(t, "l.csv", l.String())
	return r
}

func (r *roads) file(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// predict runs predict with the node table and other flags.
func (r *roads) predict(t testing.TB, flags ...string) result {
	t.Helper()
	return runLine(t, "", append([]string{"predict", "--edges", r.edges, "--nodes", r.nodes, "--measurements", r.measurements, "--family",
		"diffusion", "--scales", "one", "--roles", "none"}, flags...)...)
}

// Columns are used if the user asks for them; otherwise the program says that they could
// be.
func TestPredictCovariates(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	r := newRoads(t, nil, "")
	without := r.predict(t, "--json")
	if without.code != exitOK || !strings.Contains(without.err, "columns not used: lanes, kind; --covariates all uses them") {
		t.Fatalf("%+v", without)
	}
	with := r.predict(t, "--json", "--covariates", "all")
	if with.code != exitOK || strings.Contains(with.err, "not used: lanes") {
		t.Fatalf("%+v", with)
	}
	if a, b := r.rmse(t, without.out), r.rmse(t, with.out); b > a/3 {
		t.Errorf("error %.3g with covariates, %.3g without", b, a)
	}
	var answer predictAnswer
	if err := json.Unmarshal([]byte(with.out), &answer); err != nil || answer.Known == nil {
		t.Fatalf("%v: no covariates in the answer", err)
	}
	if got := strings.Join(answer.Known.Columns, ","); got != "lanes,kind" {
		t.Errorf("columns %s", got)
	}
	if e := answer.Effects; e == nil || len(e.Columns) != 2 || e.Columns[0].Column != "lanes" || !e.Columns[0].Clear() ||
		e.Columns[1].Clear() || len(e.Parts) != 3 {
		t.Errorf("effects %+v", e)
	}
	for _, said := range []string{"diffusion + covariates, method dense", "volume rises with lanes: +", "from 1 to 4",
		"no clear effect of kind=", "shares of the variation: all columns together "} {
		if !strings.Contains(with.err, said) {
			t.Errorf("nothing said of %q in\n%s", said, with.err)
		}
	}
	const used, unused = "fitting: diffusion + covariates", "the covariates do not improve the likelihood, so the model leaves them out"
	one := r.predict(t, "--json", "--covariates", "kind")
	if strings.Contains(with.err, unused) || strings.Contains(one.err, unused) == strings.Contains(one.err, used) {
		t.Errorf("%s\n%s", with.err, one.err)
	}
	if a, b := r.rmse(t, with.out), r.rmse(t, one.out); a > b/2 {
		t.Errorf("the column kind alone has an error of %.3g, all columns %.3g", b, a)
	}
}

// rmse is the error at nodes without a measurement.
func (r *roads) rmse(t testing.TB, out string) float64 {
	t.Helper()
	var answer predictAnswer
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatal(err)
	}
	sum, n := 0.0, 0.0
	for _, row := range answer.Nodes {
		var i int
		if _, err := fmt.Sscanf(row.Node, "n%d", &i); err == nil && !row.Measured && i < len(r.values) {
			sum, n = sum+(row.Mean-r.values[i])*(row.Mean-r.values[i]), n+1
		}
	}
	return math.Sqrt(sum / n)
}

// A saved model names the columns that it needs, and finds them in the node table.
func TestPredictCovariatesSaved(t *testing.T) {
	t.Parallel()
	r := newRoads(t, func(i int) string { return fmt.Sprintf(",%d", i*i%17) }, ",other")
	model := filepath.Join(r.dir, "model")
	fitted := r.predict(t, "--covariates", "lanes,kind", "--save-model", model)
	if fitted.code != exitOK {
		t.Fatalf("%+v", fitted)
	}
	again := runLine(t, "", "predict", "--edges", r.edges, "--nodes", r.nodes, "--model", model)
	if again.code != exitOK || again.out != fitted.out {
		t.Errorf("exit %d, other predictions; %s", again.code, again.err)
	}
	for name, c := range map[string]struct{ nodes, said string }{
		"no table":      {"", "uses columns of the node table (lanes, kind); give --nodes FILE"},
		"other table":   {r.file(t, "other.csv", "id,lane\nn0,1\nn1,2\nn2,5\n"), `there is no column "lanes"; did you mean "lane"?`},
		"other columns": {r.file(t, "changed.csv", "id,lanes,kind\nn0,1,urban\nn1,2,urban\nn2,5,rural\nn3,1,rural\n"), "with other covariates"},
	} {
		line := []string{"predict", "--edges", r.edges, "--model", model}
		if c.nodes != "" {
			line = append(line, "--nodes", c.nodes)
		}
		if got := runLine(t, "", line...); got.code == exitOK || !strings.Contains(got.err, c.said) {
			t.Errorf("%s: %+v, want %q", name, got, c.said)
		}
	}
	if got := runLine(t, "", "predict", "--edges", r.edges, "--nodes", r.nodes, "--model", model, "--covariates",
		"all"); got.code != exitUsage {
		t.Errorf("--model with --covariates: %+v", got)
	}
}

// The column to be predicted is no covariate, whether it is in the node table under its
// own name or the node table is the file of measurements.
func TestCovariatesTarget(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	r := newRoads(t, func(i int) string { return fmt.Sprintf(",%d", i) }, ",Volume")
	got := r.predict(t, "--covariates", "all", "--json")
	if got.code != exitOK || !strings.Contains(got.err, "left out, because it is to be predicted: Volume") {
		t.Errorf("%+v", got)
	}
	var answer predictAnswer
	if err := json.Unmarshal([]byte(got.out), &answer); err != nil || len(answer.Known.LeftOut) != 1 ||
		strings.Join(answer.Known.Columns, ",") != "lanes,kind" {
		t.Errorf("%v: %+v", err, answer.Known)
	}
	if got := r.predict(t, "--covariates", "Volume"); got.code != exitUsage ||
		!strings.Contains(got.err, `"Volume" is what is to be predicted; leave it out`) {
		t.Errorf("%+v", got)
	}

	var one strings.Builder
	one.WriteString("id,lanes,speed\n")
	for i, v := range r.values {
		text := ""
		if i%2 == 0 {
			text = fmt.Sprintf("%.6g", v)
		}
		fmt.Fprintf(&one, "n%d,%g,%s\n", i, r.lanes[i], text)
	}
	r.nodes = r.file(t, "one.csv", one.String())
	r.measurements = r.nodes
	got = r.predict(t, "--covariates", "all", "--column", "value=speed")
	if got.code != exitOK || !strings.Contains(got.err, "left out, because it is to be predicted: speed") {
		t.Errorf("%+v", got)
	}
}

// Columns of any kind are used or left out, and the program says which.
func TestCovariatesOdd(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	many := func(columns int) (func(i int) string, string) {
		var header strings.Builder
		for k := range columns {
			fmt.Fprintf(&header, ",c%d", k)
		}
		return func(i int) string {
			var row strings.Builder
			draw := rand.New(rng.New(uint64(i), "columns of a test"))
			for range columns {
				fmt.Fprintf(&row, ",%.2f", draw.NormFloat64())
			}
			return row.String()
		}, header.String()
	}
	wide, wideHeader := many(100)
	huge, hugeHeader := many(10_000)
	for _, c := range []struct {
		name   string
		extra  func(i int) string
		header string
		said   string
	}{
		{"constant", func(int) string { return ",7" }, ",era", "era: left out"},
		{"one value per node", func(i int) string { return fmt.Sprintf(",p-%d", i*31) }, ",plate", "plate: left out"},
		{"more columns than measurements", wide, wideHeader, "102 columns as"},
		{"10,000 columns", huge, hugeHeader, "10002 columns as"},
		{"target in disguise", func(i int) string { return fmt.Sprintf(",%d", i) }, ",copy", ""},
		{"missing values", func(i int) string { return []string{",", fmt.Sprintf(",%d", i*i%13)}[min(1, i%4)] }, ",age",
			"age: 36 of 144 missing"},
		{"dates", func(i int) string { return fmt.Sprintf(",20%02d-03-%02d", i%20, 1+i%28) }, ",built", "built"},
		{"categories", func(i int) string { return "," + []string{"a", "b", "c"}[i%3] }, ",zone", "zone"},
		{"words", func(i int) string { return "," + []string{"red;old", "blue;old", "red;new", "blue;new;tall"}[i%4] }, ",tags", "words"},
	} {
		t.Run(c.name, func(t *testing.T) {
			extra := c.extra
			if c.name == "10,000 columns" {
				testkit.Full(t)
			}
			r := newRoads(t, extra, c.header)
			if c.name == "target in disguise" {
				var n strings.Builder
				n.WriteString("id,lanes,kind,copy\n")
				for i, v := range r.values {
					fmt.Fprintf(&n, "n%d,%g,urban,%g\n", i, r.lanes[i], 3*v+100)
				}
				r.nodes, c.said = r.file(t, "disguised.csv", n.String()), "warning: copy"
			}
			got := r.predict(t, "--covariates", "all", "--json", "-v")
			if got.code != exitOK || !strings.Contains(got.err, c.said) {
				t.Fatalf("exit %d: %s\nwant %q", got.code, got.err, c.said)
			}
			limit := 1.0
			if c.header == wideHeader || c.header == hugeHeader {
				limit = 3 // columns of pure chance hide the one that counts; the sd of values is 2.4
			}
			if e := r.rmse(t, got.out); !(e < limit) {
				t.Errorf("error %.3g, want less than %.3g\n%s", e, limit, got.err)
			}
		})
	}
}

func TestCovariatesRefused(t *testing.T) {
	t.Parallel()
	r := newRoads(t, nil, "")
	for _, c := range []struct {
		name, said string
		line       []string
	}{
		{"unknown column", `there is no column "lane"; did you mean "lanes"?`, []string{"--nodes", r.nodes, "--covariates", "lane"}},
		{"no table", "give --nodes FILE", []string{"--covariates", "all"}},
		{"two tables with one column", "it has a column \"lanes\"", []string{"--nodes", r.nodes, "--nodes", r.nodes, "--covariates", "all"}},
	} {
		line := append([]string{"predict", "--edges", r.edges, "--measurements", r.measurements}, c.line...)
		if got := runLine(t, "", line...); got.code == exitOK || got.code == exitInternal || !strings.Contains(got.err, c.said) {
			t.Errorf("%s: %+v, want %q", c.name, got, c.said)
		}
	}
}

// Tables are joined by id; a node that a table does not have lacks its values.
func TestCovariatesJoined(t *testing.T) {
	t.Parallel()
	r := newRoads(t, nil, "")
	var second strings.Builder
	second.WriteString("id,speed\n")
	for i := range r.values[1:] {
		fmt.Fprintf(&second, "n%d,%d\n", i, 30+10*(i%3))
	}
	got := r.predict(t, "--nodes", r.file(t, "second.csv", second.String()), "--covariates", "all", "--json")
	var answer predictAnswer
	if err := json.Unmarshal([]byte(got.out), &answer); err != nil || strings.Join(answer.Known.Columns, ",") != "lanes,kind,speed" ||
		len(answer.Nodes) != len(r.values) {
		t.Errorf("%v: %+v", err, got)
	}
	for _, row := range answer.Nodes {
		if math.IsNaN(row.Mean) || math.IsNaN(row.SD) {
			t.Errorf("node %s: %+v", row.Node, row)
		}
	}
}

// Every verb that fits a model takes columns.
func TestCovariatesOfVerbs(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	r := newRoads(t, nil, "")
	files := []string{"--edges", r.edges, "--nodes", r.nodes, "--family", "diffusion", "--scales", "one", "--roles", "none", "--covariates",
		"all", "--json"}
	page := filepath.Join(r.dir, "r.html")
	for _, line := range [][]string{
		{"validate", "--measurements", r.measurements, "--folds", "2"},
		{"validate", "--labels", r.labels, "--folds", "2"},
		{"report", "--measurements", r.measurements, "--folds", "0", "-o", page},
		{"report", "--labels", r.labels, "--folds", "0", "-o", page},
		{"classify", "--labels", r.labels},
		{"suggest", "--measurements", r.measurements, "--goal", "learn"},
		{"suggest", "--labels", r.labels, "--goal", "learn"},
		{"simulate", "--truth", r.measurements, "--goal", "learn", "--steps", "2", "--seeds", "1"},
	} {
		t.Run(line[0]+line[1], func(t *testing.T) {
			got := runLine(t, "", append(line, files...)...)
			var answer struct {
				Known    *nodeFacts         `json:"covariates"`
				Baseline map[string]float64 `json:"baseline_rmse"`
				Verdict  any                `json:"verdict"`
				Effects  *struct {
					Columns []grfgp.Effect
					Words   []string
				}
			}
			if err := json.Unmarshal([]byte(got.out), &answer); got.code != exitOK || err != nil || answer.Known == nil ||
				strings.Join(answer.Known.Columns, ",") != "lanes,kind" {
				t.Fatalf("%v: %+v", err, got)
			}
			if regression := line[1] != "--labels"; regression &&
				(answer.Effects == nil || len(answer.Effects.Columns) != 2 || line[0] != "report" && len(answer.Effects.Words) == 0) {
				t.Errorf("effects %+v", answer.Effects)
			}
			if line[0] == "report" && line[1] == "--measurements" {
				html, err := os.ReadFile(page)
				for _, has := range []string{`<section id="effects">`, "volume rises with lanes: ", "Parts of the model", "<td class=\"t\">lanes</td>",
					"<circle"} {
					if err != nil || !strings.Contains(string(html), has) {
						t.Errorf("%v: the report has no %s", err, has)
					}
				}
			}
			if line[0] == "validate" && line[1] == "--measurements" {
				if !strings.Contains(got.err, "volume rises with lanes: +") {
					t.Errorf("no effects in\n%s", got.err)
				}
				if _, ok := answer.Baseline["least_squares"]; !ok || !strings.Contains(fmt.Sprint(answer.Verdict), "least squares on covariates") {
					t.Errorf("baselines %v, verdict %v", answer.Baseline, answer.Verdict)
				}
			}
		})
	}
}

// Words of papers tell their topics: Cora by the command line, with a label in
// thirteen.
func TestCovariatesCora(t *testing.T) {
	t.Parallel()
	testkit.Full(t)
	dir := testkit.Data(t, "cora_words")
	labels, err := os.Open(filepath.Join(dir, "labels.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer labels.Close()
	zipped, err := gzip.NewReader(labels)
	if err != nil {
		t.Fatal(err)
	}
	all, err := csv.NewReader(zipped).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	class := map[string]string{}
	var known strings.Builder
	known.WriteString("node,class\n")
	for i, row := range all[1:] {
		class[row[0]] = row[1]
		if i%13 == 0 {
			fmt.Fprintf(&known, "%s,%s\n", row[0], row[1])
		}
	}
	file := filepath.Join(t.TempDir(), "known.csv")
	if err := os.WriteFile(file, []byte(known.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	got := runLine(t, "", "classify", "--edges", filepath.Join(dir, "edges.csv.gz"), "--nodes", filepath.Join(dir, "words.csv.gz"), "--column",
		"id=node", "--labels", file,
		"--covariates", "all", "--roles", "none", "--family", "diffusion", "--scales", "one", "--classifier", "one-vs-all", "--json")
	var answer classifyAnswer
	if err := json.Unmarshal([]byte(got.out), &answer); err != nil || got.code != exitOK {
		t.Fatalf("%v: %s", err, got.err)
	}
	right, n := 0.0, 0.0
	for _, row := range answer.Nodes {
		if !row.Given {
			n++
			if row.Class == class[row.Node] {
				right++
			}
		}
	}
	if !slices.Contains(answer.Choice.Terms, "covariates") || right/n < 0.78 || !strings.Contains(got.err, "1430 words") {
		t.Errorf("terms %v, accuracy %.3f; %s", answer.Choice.Terms, right/n, got.err)
	}
}

// Where one file is the node table and holds the measurements, no column that the model
// uses is said not to be used.
func TestOneFileOfBoth(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	r := newRoads(t, nil, "")
	both := filepath.Join(r.dir, "both.csv")
	nodes, err := os.ReadFile(r.nodes)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for k, line := range strings.Split(strings.TrimSpace(string(nodes)), "\n") {
		if k == 0 {
			fmt.Fprintln(&text, line+",volume")
		} else {
			fmt.Fprintf(&text, "%s,%g\n", line, float64(k%7)+0.5)
		}
	}
	if err := os.WriteFile(both, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	got := runLine(t, "", "predict", "--edges", r.edges, "--nodes", both, "--measurements", both, "--column", "value=volume", "--covariates",
		"all", "--family", "diffusion", "--scales", "one", "--roles", "none")
	if got.code != exitOK || strings.Contains(got.err, "not used:") {
		t.Errorf("%+v", got.err)
	}
}
