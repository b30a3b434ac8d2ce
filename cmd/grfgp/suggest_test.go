package main

import (
	"encoding/csv"
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
)

// write puts a file into a folder and returns its path.
func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// suggestRows runs suggest for CSV and returns its rows by their header.
func suggestRows(t *testing.T, args ...string) []map[string]string {
	t.Helper()
	r := runLine(t, "", append([]string{"suggest", "--csv"}, args...)...)
	if r.code != exitOK {
		t.Fatalf("%v: %+v", args, r)
	}
	return parseRows(t, r.out)
}

func parseRows(t *testing.T, text string) []map[string]string {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(all) == 0 {
		t.Fatalf("%v in %q", err, text)
	}
	var rows []map[string]string
	for _, row := range all[1:] {
		named := map[string]string{}
		for k, name := range all[0] {
			named[name] = row[k]
		}
		rows = append(rows, named)
	}
	return rows
}

func nodesOf(rows []map[string]string) []string {
	var nodes []string
	for _, r := range rows {
		nodes = append(nodes, r["node"])
	}
	return nodes
}

// Without a model the whole answer is known beforehand.
func TestSuggestWithoutMeasurements(t *testing.T) {
	t.Parallel()
	edges, _ := ladder(t)
	dir := t.TempDir()
	const table = `node  cost  hops  reason
a1    1     –     highest degree
b1    1     –     highest degree
a2    1     –     highest degree
`
	r := runLine(t, "", "suggest", "--edges", edges, "--goal", "learn", "--policy", "degree", "-n", "3")
	if r.code != exitOK || r.out != table || !strings.Contains(r.err,
		"there are no measurements yet: nodes are picked without a model, by the policy degree") {
		t.Errorf("%+v", r)
	}
	for name, text := range map[string]string{"empty": "", "header": "node,value\n"} {
		m := write(t, dir, name+".csv", text)
		r := runLine(t, "", "suggest", "--edges", edges, "--measurements", m, "--goal", "maximize")
		if r.code != exitOK || strings.Count(r.out, "drawn at random") != 5 ||
			!strings.Contains(r.err, "holds no measurements yet: nodes are picked without a model, by the policy random") {
			t.Errorf("%s: %+v", name, r)
		}
	}
	same := write(t, dir, "same.csv", "node,value\na0,1\na1,1\na2,1\n")
	r = runLine(t, "", "suggest", "--edges", edges, "--measurements", same, "--goal", "threshold=2", "--json")
	var answer suggestAnswer
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil ||
		!strings.HasPrefix(answer.NoModel, "all values are 1: there is nothing to learn from") || answer.Suggestions[0].Mean != nil ||
		answer.Policy != "random" {
		t.Errorf("%v: %+v", err, r)
	}
}

// Pending nodes teach what they will teach: the next suggestion is the third of a
// batch, or its twin on the ladder, and is said to bring as much.
func TestSuggestForeseesPending(t *testing.T) {
	t.Parallel()
	edges, measurements := ladder(t)
	dir := t.TempDir()
	for goal, column := range map[string]string{"learn": "variance_reduction", "threshold=10": "chance_above"} {
		args := []string{"--edges", edges, "--measurements", measurements, "--goal", goal}
		batch := suggestRows(t, append(args, "-n", "3")...)
		pending := write(t, dir, "pending.csv", "node\n"+batch[0]["node"]+"\n"+batch[1]["node"]+"\n")
		next := suggestRows(t, append(args, "-n", "1", "--pending", pending)...)
		said, err := strconv.ParseFloat(next[0][column], 64)
		want, err2 := strconv.ParseFloat(batch[2][column], 64)
		if err != nil || err2 != nil || math.Abs(said-want) > 1e-6*want {
			t.Errorf("%s: %v with two pending, %v as the third", goal, next[0], batch[2])
		}
	}
}

