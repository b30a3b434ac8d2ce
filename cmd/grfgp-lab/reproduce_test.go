package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"grfgp/internal/cli"
	"grfgp/lab/dataset"
	"grfgp/lab/experiment"
	"grfgp/lab/output"
	"grfgp/lab/plot"
)

// doubling is a small experiment; run is called before each part.
func doubling(name string, run func(part int) error) *experiment.Experiment {
	return &experiment.Experiment{
		Name: name, Title: "Doubling <" + name + ">", About: "about & more", Version: 1,
		Columns: []experiment.Column{{Name: "k", About: "a number"}, {Name: "double", Kind: experiment.Number, About: "twice it"},
			{Name: "seconds", Kind: experiment.Cost, About: "time"}},
		TimeColumns: []string{"seconds"},
		Parts: func(o experiment.Options) []experiment.Part {
			var parts []experiment.Part
			for k := range o.Repeats(2, 3) {
				parts = append(parts, experiment.Part{Name: fmt.Sprintf("k%d", k), Settings: k,
					Run: func(context.Context, func(done, total int64)) (*experiment.Result, error) {
						if err := run(k); err != nil {
							return nil, err
						}
						return &experiment.Result{Rows: []experiment.Row{{"k": k, "double": 2 * k, "seconds": 0.5}}}, nil
					}})
			}
			return parts
		},
		Show: func(_ experiment.Options, r *experiment.Results) (*experiment.Section, error) {
			return &experiment.Section{
				Tables: []experiment.Table{experiment.Compare("Table <T>", "",
					experiment.Comparison{What: "sum", Paper: "6", Theirs: r.Rows.Over("double").String(), Differs: "nothing"}),
					{Title: "Empty table", Head: []string{"a"}}},
				Figures:  []experiment.Figure{{Name: "line", Caption: "a line & a caption", Picture: plot.Chart{Title: "t"}.Picture()}},
				Findings: []string{"found <it>"},
			}, nil
		},
	}
}

// reproduceOf runs experiments as the verb does.
func reproduceOf(ctx context.Context, dir string, quick, asJSON bool, known, chosen []*experiment.Experiment) result {
	return reproduceBy(ctx, reproduceFlags{quick: quick, dir: dir}, asJSON, known, chosen)
}

