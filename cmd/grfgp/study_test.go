package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"grfgp/bayesopt"
	"grfgp/client"
	"grfgp/client/local"
	"grfgp/graphio"
	"grfgp/store"
	"grfgp/store/storetest"
	"grfgp/study"
)

// desk is a directory with a ladder and a store, and runs study commands on it.
type desk struct {
	t            testing.TB
	dir          string
	edges, store string
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	edges, _ := ladder(t)
	dir := t.TempDir()
	return &desk{t, dir, edges, filepath.Join(dir, "studies.db")}
}

// run runs 'grfgp study LINE'.
func (d *desk) run(line string, more ...string) result {
	d.t.Helper()
	args := append([]string{"study"}, strings.Fields(line)...)
	return runLine(d.t, "", append(append(args, "--store", d.store, "--by", "anna"), more...)...)
}

// ok is run for what must go well.
func (d *desk) ok(line string, more ...string) result {
	d.t.Helper()
	r := d.run(line, more...)
	if r.code != exitOK {
		d.t.Fatalf("study %s: %+v", line, r)
	}
	return r
}

// asks returns the trials of an ask.
func (d *desk) asks(line string) []study.Issued {
	d.t.Helper()
	var a study.Ask
	if err := json.Unmarshal([]byte(d.ok("ask "+line, "--json").out), &a); err != nil {
		d.t.Fatal(err)
	}
	return a.Trials
}

func (d *desk) shown(name string) (s client.Overview) {
	d.t.Helper()
	if err := json.Unmarshal([]byte(d.ok("show "+name, "--json").out), &s); err != nil {
		d.t.Fatal(err)
	}
	return s
}

func TestStudyLife(t *testing.T) { studyLife(t, newDesk(t)) }

// studyLife does all that can be done with a study, wherever it is.
func studyLife(t *testing.T, d *desk) {
	create := "create s --goal maximize --budget 8 --lease 2h --edges " + d.edges
	if r := d.ok(create); !strings.Contains(r.out, "created study s: maximize on 82 nodes") {
		t.Errorf("%+v", r)
	}
	if r := d.ok(create); !strings.Contains(r.out, "exists already") {
		t.Errorf("%+v", r)
	}
	if r := d.run("create s --goal minimize --edges " + d.edges); r.code != exitConflict ||
		!strings.Contains(r.err, `there is a study called "s" already`) {
		t.Errorf("%+v", r)
	}
	three := d.asks("s -n 3 --key k")
	if again := d.asks("s -n 3 --key k"); len(three) != 3 ||
		!slices.EqualFunc(three, again, func(a, b study.Issued) bool { return a.Trial == b.Trial && a.Node == b.Node }) {
		t.Errorf("%v, then %v", three, again)
	}
	if r := d.ok("tell s 1=0.5 2=-1e-3 3=failed", "--note", "rain"); strings.Count(r.out, "done") != 2 || strings.Count(r.out, "failed") != 1 {
		t.Errorf("%+v", r)
	}
	d.ok("tell s 1=0.5")
	if r := d.run("tell s 1=0.6"); r.code != exitConflict || !strings.Contains(r.err, "retract observation 1 first") {
		t.Errorf("%+v", r)
	}
	if r := d.run("tell s 2=-1e-3 1=0.6"); r.code != exitConflict || !strings.HasPrefix(r.out, "trial 2, ") ||
		strings.Count(r.out, "\n") != 1 {
		t.Errorf("what was told before the conflict is not shown: %+v", r)
	}
	d.ok("retract s 1 --note typo")
	d.ok("tell s 1=0.6")
	d.ok("observe s a0=0.1 b7=0.2")
	four := d.asks("s -n 4")
	d.ok(fmt.Sprintf("renew s %d --lease 3h", four[0].Trial))
	d.ok(fmt.Sprintf("release s %d", four[1].Trial))
	d.ok(fmt.Sprintf("abandon s %d --note gone", four[2].Trial))
	if r := d.run("ask s -n 99"); r.code != exitOK || !strings.Contains(r.err, "more than is left of the budget") {
		t.Errorf("%+v", r)
	}
	s := d.shown("s")
	if s.Spent != 8 || *s.Left != 0 || s.Values != 4 || s.Best.Value != 0.6 || s.Trials[study.TrialAbandoned] != 1 ||
		s.AllTrials[2].Note != "rain" || s.AllTrials[0].Holder != "anna" {
		t.Errorf("%+v", s.Summary)
	}
	r := d.run("ask s", "--json")
	var none study.Ask
	if err := json.Unmarshal([]byte(r.out), &none); err != nil || r.code != exitNothing || none.Short != "budget_reached" {
		t.Errorf("%+v, %v", r, err)
	}
	d.ok("pause s")
	if r := d.run("ask s"); r.code != exitNothing || !strings.Contains(r.err, "paused") || r.out != "" {
		t.Errorf("%+v", r)
	}
	d.ok("resume s")
	d.ok("close s")
	if r := d.run("resume s"); r.code != exitConflict {
		t.Errorf("%+v", r)
	}
	if r := d.ok("list"); !strings.Contains(r.out, "closed") {
		t.Errorf("%+v", r)
	}
	if r := d.ok("show s --trials"); strings.Count(r.out, "\n") < 4+len(s.AllTrials) {
		t.Errorf("%+v", r)
	}
	if r := d.ok("verify s --suggestions"); !strings.Contains(r.out, "3 suggestions recomputed") {
		t.Errorf("%+v", r)
	}
}