// Lists may be empty; what is measured is not pending any more, and costs nothing.
func TestSuggestLists(t *testing.T) {
	t.Parallel()
	edges, measurements := ladder(t)
	dir := t.TempDir()
	args := []string{"suggest", "--edges", edges, "--measurements", measurements, "--goal", "learn", "-n", "1"}
	for _, text := range []string{"", "node\n"} {
		none := write(t, dir, "none.csv", text)
		if r := runLine(t, "", append(args, "--pending", none, "--exclude", none)...); r.code != exitOK ||
			strings.Count(r.err, "no nodes in ") != 2 {
			t.Errorf("%q: %+v", text, r)
		}
		if r := runLine(t, "", append(args, "--allowed", none)...); r.code != exitBadData {
			t.Errorf("%q allows nothing: %+v", text, r)
		}
	}
	done := write(t, dir, "done.csv", "node\na0\nb1\n")
	r := runLine(t, "", append(args, "--pending", done, "--budget", "2")...)
	if r.code != exitOK || !strings.Contains(r.err, "pending nodes already measured: 1;") {
		t.Errorf("%+v", r)
	}
	if r := runLine(t, "", append(args, "--pending", done, "--budget", "2", "--again")...); r.code != exitNothing {
		t.Errorf("to be measured again: %+v", r)
	}
}

func TestSuggestSays(t *testing.T) {
	t.Parallel()
	edges, measurements := ladder(t)
	twice := write(t, t.TempDir(), "twice.csv", "node,value\na1,1\na2,2\na3,3\na4,4\na1,2\n")
	for args, want := range map[string]string{
		"--goal learn --policy ucb --measurements " + measurements: "note: --policy ucb is not meant for --goal learn; --policy learn is",
		"--goal maximize --policy variance --measurements " +
			measurements: "note: --policy variance is not meant for --goal maximize; --policy thompson is",
		"--goal learn --measurements " + measurements: "  time: fitting ",
		"--goal learn --measurements " + twice:        "repeated measurements of a node: 1; the mean",
	} {
		r := runLine(t, "", append([]string{"suggest", "--verbose", "--edges", edges}, strings.Fields(args)...)...)
		if r.code != exitOK || !strings.Contains(r.err, want) {
			t.Errorf("%s: exit %d, nothing said of %q in\n%s", args, r.code, want, r.err)
		}
	}
}

func TestSuggest(t *testing.T) {
	t.Parallel()
	edges, measurements := ladder(t)
	dir := t.TempDir()
	args := []string{"--edges", edges, "--measurements", measurements}
	for goal, column := range map[string]string{"maximize": "chance_best", "minimize": "chance_best", "learn": "variance_reduction",
		"threshold=10": "chance_above"} {
		rows := suggestRows(t, append(args, "--goal", goal, "-n", "4")...)
		if len(rows) != 4 {
			t.Fatalf("%s: %v", goal, rows)
		}
		for _, r := range rows {
			for _, name := range []string{"node", "mean", "sd", column, "cost", "why"} {
				if r[name] == "" {
					t.Errorf("%s: no %s in %v", goal, name, r)
				}
			}
			if _, has := r["chance_se"]; has != (column == "chance_best") {
				t.Errorf("%s: columns %v", goal, r)
			}
			if even := strings.TrimPrefix(r["node"], "a"); even != r["node"] && strings.ContainsAny(even[len(even)-1:], "02468") {
				t.Errorf("%s: %s is measured already", goal, r["node"])
			}
		}
	}
	r := runLine(t, "", append([]string{"suggest", "--goal", "maximize"}, args...)...)
	for _, said := range []string{"5 of 5 nodes by thompson", "upper: of the quantity, without noise",
		"± standard error, estimated from 1000 posterior draws", "components without a measurement: 1"} {
		if !strings.Contains(r.err, said) {
			t.Errorf("nothing said of %q in\n%s", said, r.err)
		}
	}
	head := strings.Join(strings.Fields(strings.SplitN(r.out, "\n", 2)[0]), " ")
	if head != "node mean sd lower upper reading lower reading upper P(best) cost hops reason" || !strings.Contains(r.out, " ± ") {
		t.Errorf("the table is\n%s", r.out)
	}
	out := filepath.Join(dir, "s.csv")
	if r := runLine(t, "", append([]string{"suggest", "--goal", "learn", "-o", out}, args...)...); r.code != exitOK || r.out != "" {
		t.Errorf("%+v", r)
	}
	if text, err := os.ReadFile(out); err != nil || len(parseRows(t, string(text))) != 5 {
		t.Errorf("%v: %s", err, text)
	}
}

