package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"grfgp/internal/testkit"
	"grfgp/report"
)

// blockEdges are two blocks of nodes, each a ring with chords, that one edge joins,
// and a component of its own.
func blockEdges(size int) string {
	var e strings.Builder
	e.WriteString("source,target\n")
	for _, block := range []string{"a", "b"} {
		for i := range size {
			fmt.Fprintf(&e, "%[1]s%[2]d,%[1]s%[3]d\n%[1]s%[2]d,%[1]s%[4]d\n", block, i, (i+1)%size, (i+2)%size)
		}
	}
	fmt.Fprintf(&e, "a%d,b0\nx,y\n", size-1)
	return e.String()
}

// twoBlocks writes blocks of six nodes, and labels of some of them.
func twoBlocks(t testing.TB) (edges, labels string) {
	t.Helper()
	dir := t.TempDir()
	return write(t, dir, "e.csv", blockEdges(6)), write(t, dir, "l.csv", "node,class\na0,red\na2,red\nb3,blue\nb5,blue\na1,\n")
}

// twoLabelledBlocks writes larger blocks with most nodes labelled, one of them
// against all around it.
func twoLabelledBlocks(t testing.TB) (edges, labels string) {
	t.Helper()
	var l strings.Builder
	l.WriteString("node,class\n")
	for i := range 15 {
		odd := "red"
		if i == 7 {
			odd = "blue"
		}
		fmt.Fprintf(&l, "a%d,%s\nb%d,blue\n", i, odd, i)
	}
	dir := t.TempDir()
	return write(t, dir, "e.csv", blockEdges(20)), write(t, dir, "l.csv", l.String())
}

func TestClassify(t *testing.T) {
	t.Parallel()
	edges, labels := twoBlocks(t)
	for _, classifier := range []string{"dirichlet", "one-vs-all", "variational", "robustmax", "spreading"} {
		r := runLine(t, "", "classify", "--edges", edges, "--labels", labels, "--classifier", classifier, "-v")
		if r.code != exitOK {
			t.Fatalf("%s: %+v", classifier, r)
		}
		if head, _, _ := strings.Cut(r.out, "\n"); head != "node,class,given,p_blue,p_red,entropy" {
			t.Errorf("%s: columns %s", classifier, head)
		}
		var got []string
		for _, row := range parseRows(t, r.out) {
			if row["node"] != "x" && row["node"] != "y" { // of which nothing is known
				got = append(got, fmt.Sprintf("%s %s %s", row["node"], row["class"], row["given"]))
			}
			blue, red := parseNumber(t, row["p_blue"]), parseNumber(t, row["p_red"])
			if math.Abs(blue+red-1) > 1e-6 {
				t.Errorf("%s: probabilities of %s are %v and %v", classifier, row["node"], blue, red)
			}
			if want := report.Entropy([]float64{blue, red}); math.Abs(want-parseNumber(t, row["entropy"])) > 1e-6 {
				t.Errorf("%s: entropy of %s is %s, want %v", classifier, row["node"], row["entropy"], want)
			}
		}
		const want = "a0 red true, a1 red false, a2 red true, a3 red false, a4 red false, a5 red false, " +
			"b0 blue false, b1 blue false, b2 blue false, b3 blue true, b4 blue false, b5 blue true"
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s: %s\nwant %s", classifier, text, want)
		}
		for _, said := range []string{
			"reading labels: 4 labels of 2 classes from", `labels: "blue" 2, "red" 2`, classifier + " classifier",
			"components without a label: 1, with 2 nodes", "nodes without a label: ",
		} {
			if !strings.Contains(r.err, said) {
				t.Errorf("%s: nothing said of %q in\n%s", classifier, said, r.err)
			}
		}
	}
	r := runLine(t, "", "classify", "--edges", edges, "--labels", labels, "--verbose")
	if !strings.Contains(r.err, "of 4 labels left out one at a time, 100.0 % are predicted correctly (mean log probability") {
		t.Errorf("nothing said of the labels left out:\n%s", r.err)
	}
}

