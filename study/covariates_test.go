package study_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"grfgp/bayesopt"
	"grfgp/covariate"
	"grfgp/graphio"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/study"
)

// scattered returns a node table whose column "height" has nothing to do with the graph.
func scattered(seed uint64) *graphio.NodeTable {
	random := rand.New(rand.NewPCG(seed, 1))
	height, zone := make([]float64, side*side), make([]string, side*side)
	for i, k := range random.Perm(side * side) {
		height[i], zone[i] = float64(k)/(side*side-1), fmt.Sprint("zone ", k%3)
	}
	return &graphio.NodeTable{Columns: []covariate.Column{covariate.NewNumbers("height", height), covariate.NewCategory("zone", zone)}}
}

// high is the value of a node: a function of its height alone, highest near 0.7.
func high(nodes *graphio.NodeTable, node int) float64 {
	h := nodes.Columns[0].Numbers[node]
	return -(h - 0.7) * (h - 0.7)
}

// onHeights returns a study of values that depend on height alone.
func onHeights(t *testing.T, seed uint64, change func(*study.Settings)) *field {
	nodes := scattered(seed)
	f := newField(t, nodes, change)
	f.value = func(node int) float64 { return high(nodes, node) }
	return f
}

// search returns the number of measurements until the highest value is found, and most
// if it takes longer.
func search(t *testing.T, f *field, most int) int {
	t.Helper()
	best := math.Inf(-1)
	for i := range side * side {
		best = max(best, f.value(i))
	}
	for done := 1; done < most; done++ {
		f.measure(t, f.ask(t, 1))
		found := false
		f.View(func(s *study.State) { r, _ := s.Best(); found = r.Value == best })
		if found {
			return done
		}
	}
	return most
}

// Where the value depends on a covariate alone, a study with the covariate finds the
// maximum sooner. If both were equally fast, a mean difference above 3 standard errors
// would have probability 0.004 (t, 19 degrees of freedom, one-sided).
func TestCovariatesFindTheMaximumSooner(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const most = 40
	pairs := testkit.Size(5, 20)
	sum, squares := 0.0, 0.0
	for seed := range uint64(pairs) {
		run := func(covariates ...string) int {
			return search(t, onHeights(t, seed, func(s *study.Settings) { s.Seed, s.Covariates = seed, covariates }), most)
		}
		with, without := run("height"), run()
		t.Logf("seed %d: %d measurements with the covariate, %d without", seed, with, without)
		d := float64(without - with)
		sum, squares = sum+d, squares+d*d
	}
	n := float64(pairs)
	mean := sum / n
	se := math.Sqrt((squares - n*mean*mean) / (n - 1) / n)
	if t.Logf("%.1f ± %.1f measurements fewer", mean, se); mean < 3*se {
		t.Errorf("%.1f ± %.1f measurements fewer with the covariate", mean, se)
	}
}