// The same bytes at any number of threads.
func TestSuggestThreads(t *testing.T) {
	edges, measurements := ladder(t)
	var first string
	for _, threads := range []string{"1", "4"} {
		r := runLine(t, "", "suggest", "--edges", edges, "--measurements", measurements, "--goal", "maximize", "--json", "--method", "grf",
			"--threads", threads)
		if first == "" {
			first = r.out
		}
		if r.code != exitOK || r.out != first {
			t.Errorf("--threads %s: exit %d, same: %v", threads, r.code, r.out == first)
		}
	}
}

func TestSuggestLimits(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	edges, measurements := ladder(t)
	dir := t.TempDir()
	args := []string{"--edges", edges, "--measurements", measurements, "--goal", "maximize"}
	some := write(t, dir, "some.csv", "b1\nb2\na1\nnowhere\n")
	pending := write(t, dir, "pending.csv", "node\nb1\n")
	var cost, group strings.Builder
	cost.WriteString("node,cost\nx,1\ny,1\n")
	group.WriteString("node,group\n")
	for i := range 40 {
		fmt.Fprintf(&cost, "a%d,2\nb%d,3\n", i, i)
		fmt.Fprintf(&group, "a%d,upper\nb%d,lower\n", i, i)
	}
	costs, groups := write(t, dir, "cost.csv", cost.String()), write(t, dir, "group.csv", group.String())
	table := write(t, dir, "nodes.csv", "id,allowed,cost,group\na1,yes,1,p\nb1,yes,2,p\nb2,yes,4,q\nb3,no,1,q\n")

	if got := nodesOf(suggestRows(t, append(args, "--allowed", some)...)); len(got) != 3 || !slices.Contains(got, "b2") {
		t.Errorf("allowed: %v", got)
	}
	if got := nodesOf(suggestRows(t, append(args, "--allowed", some, "--pending", pending)...)); len(got) != 2 || slices.Contains(got, "b1") {
		t.Errorf("pending: %v", got)
	}
	if got := nodesOf(suggestRows(t, append(args, "--allowed", some, "--exclude", pending)...)); len(got) != 2 || slices.Contains(got, "b1") {
		t.Errorf("excluded: %v", got)
	}
	if got := suggestRows(t, append(args, "--cost", costs, "--budget", "7", "-n", "9")...); len(got) < 2 || len(got) > 7 {
		t.Errorf("a budget of 7 gave %v", got)
	}
	// The lone pair x, y is in no group: each is its own.
	if got := suggestRows(t, append(args, "--group", groups, "--group-cap", "1", "-n", "9")...); len(got) != 4 {
		t.Errorf("two groups and two nodes in none gave %v", got)
	}
	got := suggestRows(t, append(args, "--nodes", table, "--group-cap", "1", "-n", "9")...)
	if len(got) != 2 || got[0]["cost"] == got[1]["cost"] {
		t.Errorf("the node table: %v", got)
	}
	if got := suggestRows(t, append(args, "--again", "-n", "82")...); len(got) != 82 {
		t.Errorf("again: %d nodes", len(got))
	}

	r := runLine(t, "", append([]string{"suggest", "--allowed", some, "-n", "4"}, args...)...)
	for _, said := range []string{`ids not in the graph: 1, such as "nowhere"`, "3 of the 4 nodes asked for: all other nodes are measured"} {
		if !strings.Contains(r.err, said) {
			t.Errorf("nothing said of %q in\n%s", said, r.err)
		}
	}
}

