package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/graph"
	"grfgp/replay"
)

// known writes values for all but the last rung of the ladder, with one highest.
func known(t testing.TB) (edges, truth string) {
	t.Helper()
	edges, _ = ladder(t)
	var b strings.Builder
	b.WriteString("node,value\n")
	for i := range 39 {
		v := 10 - math.Abs(float64(i)-24.2)/4
		fmt.Fprintf(&b, "a%d,%g\nb%d,%g\n", i, v, i, v-0.5)
	}
	return edges, write(t, t.TempDir(), "t.csv", b.String())
}

// Rules that look at no value give the same answer whatever the model becomes.
func TestSimulateTable(t *testing.T) {
	t.Parallel()
	edges, truth := known(t)
	r := runLine(t, "", "simulate", "--edges", edges, "--truth", truth, "--goal", "maximize", "--policies", "bfs,random,degree", "--start",
		"3", "--steps", "12", "--seeds", "4", "-v")
	const want = `policy         regret        better than uniform draws by  replays
bfs            0.825 ± 0.22  -0.43 ± 0.22                  4
random         0.375 ± 0.24  0.01996 ± 0.24                4
degree         1.2 ± 0.23    -0.805 ± 0.23                 4
uniform draws  0.395, exact  –                             none: exact expectation; the sd of one replay is 0.33
± is the standard error over replays; in the comparison with uniform draws it is at least the standard error of the same number of replays of uniform draws.
The highest of 78 known values is 9.95, at node a24.
Too few replays (4) to tell whether bfs beats uniform draws: regret 0.825 against 0.395 after 15 measurements. Give --seeds 5 or more.
`
	if r.code != exitOK || r.out != want || !strings.Contains(r.err, "simulating: 12 of 12 replays, 15 measurements each") ||
		!strings.Contains(r.err, "time per step of bfs: fitting 0s, updating 0s, picking ") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
}

// Nobody is told that rules do equally well because all got measured, or how a
// node that was read twice came to its value.
func TestSimulateSays(t *testing.T) {
	t.Parallel()
	edges, truth := known(t)
	twice := write(t, t.TempDir(), "twice.csv", "node,value\na1,1\na2,2\na3,3\na4,4\na1,2\n")
	for args, want := range map[string][]string{
		"--truth " + truth + " --goal maximize --policies bfs": {"19 steps, a quarter of the 78 nodes", "5 of 5 replays, 29 measurements"},
		"--truth " + twice + " --goal maximize --policies bfs --start 1": {
			"repeated measurements of a node: 1; the mean", "1 steps, a quarter of the 4 nodes", "5 of 5 replays, 2 measurements"},
		"--truth " + twice + " --goal maximize --policies bfs --start 1 --steps 9 --repeats last": {
			"are measured in the end", "All 4 known nodes were measured in the end"},
		"--truth " + truth + " --goal learn --policies variance,random --start 5 --steps 1": {"mean sd: each policy has its own model"},
	} {
		r := runLine(t, "", append([]string{"simulate", "--edges", edges}, strings.Fields(args)...)...)
		for _, said := range want {
			if r.code != exitOK || !strings.Contains(r.err+r.out, said) {
				t.Errorf("%s: exit %d, nothing said of %q in\n%s%s", args, r.code, said, r.err, r.out)
			}
		}
	}
	r := runLine(t, "", "simulate", "--edges", edges, "--truth", truth, "--goal", "maximize", "--policies", "bfs, random", "--steps", "2")
	if r.code != exitOK {
		t.Errorf("a space between policies: %+v", r)
	}
	if r := runLine(t, "", "simulate", "--edges", edges, "--truth", twice, "--goal", "maximize", "--repeats", "error"); r.code != exitBadData {
		t.Errorf("--repeats error: %+v", r)
	}
}

