package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"grfgp/dataset"
	"grfgp/internal/objective"
)

// sharedData lets the test use the data beside the repository, or skips it.
func sharedData(t testing.TB) dataset.Store {
	t.Helper()
	dir := filepath.Join("..", "..", "shared", "datasets")
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

// What an oracle without noise reaches on the paper's single peak, and uniform
// draws on other tasks, was computed elsewhere.
func TestHonestyRows(t *testing.T) {
	if testing.Short() {
		t.Skip("a grid of a million nodes, in -short")
	}
	peak := loaded(t, func() (*objective.Task, error) { return objective.SinglePeak(1000) })
	r := oracle(peak, searchSettings{Steps: 1000}, Row{})
	all := &Results{arrays: map[string]map[string][]float64{}}
	all.add("oracle", r)
	curve := unfolded(all, "oracle")
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
		// They are means over random draws: some hundred of them at least.
		if math.Abs(mean-c.mean) > 3*c.sd/10 || math.Abs(sd-c.sd) > 0.2*c.sd {
			t.Errorf("%s: uniform draws have %.4f ± %.4f, want %.3f ± %.3f", c.name, mean, sd, c.mean, c.sd)
		}
	}
}

// A curve that is kept where it changes comes back whole.
func TestSearchCurves(t *testing.T) {
	for _, curve := range [][]float64{{3}, {3, 3, 2, 2, 2, 1, 0, 0}, {0, 0}, {5, 4, 3, 2, 1, 1}} {
		r := searched(Row{}, curve)
		all := &Results{arrays: map[string]map[string][]float64{}}
		all.add("one", r)
		if got := unfolded(all, "one"); !slices.Equal(got, curve) {
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

// Both arms with a model start from the same nodes, and a search is the same
// again.
func TestSearchIsReproducible(t *testing.T) {
	if testing.Short() {
		t.Skip("a search of some seconds, in -short")
	}
	noData(t)
	var first []string
	for range 2 {
		var all []string
		for _, c := range bayesoptCells(Options{Quick: true, Seed: 1}) {
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

// Panels whose data is not here are left out, and said to be.
func TestPanelsWithoutData(t *testing.T) {
	noData(t)
	o := Options{Quick: true, Seed: 1}
	for _, c := range bayesoptCells(o) {
		if s := c.Settings.(searchSettings); s.Data != "" {
			t.Errorf("%s needs %s", c.Name, s.Data)
		}
	}
	s, err := showBayesopt(o, &Results{arrays: map[string]map[string][]float64{}})
	if err != nil || len(s.Findings) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if err := traffic().Ready(); !errors.Is(err, ErrNoData) || !errors.Is(err, dataset.ErrMissing) {
		t.Errorf("%v", err)
	}
}

// Where Twitch and YouTube are not here, others stand in and are called so.
func TestStandIns(t *testing.T) {
	store := sharedData(t)
	for _, p := range panels(store) {
		if p.key == "g" && !store.Has("twitch") && (p.data != "twitter" || p.title != "Twitter, a stand-in" || p.note == "") {
			t.Errorf("%+v", p)
		}
		if p.key == "h" && !store.Has("youtube") && (p.data != "notredame" || p.note == "") {
			t.Errorf("%+v", p)
		}
	}
}