// What is exported goes on elsewhere as it does here.
func TestStudyExport(t *testing.T) { exportedStudy(t, newDesk(t), newDesk(t)) }

// exportedStudy takes a study from one place to another.
func exportedStudy(t *testing.T, d, there *desk) {
	_, measurements := ladder(t)
	d.ok("create s --goal learn --edges " + d.edges + " --measurements " + measurements)
	d.asks("s -n 2")
	file := filepath.Join(d.dir, "s.jsonl")
	if r := d.ok("export s -o " + file); !strings.Contains(r.err, "3 events to "+file) {
		t.Errorf("%+v", r)
	}
	if r := d.ok("export s --json -o " + file); r.out != fmt.Sprintf("{\"version\":1,\"file\":%q,\"events\":3}\n", file) {
		t.Errorf("%+v", r)
	}
	if text, err := os.ReadFile(file); err != nil || d.ok("export s -o -").out != string(text) {
		t.Errorf("another export by standard output, %v", err)
	}
	if r := d.run("export s -o " + file + ".gz"); r.code != exitUsage || !strings.Contains(r.err, "is not compressed") {
		t.Errorf("%+v", r)
	}
	if r := there.ok("import " + file); !strings.HasPrefix(r.out, "study s is imported: 3 events") || strings.Count(r.out, "\n") != 1 {
		t.Errorf("%+v", r)
	}
	here := d.asks("s -n 3")
	for k, i := range there.asks("s -n 3") {
		if i.Node != here[k].Node || *i.Mean != *here[k].Mean {
			t.Errorf("%+v there, %+v here", i, here[k])
		}
	}
	if r := there.run("import " + file); r.code != exitConflict || !strings.Contains(r.err, "use another name") {
		t.Errorf("%+v", r)
	}
	there.ok("import " + file + " --name copy")
	bare := d.ok("export s --without-graph").out
	if r := runLine(t, bare, "study", "import", "-", "--store", newDesk(t).store); r.code != exitUsage ||
		!strings.Contains(r.err, "the graph was not exported") {
		t.Errorf("%+v", r)
	}
	if r := runLine(t, bare[:len(bare)/2], "study", "import", "-", "--store", d.store); r.code != exitBadData {
		t.Errorf("%+v", r)
	}
}