func parseNumber(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Label spreading has nothing to learn: its answer is known to the last digit.
func TestClassifySpreadingOnAPair(t *testing.T) {
	t.Parallel()
	r := runLine(t, "a b\nb c\nc d\n", "classify", "--edges", "-", "--labels", write(t, t.TempDir(), "l", "a x\nd y\n"), "--header",
		"labels=no", "--classifier", "spreading", "-q")
	rows := parseRows(t, r.out)
	if r.code != exitOK || len(rows) != 4 || rows[0]["p_x"] != rows[3]["p_y"] || rows[1]["p_x"] != rows[2]["p_y"] || rows[1]["class"] != "x" ||
		r.err != "" {
		t.Errorf("%+v", r)
	}
}

func TestClassifyJSON(t *testing.T) {
	t.Parallel()
	edges, labels := twoBlocks(t)
	r := runLine(t, "", "classify", "--edges", edges, "--labels", labels, "--json", "--family", "diffusion", "--method", "grf", "--scales",
		"one", "--hops", "4", "--walks", "50", "--seed", "7")
	var answer classifyAnswer
	if err := json.Unmarshal([]byte(r.out), &answer); r.code != exitOK || err != nil {
		t.Fatalf("%v %+v", err, r)
	}
	c := answer.Choice
	if answer.Version != 1 || c.Family != "diffusion" || c.Method != "grf" || c.Hops != 4 || len(answer.Nodes) != 14 || len(c.Why) == 0 {
		t.Errorf("%+v", answer)
	}
	total := 0
	for _, class := range answer.Classes {
		total += class.Labels + class.Predicted
	}
	if total != 14 || answer.Classes[0].Name != "blue" || answer.Classes[0].Labels != 2 {
		t.Errorf("classes %+v", answer.Classes)
	}
	if n := answer.Nodes[0]; n.Node != "a0" || !n.Given || n.Class != "red" || len(n.Probabilities) != 2 || n.Probabilities[1] < 0.5 {
		t.Errorf("first node %+v", n)
	}
}

// The file is what standard output would have been, at any number of threads.
func TestClassifyFile(t *testing.T) {
	edges, labels := twoBlocks(t)
	for _, classifier := range []string{"dirichlet", "variational"} {
		var want string
		for _, threads := range []string{"1", "2", "5"} {
			out := filepath.Join(t.TempDir(), "classes.csv")
			r := runLine(t, "", "classify", "--edges", edges, "--labels", labels, "--classifier", classifier, "--threads", threads, "-o", out)
			text, err := os.ReadFile(out)
			if r.code != exitOK || err != nil || r.out != "" {
				t.Fatalf("%v %+v", err, r)
			}
			if want == "" {
				want = runLine(t, "", "classify", "--edges", edges, "--labels", labels, "--classifier", classifier).out
			}
			if string(text) != want {
				t.Errorf("%s on %s threads:\n%s\nwant\n%s", classifier, threads, text, want)
			}
		}
	}
}

// A label against all its neighbours is named.
func TestClassifyOddLabels(t *testing.T) {
	t.Parallel()
	edges, odd := twoLabelledBlocks(t)
	r := runLine(t, "", "classify", "--edges", edges, "--labels", odd)
	if r.code != exitOK || !strings.Contains(r.err, `; check node "a7", "blue" with probability`) {
		t.Errorf("%+v", r)
	}
}

func TestClassifyRefuses(t *testing.T) {
	t.Parallel()
	edges, labels := twoBlocks(t)
	dir := t.TempDir()
	file := func(name, text string) string { return write(t, dir, name, text) }
	var amounts strings.Builder
	amounts.WriteString("node,class\n")
	for i := range 6 {
		fmt.Fprintf(&amounts, "a%d,%g\nb%d,%g\n", i, 1.5+float64(i), i, 20.25+float64(i))
	}
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{exitUsage, "no labels: give --labels FILE", nil},
		{exitUsage, "no graph", []string{"--edges", "", "--labels", labels}},
		{exitUsage, "give dirichlet, one-vs-all, variational, robustmax or spreading", []string{"--labels", labels, "--classifier", "forest"}},
		{exitUsage, "--nu 2: give a number > 0, together with --family matern", []string{"--labels", labels, "--nu", "2"}},
		{exitUsage, "unknown flag: --level", []string{"--labels", labels, "--level", "0.5"}},
		{exitUsage, "no such file", []string{"--labels", filepath.Join(dir, "none")}},
		{exitUsage, "would overwrite --labels", []string{"--labels", labels, "-o", labels}},
		{exitBadData, `all labels are "red": there is nothing to learn from; label a node of another class`,
			[]string{"--labels", file("one", "node,class\na0,red\na1,red\n")}},
		{exitBadData, "it contains no labels, only a header", []string{"--labels", file("head", "node,class\n")}},
		{exitBadData, "all its classes are missing", []string{"--labels", file("blank", "node,class\na0,\na1,\n")}},
		{exitBadData, `:4:4: class "blue", but the node has another class on line 2`,
			[]string{"--labels", file("two", "node,class\na0,red\nb0,blue\na0,blue\n")}},
		{exitBadData, "none of its ids, such as \"q\" and \"r\", is a node of the graph",
			[]string{"--labels", file("far", "node,class\nq,red\nr,blue\n")}},
		{exitUsage, "they look like measurements, not like classes; read measurements with grfgp predict --measurements FILE",
			[]string{"--labels", file("amounts", amounts.String())}},
		{exitUsage, "the class may be in column class or label", []string{"--labels", file("both", "node,class,label\na0,1,x\nb0,2,y\n")}},
	} {
		args := []string{"classify"}
		if len(c.args) == 0 || c.args[0] != "--edges" {
			args = append(args, "--edges", edges)
		}
		r := runLine(t, "", append(args, c.args...)...)
		if r.code != c.code || !strings.Contains(r.err, c.want) || r.out != "" {
			t.Errorf("%v: exit %d, %q; want exit %d and %q", c.args, r.code, r.err, c.code, c.want)
		}
	}
}

