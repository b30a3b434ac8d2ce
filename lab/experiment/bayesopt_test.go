package experiment

import (
	"context"
	"errors"
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
	"grfgp/internal/testkit"
	"grfgp/lab/dataset"
	"grfgp/lab/objective"
	"grfgp/replay"
)

// sharedData lets the test use the data beside the repository, or skips it.
func sharedData(t testing.TB) dataset.Store {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "..", "shared", "datasets")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no data beside the repository: %v", err)
	}
	t.(interface{ Setenv(key, value string) }).Setenv(dataset.Variable, dir)
	return dataset.Default()
}

// noData hides all data from the test.
func noData(t *testing.T) {
	t.Setenv(dataset.Variable, t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
}

func loaded(t testing.TB, f func() (*objective.Task, error)) *searchTask {
	t.Helper()
	task, err := f()
	if err != nil {
		t.Fatal(err)
	}
	return &searchTask{task.Graph, task.Table, task.Truth}
}

// Regrets of the oracle on the paper's single peak, and of uniform draws on other tasks,
// agree with an independent computation.
func TestHonestyRows(t *testing.T) {
	testkit.Full(t)
	peak := loaded(t, func() (*objective.Task, error) { return objective.SinglePeak(1000) })
	r := oracle(peak, searchSettings{Steps: 1000}, Row{})
	all := &Results{arrays: map[string]map[string][]float64{}}
	all.add("oracle", r)
	curve := curveOf(all, "oracle")
	for steps, want := range map[int]float64{10: .263, 100: .197, 1000: .090} {
		if math.Abs(curve[steps]-want) > 5e-4 {
			t.Errorf("the oracle has regret %.4f after %d steps, want %.3f", curve[steps], steps, want)
		}
	}
	for _, c := range []struct {
		name     string
		task     func() (*objective.Task, error)
		mean, sd float64
	}{{"two peaks", objective.TwoPeaks, .193, .157}, {"circle", objective.Circle, .063, .034}} {
		r, err := uniform(context.Background(), loaded(t, c.task), searchSettings{Start: 1000, Steps: 1000}, Row{})
		if err != nil {
			t.Fatal(err)
		}
		mean, sd := r.Rows[0].Num("regret"), r.Arrays["sd"][0]
		// The expected values are means over at least a hundred random draws.
		if math.Abs(mean-c.mean) > 3*c.sd/10 || math.Abs(sd-c.sd) > 0.2*c.sd {
			t.Errorf("%s: uniform draws have %.4f ± %.4f, want %.3f ± %.3f", c.name, mean, sd, c.mean, c.sd)
		}
	}
}

// Only changes of a curve are stored; curveOf restores it.
func TestSearchCurves(t *testing.T) {
	for _, curve := range [][]float64{{3}, {3, 3, 2, 2, 2, 1, 0, 0}, {0, 0}, {5, 4, 3, 2, 1, 1}} {
		r := searchResult(Row{}, curve)
		all := &Results{arrays: map[string]map[string][]float64{}}
		all.add("one", r)
		if got := curveOf(all, "one"); !slices.Equal(got, curve) {
			t.Errorf("%v came back as %v", curve, got)
		}
		row := r.Rows[0]
		if row.Num("regret") != curve[len(curve)-1] || row.Num("regret_start") != curve[0] {
			t.Errorf("%v: %v", curve, row)
		}
		if at := slices.Index(curve, 0); at >= 0 && row["found_at"] != at || at < 0 && row["found_at"] != nil {
			t.Errorf("%v: found at %v", curve, row["found_at"])
		}
	}
}

// Both methods with a model start from the same nodes, and a search is reproducible.
func TestSearchIsReproducible(t *testing.T) {
	testkit.Full(t)
	noData(t)
	var first []string
	for range 2 {
		var all []string
		for _, c := range bayesoptParts(Options{Quick: true, Seed: 1}) {
			s := c.Settings.(searchSettings)
			if s.Panel != "d" || s.Arm != "authors" && s.Arm != "random" {
				continue
			}
			r, err := c.Run(context.Background(), func(_, _ int64) {})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, fmt.Sprint(r.Rows[0]["regret_start"], r.Arrays["at"], r.Arrays["regret"]))
			if len(all) == 2 && r.Rows[0].Num("regret_start") <= 0 {
				t.Errorf("%s starts at %v", c.Name, r.Rows[0]["regret_start"])
			}
		}
		if first == nil {
			first = all
		}
		if len(all) != 2 || !slices.Equal(all, first) {
			t.Errorf("%q, at first %q", all, first)
		}
	}
}