func TestStudyRefuses(t *testing.T) {
	d := newDesk(t)
	d.ok("create s --goal maximize --edges " + d.edges)
	d.asks("s -n 1")
	for _, c := range []struct {
		code       int
		want, line string
	}{
		{exitUsage, "study has no command \"frob\"", "frob"},
		{exitUsage, "--goal is missing", "create t --edges " + d.edges},
		{exitUsage, "no graph", "create t --goal learn"},
		{exitUsage, "the name \"a/b\"", "create a/b --goal learn --edges " + d.edges},
		{exitUsage, "--lease -1s", "create t --goal learn --lease -1s --edges " + d.edges},
		{exitUsage, "--exposure goes with --values count", "create t --goal learn --exposure expected --values yes-no --edges " + d.edges},
		{exitUsage, "--time when: there is no model over time here", "create t --goal learn --time when --edges " + d.edges + " --measurements " +
			d.edges},
		{exitUsage, "without exposures; leave it out", "observe s a1=3/20"},
		{exitBadData, "the exposure 0 is not above 0", "tell s 1=3/0"},
		{exitUsage, "give NAME", "ask"},
		{exitUsage, `"extra" is one argument too many`, "ask s extra"},
		{exitUsage, "there is no study \"t\"", "ask t"},
		{exitUsage, "-n 0", "ask s -n 0"},
		{exitUsage, "--count \"99999999999999999999\": give an integer", "ask s -n 99999999999999999999"},
		{exitUsage, "--lease \"1d\": give a duration such as 90m or 48h", "ask s --lease 1d"},
		{exitUsage, "give a trial and its value", "tell s 1"},
		{exitUsage, "a trial is a number", "tell s a=1"},
		{exitUsage, "there is no trial 7", "tell s 7=1"},
		{exitBadData, "1=nan: \"nan\" is not a finite number", "tell s 1=nan"},
		{exitBadData, "write it as in 0.52", "tell s 1=1,5"},
		{exitBadData, "not a finite number", "tell s 1=+Inf"},
		{exitBadData, "not a finite number", "tell s 1=0x1p4"},
		{exitBadData, "no such node: \"nowhere\"", "observe s nowhere=1"},
		{exitUsage, "either values", "observe s"},
		{exitUsage, "there is no observation 1", "retract s 1"},
		{exitUsage, "is not a number", "release s one"},
		{exitUsage, "there is no file", "import nowhere.jsonl"},
	} {
		r := d.run(c.line)
		if r.code != c.code || !strings.Contains(r.err, c.want) || r.out != "" {
			t.Errorf("study %s: %+v; want exit %d and %q", c.line, r, c.code, c.want)
		}
	}
	if s := d.shown("s"); s.Events != 2 {
		t.Errorf("%d events of what was refused", s.Events-2)
	}
	t.Setenv(storeEnv, "")
	if r := runLine(t, "", "study", "list"); r.code != exitUsage || !strings.Contains(r.err, "no store") {
		t.Errorf("%+v", r)
	}
	t.Setenv(storeEnv, filepath.Join(d.dir, "missing.db"))
	if r := runLine(t, "", "study", "list"); r.code != exitUsage || !strings.Contains(r.err, "there is no store") {
		t.Errorf("%+v", r)
	}
	t.Setenv(storeEnv, d.store)
	if r := runLine(t, "", "study", "list"); r.code != exitOK {
		t.Errorf("%+v", r)
	}
}

// Sites come from files, and stay with the graph.
func TestStudySites(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	allowed := write(t, d.dir, "allowed.csv", "a1\na2\na3\nb1\n")
	cost := write(t, d.dir, "cost.csv", "node,cost\na1,2\na2,2\na3,2\nb1,9\n")
	group := write(t, d.dir, "group.csv", "node,group\na1,g\na2,g\n")
	d.ok("create s --goal learn --budget 8 --group-cap 1 --allowed " + allowed + " --cost " + cost + " --group " + group + " --edges " +
		d.edges)
	got := d.asks("s -n 9")
	if len(got) != 2 || got[0].Cost != 2 {
		t.Errorf("%+v", got)
	}
}