// What is odd about labels is said, and does not stop the work.
func TestClassifyNotes(t *testing.T) {
	t.Parallel()
	edges, _ := twoBlocks(t)
	for _, c := range []struct{ text, want string }{
		{"node,class\na0,1\na2,1\nb3,2\nb4,2\n", "the classes look like numbers and are taken as names, not as amounts"},
		{"node,class\na0,x\na2,x\nb3,y\n", `classes with one label: 1, such as "y"`},
		{"node,class\na0,x\nq,x\nb3,y\n", `1 of 3 rows has an id that is not in the graph, such as "q"; they are left out`},
		{"node,class\na0,x\nb3,y\nb4,None\n", `words that stand for a missing class: "None"`},
	} {
		r := runLine(t, "", "classify", "--edges", edges, "--labels", write(t, t.TempDir(), "l", c.text), "--on-unknown", "skip")
		if r.code != exitOK || !strings.Contains(r.err, c.want) {
			t.Errorf("%q: %+v; want %q", c.text, r, c.want)
		}
	}
}

func TestValidateLabels(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	edges, labels := twoLabelledBlocks(t)
	for _, scheme := range []string{"scattered", "neighbourhoods"} {
		r := runLine(t, "", "validate", "--edges", edges, "--labels", labels, "--folds", "4", "--leave-out", scheme, "--family", "diffusion")
		for _, want := range []string{"accuracy  ", "NLL  ", "ECE  ", "this model", "majority class", "label spreading",
			"given \\ predicted  blue  red\nblue "} {
			if r.code != exitOK || !strings.Contains(r.out, want) {
				t.Errorf("%s: exit %d, no %q in\n%s%s", scheme, r.code, want, r.out, r.err)
			}
		}
	}
	r := runLine(t, "", "validate", "--edges", edges, "--labels", labels, "--folds", "2", "--family", "diffusion", "--json")
	var answer struct {
		Version   int
		Classes   []string
		Left      []struct{ Node, Class, Predicted string }
		Verdict   []string
		Accuracy  float64
		ECE       float64
		Baselines map[string]struct{ Accuracy, NLL float64 }
		Confusion [][]int
	}
	if err := json.Unmarshal([]byte(r.out), &answer); r.code != exitOK || err != nil {
		t.Fatalf("%v %+v", err, r)
	}
	for _, l := range answer.Left {
		if !strings.Contains("ab", l.Node[:1]) || !slices.Contains(answer.Classes, l.Class) || !slices.Contains(answer.Classes, l.Predicted) {
			t.Errorf("numbers in place of names: %+v", l)
		}
	}
	if answer.Version != 1 || len(answer.Classes) != 2 || len(answer.Left) != 30 || len(answer.Verdict) != 3 || answer.Accuracy < 0.8 ||
		len(answer.Baselines) != 3 || len(answer.Confusion) != 2 {
		t.Errorf("%+v", answer)
	}
	lone := write(t, t.TempDir(), "l", "node,class\na0,x\na1,x\nb3,y\n")
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{exitUsage, "--labels and --measurements: give only one", []string{"--labels", labels, "--measurements", labels}},
		{exitUsage, "--noise-sd needs --measurements; it has no meaning with --labels", []string{"--labels", labels, "--noise-sd", "0.5"}},
		{exitUsage, "--classifier needs --labels", []string{"--measurements", labels, "--classifier", "spreading"}},
		{exitUsage, "--folds 1", []string{"--labels", labels, "--folds", "1"}},
		{exitBadData, "cross-validation needs two classes with at least two labels each", []string{"--labels", lone}},
	} {
		r := runLine(t, "", append([]string{"validate", "--edges", edges}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.err, c.want) || r.out != "" {
			t.Errorf("%v: exit %d, %q; want exit %d and %q", c.args, r.code, r.err, c.code, c.want)
		}
	}
}