// Searches with the authors' walks start from the same nodes as others, and learning the
// coefficients changes the search.
func TestSearchWithTheAuthorsWalks(t *testing.T) {
	g, err := graph.BarabasiAlbert(300, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	task := &searchTask{graph: g}
	for _, d := range g.Degrees() {
		task.table = append(task.table, math.Log(float64(d)))
	}
	s := searchSettings{Walks: 20, Hops: 1, Start: 40, Steps: 15, Seed: 3, Retrain: bayesopt.Schedule{Every: 600, Drift: -1}}
	start := startOf(task, s)
	ordered, table, was := task.ordered()
	sim, err := replay.Run(t.Context(), ordered, table, grfgp.Spec{}, replay.Options{
		Goal: bayesopt.Maximize, Policies: []replay.Policy{{Name: "random", Policy: bayesopt.Random{}}}, Start: s.Start, Steps: 1, Seeds: 1,
		Seed: s.Seed,
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := at(was, sim.Replays[0].Nodes[:s.Start]); !slices.Equal(start, want) {
		t.Errorf("starts from %v, other searches from %v", start, want)
	}
	best := math.Inf(-1)
	for _, i := range start {
		best = max(best, task.table[i])
	}
	var rows []string
	for _, untrained := range []bool{false, true} {
		s.Untrained = untrained
		r, err := searchWalking(t.Context(), task, s, Row{})
		if err != nil {
			t.Fatal(err)
		}
		row := r.Rows[0]
		if row.Num("regret_start") != slices.Max(task.table)-best || row.Num("regret") > row.Num("regret_start") {
			t.Errorf("regret from %v to %v, the best of the start being %v", row["regret_start"], row["regret"], best)
		}
		rows = append(rows, fmt.Sprint(r.Arrays["at"], r.Arrays["regret"]))
	}
	if rows[0] == rows[1] {
		t.Errorf("learned or not, %s", rows[0])
	}
}

// cachedSearches returns a cache with all parts of some panels, with invented regrets.
func cachedSearches(t *testing.T, o Options, panels ...string) memory {
	t.Helper()
	e, cache := bayesOptimisation(), memory{}
	for _, c := range e.Parts(o) {
		s := c.Settings.(searchSettings)
		if !slices.Contains(panels, s.Panel) {
			continue
		}
		row := Row{"panel": s.Panel, "task": "a task", "arm": s.Arm, "seed": int(s.Seed - o.Seed), "nodes": 9, "start": s.Start, "steps": 2}
		name, settings, err := e.key(c)
		if err != nil {
			t.Fatal(err)
		}
		if cache[name], err = e.encode(c, settings, searchResult(row, []float64{3, 2, 1})); err != nil {
			t.Fatal(err)
		}
	}
	return cache
}

// Finished parts are shown without their data, and those of stand-ins also if the
// original data set is present.
func TestFinishedPanelsStay(t *testing.T) {
	noData(t)
	o := Options{Seed: 1, Seeds: 2}
	cache := cachedSearches(t, o, "e", "g", "i")
	for _, here := range []bool{false, true} {
		if here { // by its name, at least
			dir := filepath.Join(os.Getenv(dataset.Variable), "snap")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "twitch_gamers.zip"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		finished := o
		finished.Finished = true
		r, err := runAll(context.Background(), bayesOptimisation(), finished, cache, Watch{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := showBayesopt(finished, r)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, row := range s.Tables[0].Rows {
			names = append(names, row[0])
		}
		if want := []string{"e Enron", "g Twitter, a stand-in", "i wind, 1000 hPa (0.1 km)"}; len(r.Parts) != len(cache) ||
			!slices.Equal(names, want) {
			t.Errorf("Twitch here %v: %d parts of %d, panels %q", here, len(r.Parts), len(cache), names)
		}
	}
}

// All parts of panels are listed; those without data cannot run, and a stand-in runs
// only if the original data set is missing.
func TestPanelsWithoutData(t *testing.T) {
	noData(t)
	o := Options{Seed: 1, Seeds: 1}
	seen := map[string]bool{}
	for _, c := range bayesoptParts(o) {
		s := c.Settings.(searchSettings)
		seen[s.Panel] = true
		if (c.Ready == nil) != (s.Data == "") || c.Ready != nil && !errors.Is(c.Ready(), ErrNoData) {
			t.Errorf("%s, on %q, would run", c.Name, s.Data)
		}
	}
	if len(seen) != 14 {
		t.Errorf("panels %v", seen)
	}
	s, err := showBayesopt(o, &Results{})
	if err != nil || len(s.Findings) != 1 || !strings.Contains(s.Findings[0], "g Twitch, h YouTube") {
		t.Errorf("%+v, %v", s, err)
	}
}

// Stand-ins for Twitch and YouTube are named as such.
func TestStandIns(t *testing.T) {
	for _, p := range panels(dataset.Store{}) {
		switch p.key {
		case "g":
			if p.name() != "g Twitter, a stand-in" || p.papers() != "Twitch: 0.47 / 0.48 / 0.5 / 0.94" || !strings.Contains(p.note, "Twitch") {
				t.Errorf("%+v", p)
			}
		case "h":
			if p.name() != "h Notre Dame, a stand-in" || !strings.HasPrefix(p.papers(), "YouTube: ") {
				t.Errorf("%+v", p)
			}
		case "g-twitch":
			if p.name() != "g Twitch" || p.papers() != "0.47 / 0.48 / 0.5 / 0.94" {
				t.Errorf("%+v", p)
			}
		case "five":
			if p.papers() != "" || p.name() != "five peaks, 1000²" {
				t.Errorf("%+v", p)
			}
		}
	}
}

// For five peaks the authors' file has means over iterations only; the table compares
// ours with them.
func TestMeanRegret(t *testing.T) {
	noData(t)
	o := Options{Seed: 1, Seeds: 2, Finished: true}
	r, err := runAll(context.Background(), bayesOptimisation(), o, cachedSearches(t, o, "five"), Watch{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := showBayesopt(o, r)
	if err != nil || len(s.Tables[0].Rows) != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	row := s.Tables[0].Rows[0]
	if row[1] != "–" || row[3] != "1.000 ± 0.000" || !strings.Contains(row[4],
		"0.8 / 0.7054 / 0.7055 / 0.8038; ours averaged over steps: authors' kernel 1.500 ± 0.000") {
		t.Errorf("%q", row)
	}
}