func reproduceBy(ctx context.Context, f reproduceFlags, asJSON bool, known, chosen []*experiment.Experiment) result {
	var out, talk bytes.Buffer
	a := newApp(cli.Streams{Out: &out, Err: &talk})
	a.JSON, a.Seed = asJSON, 1
	a.Talk = cli.NewTalk(&talk, false)
	err := a.reproduce(ctx, known, chosen, &f)
	a.Talk.Close()
	code := a.Report(ctx, err)
	return result{code, out.String(), talk.String()}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestReproduce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	runs := 0
	count := func(int) error { runs++; return nil }
	one, two := doubling("one", count), doubling("two", count)
	known := []*experiment.Experiment{one, two}
	r := reproduceOf(context.Background(), dir, false, false, known, known[:1])
	if r.code != cli.ExitOK || !strings.Contains(r.out, "Table <T>") || !strings.Contains(r.out, "2.0 ± 2.0") ||
		!strings.Contains(r.out, "found <it>") || !strings.Contains(r.err, "one: 3 parts") {
		t.Fatalf("%+v", r)
	}
	if want := []string{".lock", "one", "one-costs.csv", "one-line.png", "one.csv", "one.json", "report.html",
		"report.md"}; !slices.Equal(names(t, dir), want) || len(names(t, filepath.Join(dir, "one"))) != 3 {
		t.Errorf("files %q", names(t, dir))
	}
	page := readText(t, filepath.Join(dir, "report.html"))
	for _, want := range []string{"Doubling &lt;one&gt;", "Table &lt;T&gt;", "found &lt;it&gt;", "about &amp; more", "data:image/png;base64,",
		"Not run here: two", "grfgp-lab reproduce one", "prefers-color-scheme: dark"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the report", want)
		}
	}
	if strings.Contains(page, "Empty table") || strings.Contains(r.out, "Empty table") {
		t.Error("a table without rows is shown")
	}
	if strings.Contains(page, "ZgotmplZ") || strings.Contains(page, "http://") || strings.Contains(page, "https://") ||
		strings.Contains(page, "<script") {
		t.Error("the report is not made of its own parts alone")
	}
	const want = "| sum | 6 | 2.0 ± 2.0 | – | nothing |\n\n![a line & a caption](one-line.png)"
	if text := readText(t, filepath.Join(dir, "report.md")); !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	csv := readText(t, filepath.Join(dir, "one.csv"))

	r = reproduceOf(context.Background(), dir, false, true, known, known)
	var answer struct {
		Version     int
		Experiments []struct {
			Name    string
			Section struct{ Tables []experiment.Table }
		}
	}
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil || r.code != cli.ExitOK || answer.Version != 1 ||
		len(answer.Experiments) != 2 ||
		answer.Experiments[1].Section.Tables[0].Rows[0][1] != "6" {
		t.Errorf("%v: %+v", err, r)
	}
	if runs != 6 || !strings.Contains(r.err, "one: 3 parts, 3 of them from an earlier run") ||
		readText(t, filepath.Join(dir, "one.csv")) != csv {
		t.Errorf("%d runs; %s", runs, r.err)
	}
	if page := readText(t, filepath.Join(dir, "report.html")); !strings.Contains(page, `id="one"`) || !strings.Contains(page, `id="two"`) ||
		strings.Contains(page, "Not run here") {
		t.Error("the report is not over both")
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// An interrupted run keeps finished parts, and the next one continues.
func TestReproduceInterrupted(t *testing.T) {
	dir := t.TempDir()
	runs := map[int]int{}
	ctx, stop := context.WithCancel(context.Background())
	stopping := []*experiment.Experiment{doubling("one", func(k int) error {
		runs[k]++
		if k == 1 && runs[k] == 1 {
			stop()
			return ctx.Err()
		}
		return nil
	})}
	r := reproduceOf(ctx, dir, false, false, stopping, stopping)
	if r.code != cli.ExitInterrupted || !strings.Contains(r.err, "the same command continues from there") ||
		len(names(t, filepath.Join(dir, "one"))) != 1 {
		t.Errorf("%+v", r)
	}
	r = reproduceOf(context.Background(), dir, false, false, stopping, stopping)
	if r.code != cli.ExitOK || !maps.Equal(runs, map[int]int{0: 1, 1: 2, 2: 1}) {
		t.Errorf("%+v, runs %v", r, runs)
	}
}

// An experiment that fails does not stop the others; the failure is reported at once and at the end.
func TestReproduceWithoutData(t *testing.T) {
	dir := t.TempDir()
	fine, bare, broken := doubling("fine", func(int) error { return nil }), doubling("bare", nil),
		doubling("broken", func(int) error { return errors.New("it broke") })
	whole := bare.Parts
	bare.Parts = func(o experiment.Options) []experiment.Part {
		parts := whole(o)
		for k := range parts {
			parts[k].Ready = func() error { return fmt.Errorf("%w: run 'grfgp-lab dataset fetch bare'", experiment.ErrNoData) }
		}
		return parts
	}
	all := []*experiment.Experiment{bare, fine, broken}
	r := reproduceOf(context.Background(), dir, false, false, all, all)
	if r.code != cli.ExitBadData || !strings.Contains(r.err, "grfgp-lab dataset fetch bare") ||
		!strings.Contains(r.err, "2 of 3 experiments are missing (bare, broken)") || !strings.Contains(r.out, "fine") {
		t.Errorf("%+v", r)
	}
	if reason, end := strings.Index(r.err, "bare: skipped: no data: run 'grfgp-lab dataset fetch bare'"),
		strings.Index(r.err, "fine: 3 parts"); reason < 0 || end < reason {
		t.Errorf("the reason is not given at once: %s", r.err)
	}
	if r := reproduceOf(context.Background(), dir, false, false, all, all[2:]); r.code != cli.ExitInternal ||
		!strings.Contains(r.err, "it broke") {
		t.Errorf("%+v", r)
	}
	if page := readText(t, filepath.Join(dir, "report.html")); !strings.Contains(page, "Not run here: bare, broken") {
		t.Error("the report does not say what is missing")
	}
}

// Damaged data gives the exit code for bad data and says what to do.
func TestReproduceDamagedData(t *testing.T) {
	bad := []*experiment.Experiment{doubling("one", func(int) error {
		return fmt.Errorf("%w; 'grfgp-lab dataset fetch one' downloads it again", dataset.ErrDamaged)
	})}
	if r := reproduceOf(context.Background(), t.TempDir(), false, false, bad, bad); r.code != cli.ExitBadData ||
		!strings.Contains(r.err, "grfgp-lab dataset fetch one") {
		t.Errorf("%+v", r)
	}
}

// A pattern selects among all chosen experiments; one that matches nothing is a usage error.
func TestReproduceOnly(t *testing.T) {
	fine := func(int) error { return nil }
	one, two := doubling("one", fine), doubling("two", fine)
	whole := two.Parts
	two.Parts = func(o experiment.Options) []experiment.Part {
		parts := whole(o)
		for k := range parts {
			parts[k].Name = "other-" + parts[k].Name
		}
		return parts
	}
	all := []*experiment.Experiment{one, two}
	for only, code := range map[string]int{"^k1$": cli.ExitOK, "^other": cli.ExitOK, "zzz": cli.ExitUsage} {
		r := reproduceBy(context.Background(), reproduceFlags{dir: t.TempDir(), only: only}, false, all, all)
		if r.code != code || code == cli.ExitUsage && !strings.Contains(r.err, "its parts are k0, k1, k2") {
			t.Errorf("--only %s: %+v", only, r)
		}
	}
	if r := reproduceBy(context.Background(), reproduceFlags{dir: t.TempDir(), finished: true}, false, all,
		all[:1]); r.code != cli.ExitBadData ||
		!strings.Contains(r.err, "no finished parts") {
		t.Errorf("%+v", r)
	}
	if r := reproduceBy(context.Background(), reproduceFlags{dir: t.TempDir(), finished: true}, true, all, all[:1]); !strings.Contains(r.out,
		`"experiments":[]`) {
		t.Errorf("%+v", r)
	}
}

// A quick run does not overwrite a full one, and a report states its origin.
func TestReproduceQuickAndFull(t *testing.T) {
	dir := t.TempDir()
	all := []*experiment.Experiment{doubling("one", func(int) error { return nil }), doubling("two", func(int) error { return nil })}
	quick := reproduceOf(context.Background(), dir, true, false, all, all[:1])
	const origin = "A quick run, with small sizes and few seeds. Based on 2 of 2 parts, which took 1 s in total. Written by grfgp "
	for _, file := range []string{"report.html", "report.md"} {
		text := readText(t, filepath.Join(dir, file))
		for _, want := range []string{origin, runtime.GOOS + "/" + runtime.GOARCH, "grfgp-lab reproduce one --quick", "Not run here: two"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in %s:\n%s", want, file, text)
			}
		}
	}
	full := reproduceBy(context.Background(), reproduceFlags{dir: dir, only: "k[01]"}, false, all, all[:1])
	if quick.code != cli.ExitOK || full.code != cli.ExitOK {
		t.Errorf("%+v, %+v", quick, full)
	}
	csv := readText(t, filepath.Join(dir, "one.csv"))
	if r := reproduceOf(context.Background(), dir, true, false, all, all); r.code != cli.ExitUsage ||
		!strings.Contains(r.err, "a full run of one") || readText(t, filepath.Join(dir, "one.csv")) != csv {
		t.Errorf("%+v", r)
	}
	r := reproduceBy(context.Background(), reproduceFlags{dir: dir, finished: true}, false, all, all[:1])
	text := readText(t, filepath.Join(dir, "report.md"))
	if r.code != cli.ExitOK || !strings.Contains(text, "Based on 2 of 3 parts") || !strings.Contains(text,
		"Command: `grfgp-lab reproduce one`.") ||
		strings.Contains(text, "quick") {
		t.Errorf("%+v: %s", r, text)
	}
}