// Of many classes the commonest confusions are shown.
func TestValidateManyClasses(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	var l strings.Builder
	l.WriteString("node,class\n")
	for i := range 20 {
		fmt.Fprintf(&l, "a%d,a class with a long name %d\nb%d,b%d\n", i, i/2, i, i/2)
	}
	dir := t.TempDir()
	edges, labels := write(t, dir, "e", blockEdges(20)), write(t, dir, "l", l.String())
	r := runLine(t, "", "validate", "--edges", edges, "--labels", labels, "--folds", "2", "--family", "diffusion")
	if r.code != exitOK || !strings.Contains(r.out, "predicted             labels\n") ||
		!strings.Contains(r.out, "\na class with a long…  ") || !strings.Contains(r.err, "the 10 most frequent confusions of ") {
		t.Errorf("%+v", r)
	}
}

func TestSuggestLabels(t *testing.T) {
	edges, labels := twoBlocks(t)
	base := []string{"suggest", "--edges", edges, "--labels", labels, "--goal", "learn", "--family", "diffusion"}
	run := func(args ...string) result { return runLine(t, "", append(base[:len(base):len(base)], args...)...) }
	r := run("-n", "3")
	if head, _, _ := strings.Cut(r.out, "\n"); r.code != exitOK ||
		head != "node  most probable  probability  entropy  uncertainty reduction  cost  hops  reason" || strings.Count(r.out, "\n") != 4 {
		t.Errorf("%+v", r)
	}
	csv := run("-n", "3", "--csv", "--threads", "1")
	rows := parseRows(t, csv.out)
	if csv.code != exitOK || len(rows) != 3 || rows[0]["hops"] != "" || rows[0]["why"] != "no path leads to a labelled node" ||
		!strings.Contains("x y", rows[0]["node"]) {
		t.Errorf("%+v: want the component without labels first", csv)
	}
	for _, row := range rows {
		if strings.Contains("a0 a2 b3 b5", row["node"]) || parseNumber(t, row["uncertainty_reduction"]) <= 0 || row["cost"] != "1" {
			t.Errorf("%v", row)
		}
	}
	out := filepath.Join(t.TempDir(), "s.csv")
	if r := run("-n", "3", "-o", out, "--threads", "3"); r.code != exitOK || r.out != "" {
		t.Errorf("%+v", r)
	}
	if text, err := os.ReadFile(out); err != nil || string(text) != csv.out {
		t.Errorf("%v: the file holds\n%s\nwant\n%s", err, text, csv.out)
	}
	var answer labelAnswer
	r = run("--json", "-n", "30")
	if err := json.Unmarshal([]byte(r.out), &answer); r.code != exitOK || err != nil {
		t.Fatalf("%v %+v", err, r)
	}
	if answer.Version != 1 || len(answer.Suggestions) != 10 || answer.Short != "no_allowed_nodes" || answer.Labels != 4 ||
		len(answer.Classes) != 2 {
		t.Errorf("%+v", answer)
	}
	if !strings.Contains(r.err, "10 of the 30 nodes asked for: all other nodes are labelled") {
		t.Errorf("nothing said of nodes that are missing in\n%s", r.err)
	}
	allowed := write(t, t.TempDir(), "allowed", "node\na1\na3\nb1\n")
	if rows := parseRows(t, run("--allowed", allowed, "--exclude", write(t, t.TempDir(), "x", "node\na3\n"), "--csv").out); len(rows) != 2 {
		t.Errorf("%v, want a1 and b1", rows)
	}
	if rows := parseRows(t, run("--pending", write(t, t.TempDir(), "p", "node\nx\n"), "--budget", "3", "--csv").out); len(rows) != 2 ||
		rows[0]["node"] == "x" {
		t.Errorf("%v, want two nodes beside the pending one", rows)
	}
}