func TestSimulateFiles(t *testing.T) {
	t.Parallel()
	edges, truth := known(t)
	dir := t.TempDir()
	out, picture := filepath.Join(dir, "steps.csv"), filepath.Join(dir, "regret.svg")
	args := []string{"simulate", "--edges", edges, "--truth", truth, "--start", "5", "--steps", "6", "--seeds", "2"}
	for _, c := range []struct{ goal, column, table string }{
		{"minimize", "regret", "thompson"},
		{"learn", "rmse", "mean sd"},
		{"threshold=8", "misjudged", "straddle"},
	} {
		r := runLine(t, "", append(args, "--goal", c.goal, "-o", out, "--plot", picture)...)
		if r.code != exitOK || !strings.Contains(r.out, c.table) || !strings.Contains(r.out, "random") {
			t.Fatalf("%s: %+v", c.goal, r)
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		rows := parseRows(t, string(text))
		if len(rows) != 2*2*11 || rows[4]["phase"] != "start" || rows[5]["phase"] != "step" || rows[10]["measured"] != "11" ||
			rows[10][c.column] == "" {
			t.Errorf("%s: %d rows, such as %v", c.goal, len(rows), rows[10])
		}
		drawn, err := os.ReadFile(picture)
		if err != nil {
			t.Fatal(err)
		}
		var svg struct {
			Title string   `xml:"title"`
			Texts []string `xml:"text"`
		}
		if err := xml.Unmarshal(drawn, &svg); err != nil || !strings.Contains(svg.Title, "mean of 2 replays ± standard error") ||
			!slices.Contains(svg.Texts, "random") || !slices.Contains(svg.Texts, "measurements") {
			t.Errorf("%s: %v, %+v", c.goal, err, svg)
		}
		if r := runLine(t, "", append(args, "--goal", c.goal, "--csv")...); r.out != string(text) {
			t.Errorf("%s: --csv and -o differ", c.goal)
		}
	}
	r := runLine(t, "", append(args, "--goal", "learn", "--json", "--policies", "learn")...)
	var answer simulateAnswer
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil || r.code != exitOK || len(answer.Replays) != 2 || answer.Known != 78 ||
		!strings.HasPrefix(answer.Verdict, "Random was not replayed") || len(answer.Replays[0].Nodes) != 11 {
		t.Errorf("%v: %+v", err, r)
	}
}

func TestSimulateThreads(t *testing.T) {
	edges, truth := known(t)
	var first string
	for _, threads := range []string{"1", "4"} {
		r := runLine(t, "", "simulate", "--edges", edges, "--truth", truth, "--goal", "maximize", "--steps", "8", "--seeds", "3", "--json",
			"--threads", threads)
		if first == "" {
			first = r.out
		}
		if r.code != exitOK || r.out != first {
			t.Errorf("--threads %s: exit %d, same: %v", threads, r.code, r.out == first)
		}
	}
}

// What an interrupted simulation finished is told, and no more.
func TestSimulateInterrupted(t *testing.T) {
	t.Parallel()
	g, err := graph.Ring(30)
	if err != nil {
		t.Fatal(err)
	}
	truth := make([]float64, 30)
	for i := range truth {
		truth[i] = math.Sin(float64(i) / 5)
	}
	ctx, cancel := context.WithCancel(context.Background())
	sim, err := replay.Run(ctx, g, truth, grfgp.Spec{}, replay.Options{
		Goal: bayesopt.Maximize, Policies: []replay.Policy{
			{Name: "bfs", Policy: bayesopt.BreadthFirst{Graph: g.Adjacency()}}, {Name: "random", Policy: bayesopt.Random{}}}, Start: 2, Steps: 4,
		Seeds: 50,
		Progress: func(done, _ int64) {
			if done == 43 {
				cancel()
			}
		},
	})
	if err == nil || sim == nil {
		t.Fatalf("%v, %v", sim, err)
	}
	var out bytes.Buffer
	if err := simulateTable(&out, newSimulateAnswer(g, sim)); err != nil {
		t.Fatal(err)
	}
	n := sim.Final("bfs").Seeds
	said := fmt.Sprintf("Too few replays (%d)", n)
	if n >= replay.LeastSeeds {
		said = fmt.Sprintf("over %d replays", n)
	}
	if n < 2 || n > 8 || !strings.Contains(out.String(), said) {
		t.Errorf("%d replays\n%s", n, out.String())
	}
	cancelled, stop := context.WithCancel(context.Background())
	stop()
	edges, values := known(t)
	if r := runLineContext(t, cancelled, "", "simulate", "--edges", edges, "--truth", values, "--goal", "learn"); r.code != exitInterrupted ||
		r.out != "" {
		t.Errorf("%+v", r)
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	replays := func(mine, theirs []float64) *replay.Result {
		s := &replay.Result{Policies: []string{"ei", "random"}, Random: "random", Known: 9, Start: 1, Steps: 2, Seeds: len(mine)}
		for k := range mine {
			s.Replays = append(s.Replays,
				replay.Replay{Policy: "ei", Seed: k, Done: true, Curve: []replay.Point{{Measured: 3, Loss: mine[k]}}},
				replay.Replay{Policy: "random", Seed: k, Done: true, Curve: []replay.Point{{Measured: 3, Loss: theirs[k]}}})
		}
		return s
	}
	one, two, three := []float64{1, 1, 1, 1, 1}, []float64{2, 2, 2, 2, 2}, []float64{3, 3.1, 2.9, 3.1, 2.9}
	expected := func(s *replay.Result, loss, sd float64) *replay.Result {
		s.Uniform = []replay.Point{{}, {}, {Measured: 3, Loss: loss, SD: sd}}
		return s
	}
	random := replays([]float64{1}, []float64{1})
	random.Policies = []string{"random"}
	everything := replays(one, three)
	everything.Known = 3
	for want, s := range map[string]*replay.Result{
		"ei beats random: regret 1 against 3 after 3 measurements; the difference is 2 ± 0.": replays(one, three),
		"ei is worse than random: regret 3":                                                  replays(three, one),
		"No clear difference between ei and random": replays([]float64{1, 5, 1, 5, 1},
			three),
		"No difference between ei and random: regret 2 against 2 after 3 measurements, in all ":          replays(two, two),
		"Too few replays (5) to tell whether ei beats random: regret 1 against 2 after 3 measurements, ": replays(one, two),
		"Too few replays (4) to tell whether ei beats random: regret 1 against 3":                        replays(one[1:], three[1:]),
		"All 3 known nodes were measured in the end":                                                     everything,
		"No verdict on ei": replays(nil, nil),
		"ei beats uniform draws: regret 1 against 9 after 3 measurements":     expected(replays(one, two), 9, 2),
		"No clear difference between ei and uniform draws: regret 1 against ": expected(replays(one, two), 9, 20),
		"Only random was replayed": random,
	} {
		if got := verdict(s, "regret"); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSimulateRefuses(t *testing.T) {
	t.Parallel()
	edges, truth := known(t)
	dir := t.TempDir()
	same := write(t, dir, "same.csv", "node,value\na1,1\na2,1\n")
	strange := write(t, dir, "strange.csv", "node,value\nA1,1\nA2,2\n")
	for _, c := range []struct {
		code int
		want string
		args string
	}{
		{exitUsage, "no known values: give --truth", "--goal learn"},
		{exitUsage, "--goal is missing", "--truth " + truth},
		{exitUsage, "--policies luck: there is no such policy", "--goal learn --policies random,luck --truth " + truth},
		{exitUsage, "random is named twice", "--goal learn --policies random,random --truth " + truth},
		{exitUsage, "straddle needs", "--goal learn --policies straddle --truth " + truth},
		{exitUsage, "--seeds 0: give 1 or more", "--goal learn --seeds 0 --truth " + truth},
		{exitUsage, "--retrain now: give auto, never or a number of measurements", "--goal learn --retrain now --truth " + truth},
		{exitUsage, "--start -1: give 0 or more", "--goal learn --start -1 --truth " + truth},
		{exitUsage, "--start 78: only 78 nodes have known values", "--goal learn --start 78 --truth " + truth},
		{exitUsage, "give only one", "--goal learn --csv --json --truth " + truth},
		{exitUsage, "--plot curves.png: figures are SVG; name it curves.svg", "--goal learn --plot curves.png --truth " + truth},
		{exitUsage, "simulate takes --truth FILE; 'grfgp simulate --help'", "--goal learn --measurements " + truth},
		{exitUsage, "would overwrite --truth", "--goal learn --truth " + truth + " --plot " + truth},
		{exitNotFitted, "no model can be fitted to 3 measurements", "--goal learn --start 1 --steps 2 --truth " + truth},
		{exitBadData, "all values are 1", "--goal learn --truth " + same},
		{exitBadData, "none of its ids", "--goal learn --truth " + strange},
	} {
		r := runLine(t, "", append([]string{"simulate", "--edges", edges}, strings.Fields(c.args)...)...)
		if r.code != c.code || !strings.Contains(r.err, c.want) || r.out != "" {
			t.Errorf("%s: exit %d, %q; want exit %d and %q", c.args, r.code, r.err, c.code, c.want)
		}
	}
}