// A damaged part is computed again; a damaged summary is an error.
func TestReproduceDamaged(t *testing.T) {
	dir := t.TempDir()
	runs := 0
	all := []*experiment.Experiment{doubling("one", func(int) error { runs++; return nil })}
	reproduceOf(context.Background(), dir, true, false, all, all)
	parts := filepath.Join(dir, "one")
	if err := os.WriteFile(filepath.Join(parts, names(t, parts)[0]), []byte(`{"format":`), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := reproduceOf(context.Background(), dir, false, false, all, all); r.code != cli.ExitOK ||
		!strings.Contains(r.err, "damaged; it is computed again") || runs != 4 {
		t.Errorf("%d runs, %+v", runs, r)
	}
	if page := readText(t, filepath.Join(dir, "report.html")); strings.Contains(page, "quick") {
		t.Error("the report is of the quick run")
	}
	if err := os.WriteFile(filepath.Join(dir, "one.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := reproduceOf(context.Background(), dir, false, false, all, nil); r.code != cli.ExitBadData || !strings.Contains(r.err, "damaged") {
		t.Errorf("%+v", r)
	}
}

func TestReproduceLocked(t *testing.T) {
	dir := t.TempDir()
	held, err := output.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := runLine(t, "", "reproduce", "theory", "--quick", "-o", dir)
	if r.code != cli.ExitHeld || !strings.Contains(r.err, "another grfgp-lab is running") {
		t.Errorf("%+v", r)
	}
	held.Close()
	again, err := output.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

func TestReproduceUsage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"reproduce"}, "no experiment given: name one or more of"},
		{[]string{"reproduce", "frob"}, `there is no experiment "frob"`},
		{[]string{"reproduce", "theory", "--seeds", "-1"}, "--seeds -1"},
		{[]string{"reproduce", "theory", "-o", file}, "name another folder"},
	} {
		if r := runLine(t, "", c.args...); r.code != cli.ExitUsage || !strings.Contains(r.err, c.want) {
			t.Errorf("%q: %+v, want %q", c.args, r, c.want)
		}
	}
	help := runLine(t, "", "reproduce", "--help")
	for _, e := range experiment.All() {
		if !strings.Contains(help.out, "\n  "+e.Name) {
			t.Errorf("%s is not in the help:\n%s", e.Name, help.out)
		}
	}
	for _, want := range []string{"--quick", "--seeds", "-o, --dir folder", "report.html", "all"} {
		if !strings.Contains(help.out, want) {
			t.Errorf("no %q in the help:\n%s", want, help.out)
		}
	}
}