// Labels that nothing can be learned from, and flags that do not go with them.
func TestSuggestLabelsWithoutAModel(t *testing.T) {
	t.Parallel()
	edges, labels := twoBlocks(t)
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, want string }{
		"empty": {"node,class\n", "holds no labels yet: nodes are picked without a model, by the policy random"},
		"one": {"node,class\na0,red\na1,red\n", `all labels are "red": there is nothing to learn from: nodes are picked without a model, by ` +
			`the policy random`},
	} {
		r := runLine(t, "", "suggest", "--edges", edges, "--labels", write(t, dir, name, c.text), "--goal", "learn", "-n", "14", "--csv")
		rows := parseRows(t, r.out)
		if r.code != exitOK || !strings.Contains(r.err, c.want) || len(rows) != 14-strings.Count(c.text, "red") {
			t.Errorf("%s: %+v", name, r)
		}
	}
	all := write(t, dir, "all", "node\na0\na2\n")
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{exitUsage, "--goal maximize needs --measurements; with --labels give --goal learn", []string{"--goal", "maximize"}},
		{exitUsage, "--goal is missing: with --labels give --goal learn", []string{"--goal", ""}},
		{exitUsage, "--classifier spreading has no uncertainty", []string{"--goal", "learn", "--classifier", "spreading"}},
		{exitUsage, "--policy needs --measurements", []string{"--goal", "learn", "--policy", "random"}},
		{exitUsage, "--again needs --measurements", []string{"--goal", "learn", "--again"}},
		{exitNothing, "nothing to suggest: all other nodes are labelled", []string{"--goal", "learn", "--allowed", all}},
	} {
		r := runLine(t, "", append([]string{"suggest", "--edges", edges, "--labels", labels}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.err, c.want) || r.out != "" {
			t.Errorf("%v: exit %d, %q; want exit %d and %q", c.args, r.code, r.err, c.code, c.want)
		}
	}
}

func TestReportLabels(t *testing.T) {
	const evil = `</svg><script>alert("x")</script>`
	edges, labels := twoLabelledBlocks(t)
	text, err := os.ReadFile(labels)
	if err != nil {
		t.Fatal(err)
	}
	quoted := `"` + strings.ReplaceAll(evil, `"`, `""`) + `"`
	labels = write(t, t.TempDir(), "l.csv", strings.ReplaceAll(string(text), "blue", quoted))
	report := func(args ...string) (string, result) {
		t.Helper()
		out := filepath.Join(t.TempDir(), "r.html")
		r := runLine(t, "", append([]string{"report", "--edges", edges, "--labels", labels, "-o", out, "--folds", "3", "--family", "diffusion"},
			args...)...)
		page, err := os.ReadFile(out)
		if r.code != exitOK || err != nil {
			t.Fatalf("%v %+v", err, r)
		}
		return string(page), r
	}
	page, _ := report("--title", "Two blocks", "--threads", "1")
	for _, want := range []string{
		"<h1>Two blocks</h1>", "42 nodes, 82 edges, 30 labels of 2 classes", "of held-out labels predicted correctly", "Most probable class",
		"Entropy of the class",
		"Reliability of probabilities", "Confusion matrix", "Of 30 held-out labels", "Doubtful labels", "components without a label",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the report", want)
		}
	}
	before, _, _ := strings.Cut(page, "<script") // the script of the page itself comes last
	if strings.Count(page, "<script") != 2 || strings.Contains(before, "NaN") {
		t.Error("a class of the file is part of the page, or no number is shown as one")
	}
	if again, _ := report("--title", "Two blocks", "--threads", "3"); again != page {
		t.Error("another report on three threads")
	}
	page, r := report("--folds", "0", "--json")
	var answer classReportAnswer
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil || answer.Labels != 30 || len(answer.Classes) != 2 ||
		len(answer.Uncertain) != 10 || answer.Score != nil {
		t.Errorf("%v %+v", err, answer)
	}
	if !strings.Contains(page, "No validation was made") || strings.Contains(page, "Reliability of probabilities") {
		t.Error("a validation that nobody asked for")
	}
	if r := runLine(t, "", "report", "--edges", edges, "--labels", labels, "--unit", "m"); r.code != exitUsage ||
		!strings.Contains(r.err, "--unit needs --measurements") {
		t.Errorf("%+v", r)
	}
}