// A store that a process holds is said to be held, by whom, with a code of its
// own.
func TestStudyHeld(t *testing.T) {
	if place := os.Getenv("GRFGP_TEST_HOLD"); place != "" { // the other process
		s, err := store.Open(t.Context(), place, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("held")
		bufio.NewReader(os.Stdin).ReadString('\n')
		s.Close()
		return
	}
	d := newDesk(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestStudyHeld$", "-test.v")
	cmd.Env = append(os.Environ(), "GRFGP_TEST_HOLD="+d.store)
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan() && !strings.Contains(lines.Text(), "held"); {
	}
	if r := d.run("list"); r.code != exitHeld || !strings.Contains(r.err, fmt.Sprintf("is used by process %d", cmd.Process.Pid)) {
		t.Errorf("%+v", r)
	}
	in.Close()
	cmd.Wait()
	d.ok("list")
}

// Twenty asks in one process are twenty asks with a restart after each command,
// at 1 and at 8 threads.
func TestStudyRestarts(t *testing.T) {
	d := newDesk(t)
	d.ok("create s --goal maximize --scales one --edges " + d.edges)
	measure := func(node string) string { return fmt.Sprint(len(node)) + "." + node[1:] }
	all, err := local.Open(t.Context(), store.Memory, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	if _, err := all.Import(t.Context(), strings.NewReader(d.ok("export s").out), ""); err != nil {
		t.Fatal(err)
	}
	straight, err := all.Study(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	for step := range 20 {
		threads := []string{"1", "8"}[step%2]
		got := d.asks("s --threads " + threads)[0]
		want, err := straight.Ask(t.Context(), study.AskRequest{Count: 1, Holder: "anna"})
		if err != nil || want.Trials[0].Node != got.Node {
			t.Fatalf("step %d: %s with restarts, %+v without, %v", step, got.Node, want.Trials, err)
		}
		d.ok(fmt.Sprintf("tell s %d=%s --threads %s", got.Trial, measure(got.Node), threads))
		value, err := readValue("", measure(got.Node))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := straight.Tell(t.Context(), got.Trial, study.Outcome{Value: value}, "anna"); err != nil {
			t.Fatal(err)
		}
	}
	if r := d.ok("verify s --suggestions"); !strings.Contains(r.out, "20 suggestions recomputed") {
		t.Errorf("%+v", r)
	}
}

// The same commands work on PostgreSQL.
func TestStudyPostgres(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.store = storetest.Postgres(t)
	d.ok("create s --goal learn --edges " + d.edges)
	d.asks("s -n 2")
	d.ok("tell s 1=0.5 2=0.7")
	if s := d.shown("s"); s.Values != 2 || s.Events != 4 {
		t.Errorf("%+v", s.Summary)
	}
	if r := d.ok("list"); !strings.Contains(r.out, "learn") {
		t.Errorf("%+v", r)
	}
}

// Ids that the service could not hold are refused by whoever takes a graph, and a
// key is told as it was given.
func TestStudyText(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	long := strings.Repeat("x", study.MaxID+1)
	edges := write(t, d.dir, "long.csv", "source,target\na,"+long+"\n")
	if r := d.run("create long --goal learn --edges " + edges); r.code != exitBadData ||
		!strings.Contains(r.err, "ids are UTF-8 text of at most") {
		t.Errorf("%+v", r)
	}
	net, err := graphio.ReadGraph(t.Context(), graphio.File(edges), graphio.Options{})
	if err != nil {
		t.Fatal(err)
	}
	packed, err := graphio.Encode(net)
	if err != nil {
		t.Fatal(err)
	}
	settings, err := study.Settings{Name: "long", Graph: store.GraphID(packed), Goal: bayesopt.Learn}.Complete()
	if err != nil {
		t.Fatal(err)
	}
	var archive strings.Builder
	err = study.Export(&archive, packed, func(yield func(study.Event, error) bool) {
		yield(study.Event{Seq: 1, Time: time.Now(), Data: study.Created{Settings: settings}}, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := runLine(t, archive.String(), "study", "import", "-", "--store", d.store); r.code != exitBadData ||
		!strings.Contains(r.err, "ids are UTF-8 text of at most") {
		t.Errorf("%+v", r)
	}
	d.ok("create s --goal learn --edges " + d.edges)
	d.ok("ask s -n 1", "--key", "study: k")
	if r := d.run("ask s -n 2", "--key", "study: k"); r.code != exitConflict ||
		!strings.HasPrefix(r.err, `grfgp: conflict: the key "study: k" was used for another ask`) {
		t.Errorf("%+v", r)
	}
}

// A study keeps its covariates: every command encodes the same columns again.
func TestStudyCovariates(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var table, measured strings.Builder
	table.WriteString("id,height,volume\n")
	measured.WriteString("id,volume\n")
	value := map[string]float64{}
	for i := range 41 {
		for k, side := range []string{"a", "b"} {
			id, h := fmt.Sprintf("%s%d", side, i), float64((i*i*7+k*31+3*i)%83)/4
			value[id] = -(h - 12) * (h - 12)
			fmt.Fprintf(&table, "%s,%v,%v\n", id, h, value[id])
			if i%4 == 0 {
				fmt.Fprintf(&measured, "%s,%v\n", id, value[id])
			}
		}
	}
	nodes, first := write(t, d.dir, "nodes.csv", table.String()), write(t, d.dir, "measured.csv", measured.String())
	create := "create s --goal maximize --edges " + d.edges + " --nodes " + nodes
	if r := d.run(create + " --covariates hieght"); r.code != exitUsage || !strings.Contains(r.err, `did you mean "height"`) {
		t.Errorf("%+v", r)
	}
	if r := d.run(create + " --roles some"); r.code != exitUsage || !strings.Contains(r.err, "--roles") {
		t.Errorf("%+v", r)
	}
	create += " --covariates all --roles none --measurements " + first
	d.ok(create)
	if r := d.ok(create); !strings.Contains(r.out, "exists already") {
		t.Errorf("%+v", r)
	}
	if s := d.shown("s").Settings; !slices.Equal(s.Covariates, []string{"height"}) || s.Spec.Roles != "none" {
		t.Errorf("covariates %v, roles %q", s.Covariates, s.Spec.Roles)
	}
	for range 4 {
		for _, trial := range d.asks("s -n 2") {
			d.ok(fmt.Sprintf("tell s %d=%v", trial.Trial, value[trial.Node]))
		}
	}
	if best := d.shown("s").Best.Value; best != 0 {
		t.Errorf("the best of 30 values is %v, want 0, which the covariate tells", best)
	}
	if r := d.ok("verify s --suggestions"); !strings.Contains(r.out, "4 suggestions recomputed") {
		t.Errorf("%+v", r)
	}
}