// With covariates, too, suggestions are a function of settings and events: after
// restarts, from checkpoints, and for engines that share covariates.
func TestCovariatesRestart(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	nodes := scattered(1)
	set := func(s *study.Settings) { s.Covariates = []string{covariate.All} }
	f := onHeights(t, 1, set)
	want := hard(t, f, func(f *field) *field { return f })
	if plain := hard(t, onHeights(t, 1, nil), func(f *field) *field { return f }); plain == want {
		t.Error("covariates change no suggestion")
	}
	kept := onHeights(t, 1, set)
	kept.keep = new(shelf)
	kept = kept.restart(t)
	if got := hard(t, kept, func(f *field) *field { return f.restart(t) }); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	engine, err := study.NewModelEngine(f.graph, nodes, f.Settings())
	if err != nil {
		t.Fatal(err)
	}
	other := f.Settings()
	other.Covariates = []string{"zone"}
	zone, err := engine.Sibling(nodes, other)
	if err != nil {
		t.Fatal(err)
	}
	sibling, err := engine.Sibling(nodes, f.Settings())
	if err != nil {
		t.Fatal(err)
	}
	for name, e := range map[string]*study.ModelEngine{"new": engine, "sibling": sibling} {
		if v, err := study.Verify(f.ctx, f.Events(f.ctx, 0), by(e)); err != nil || v.Suggestions != 25 {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
	if _, err := study.Verify(f.ctx, f.Events(f.ctx, 0), by(zone)); !errors.Is(err, study.ErrCorrupt) {
		t.Errorf("with another covariate: %v", err)
	}
}

// The snapshot says which terms the model has, and its baselines have the covariates.
func TestCovariatesInTheModel(t *testing.T) {
	t.Parallel()
	f := onHeights(t, 3, func(s *study.Settings) { s.Covariates, s.Goal = []string{"HEIGHT"}, bayesopt.Learn })
	for range 10 {
		f.measure(t, f.ask(t, 3))
	}
	p, err := f.Predictions(f.ctx)
	if err != nil || !p.Spec.Terms.Has(kernel.CovariateTerm) || p.Spec.Terms.Has(kernel.RoleTerm) {
		t.Errorf("terms %v, %v", p.Spec.Terms, err)
	}
	v, err := f.Calibration(f.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if line, ok := v.BaselineRMSE["least squares on covariates"]; !ok || v.RMSE > line/2 {
		t.Errorf("RMSE %v; baselines %v", v.RMSE, v.BaselineRMSE)
	}
}

func TestUnknownCovariates(t *testing.T) {
	t.Parallel()
	constant := &graphio.NodeTable{Columns: []covariate.Column{covariate.NewNumbers("flat", make([]float64, side*side))}}
	for _, c := range []struct {
		nodes      *graphio.NodeTable
		covariates []string
		says       []string
	}{
		{scattered(1), []string{"hieght"}, []string{`did you mean "height"`, "zone"}},
		{nil, []string{"height"}, []string{"node table"}},
		{constant, []string{"all"}, []string{"flat"}},
	} {
		settings, err := study.Settings{Name: "a", Graph: "g", Covariates: c.covariates}.Complete()
		if err != nil {
			t.Fatal(err)
		}
		_, err = study.NewModelEngine(newField(t, nil, nil).graph, c.nodes, settings)
		if !errors.Is(err, study.ErrInvalid) {
			t.Errorf("%v: %v", c.covariates, err)
			continue
		}
		for _, part := range c.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v does not say %q", err, part)
			}
		}
	}
	if _, err := (study.Settings{Name: "a", Graph: "g", Covariates: []string{""}}).Complete(); !errors.Is(err, study.ErrInvalid) {
		t.Errorf("a covariate without a name: %v", err)
	}
}

// A study that was created before there were roles has none, its events stay as they
// are, and creating it again has no effect.
func TestStudyFromBeforeRoles(t *testing.T) {
	t.Parallel()
	const created = `{"v":1,"seq":1,"time":"2026-01-01T00:00:00Z","kind":"created","data":{"settings":{"name":"field","graph":"g",` +
		`"goal":"maximize","spec":{"family":"diffusion","scales":"one","seed":1},"seed":5,"lease":"24h0m0s"}}}`
	var e study.Event
	if err := json.Unmarshal([]byte(created), &e); err != nil {
		t.Fatal(err)
	}
	log := new(study.MemoryLog)
	if err := log.Append(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	f := (&field{log: log, graph: newField(t, nil, nil).graph, clock: &clock{now: e.Time}}).restart(t)
	if text, err := json.Marshal(e); err != nil || string(text) != created {
		t.Errorf("%s, %v\nwant\n%s", text, err, created)
	}
	again, err := f.Settings().Complete()
	if err != nil || again.Spec.Roles != "auto" {
		t.Fatalf("roles %q, %v", again.Spec.Roles, err)
	}
	if isNew, err := study.Create(f.ctx, log, again, "", e.Time); err != nil || isNew {
		t.Errorf("created again: %v, %v", isNew, err)
	}
	again.Covariates = []string{"height"}
	if _, err := study.Create(f.ctx, log, again, "", e.Time); !errors.Is(err, study.ErrConflict) {
		t.Errorf("created again with a covariate: %v", err)
	}
	f.measure(t, f.ask(t, 6))
	if p, err := f.Predictions(f.ctx); err != nil || p.Spec.Roles != "none" {
		t.Errorf("%+v, %v", p.Spec, err)
	}
}

// Graphs that were packed before node tables had covariates load; of their columns those
// that have a role can be named.
func TestGraphFromBeforeCovariates(t *testing.T) {
	t.Parallel()
	const old = "grfgp-network 1\n" + `{"nodes":2,"entries":2,"ones":true,"columns":["x"]}` + "\n" +
		"\x01\x00\x00\x00\x01\x00\x00\x00" + "\x01\x00\x00\x00\x00\x00\x00\x00" + "\x01\x00\x00\x00\x01\x00\x00\x00ab" +
		"\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x00\x40"
	net, err := graphio.Decode([]byte(old))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		covariates []string
		says       string
	}{{nil, ""}, {[]string{"x"}, ""}, {[]string{"depth"}, "the columns are x"}} {
		settings, err := study.Settings{Name: "a", Graph: "g", Covariates: c.covariates}.Complete()
		if err != nil {
			t.Fatal(err)
		}
		_, err = study.NewModelEngine(net.Graph, net.Nodes, settings)
		if refused := err != nil; refused != (c.says != "") || refused && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v", c.covariates, err)
		}
	}
}