func TestSuggestNothingLeft(t *testing.T) {
	t.Parallel()
	edges, measurements := ladder(t)
	dir := t.TempDir()
	one := write(t, dir, "one.csv", "b1\n")
	group := write(t, dir, "group.csv", "node,group\nb1,g\nb2,g\n")
	two := write(t, dir, "two.csv", "b1\nb2\n")
	for want, args := range map[string][]string{
		"all other nodes are measured, pending": {"--allowed", one, "--exclude", one},
		"cost more than is left of --budget":    {"--budget", "0.5"},
		"groups that have reached --group-cap":  {"--allowed", two, "--pending", one, "--group", group, "--group-cap", "1"},
	} {
		line := append([]string{"suggest", "--edges", edges, "--measurements", measurements, "--goal", "maximize"}, args...)
		r := runLine(t, "", line...)
		if r.code != exitNothing || r.out != "" || !strings.Contains(r.err, "grfgp: nothing to suggest: ") || !strings.Contains(r.err, want) {
			t.Errorf("%v: %+v", args, r)
		}
		r = runLine(t, "", append(line, "--json")...)
		var answer suggestAnswer
		if err := json.Unmarshal([]byte(r.out), &answer); err != nil || r.code != exitNothing || answer.Short == "" || answer.Suggestions == nil {
			t.Errorf("%v: %v, %+v", args, err, r)
		}
	}
}

func TestSuggestRefuses(t *testing.T) {
	t.Parallel()
	edges, measurements := ladder(t)
	dir := t.TempDir()
	strange := write(t, dir, "strange.csv", "A1\nA2\n")
	list := write(t, dir, "list.csv", "a1\na2\n")
	few := write(t, dir, "few.csv", "node,cost\na1,2\n")
	free := write(t, dir, "free.csv", "node,cost\na1,0\n")
	minus := write(t, dir, "minus.csv", "node,cost\na1,2\na3,-2\n")
	for _, c := range []struct {
		code int
		want string
		args string
	}{
		{exitUsage, "--goal is missing", ""},
		{exitUsage, "--goal best: give maximize", "--goal best"},
		{exitUsage, "--goal threshold=inf: give maximize", "--goal threshold=inf"},
		{exitUsage, "--policy luck: there is no such policy; the policies are thompson", "--goal learn --policy luck"},
		{exitUsage, "straddle needs --goal threshold=V", "--goal learn --policy straddle"},
		{exitUsage, "-n 0: give 1 or more", "--goal learn -n 0"},
		{exitUsage, "give only one", "--goal learn --csv --json"},
		{exitUsage, "--budget -1: give a number", "--goal learn --budget -1"},
		{exitUsage, "--group-cap 0: give 1", "--goal learn --group-cap 0"},
		{exitUsage, "--group needs --group-cap", "--goal learn --group " + list},
		{exitUsage, "--group-cap needs groups", "--goal learn --group-cap 2"},
		{exitUsage, "there is no such file", "--goal learn --pending nowhere.csv"},
		{exitUsage, "would overwrite --allowed", "--goal learn --allowed " + list + " -o " + list},
		{exitBadData, "is a node of the graph, which has ids such as", "--goal learn --exclude " + strange},
		{exitBadData, "there is no column group", "--goal learn --group-cap 1 --group " + list},
		{exitBadData, "there is no column cost", "--goal learn --cost " + list},
		{exitBadData, `node "b0" has no cost, and is a candidate or pending; give it a cost, or leave it out of --allowed FILE`,
			"--goal learn --cost " + few},
		{exitBadData, `node "a1" costs 0`, "--goal learn --allowed " + list + " --exclude " + few + " --cost " + free},
		{exitBadData, "minus.csv:3:4: cost \"-2\" is negative", "--goal learn --cost " + minus},
	} {
		r := runLine(t, "", append([]string{"suggest", "--edges", edges, "--measurements", measurements}, strings.Fields(c.args)...)...)
		if r.code != c.code || !strings.Contains(r.err, c.want) || r.out != "" {
			t.Errorf("%s: exit %d, %q; want exit %d and %q", c.args, r.code, r.err, c.code, c.want)
		}
	}
}

func TestChanceSE(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ chance, want float64 }{{0.5, 0.0158}, {0, 0.000997}, {1, 0.000997}} {
		if got := chanceSE(c.chance, 1000); got < 0.99*c.want || got > 1.01*c.want {
			t.Errorf("chance %v: %v, want %v", c.chance, got, c.want)
		}
	}
}
