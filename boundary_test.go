package grfgp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/replay"
)

// plain is a Spec that leaves little to choose: tests of what is refused are quick.
var plain = grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Scales: "one", Trend: "none"}}

// only drops what comes with an error, which must be nothing.
func only[T any](v *T, err error) error {
	if v != nil && err != nil {
		return errors.Join(errHalfMade, err)
	}
	return err
}

var errHalfMade = errors.New("something half-made came with an error")

// Invalid arguments of any kind give an error that wraps the right sentinel,
// never a panic or a partial result.
func TestBadInputIsRefused(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	g, d := field(t, 6)
	rings, l := fourRings(t)
	with := func(change func(*gp.Data)) gp.Data {
		own := d.Clone()
		change(&own)
		return own
	}
	data := map[string]gp.Data{
		"no data":              {},
		"a node too high":      with(func(d *gp.Data) { d.Nodes[1] = 36 }),
		"a negative node":      with(func(d *gp.Data) { d.Nodes[1] = -1 }),
		"values missing":       with(func(d *gp.Data) { d.Y = d.Y[:3] }),
		"noise missing":        with(func(d *gp.Data) { d.NoiseVar = []float64{1} }),
		"a value that is none": with(func(d *gp.Data) { d.Y[2] = math.NaN() }),
		"values too far apart": with(func(d *gp.Data) { d.Y[0], d.Y[1], d.Y[2] = 1.7e308, -1.7e308, -1.7e308 }),
	}
	labels := map[string]gp.Labels{
		"no labels":          {Classes: 2},
		"a label too high":   {Nodes: []int{0, 32}, Class: []int{0, 1}, Classes: 2},
		"classes missing":    {Nodes: []int{0, 8, 3}, Class: []int{0, 1}, Classes: 2},
		"a class too high":   {Nodes: []int{0, 8}, Class: []int{0, 2}, Classes: 2},
		"a negative class":   {Nodes: []int{0, 8}, Class: []int{0, -1}, Classes: 2},
		"one class":          {Nodes: []int{0, 8}, Class: []int{1, 1}, Classes: 2},
		"no number of class": {Nodes: []int{0, 8}, Class: []int{0, 1}},
	}
	folds := map[string]crossval.Options{
		"another scheme": {Folds: 3, Scheme: "neighborhoods"},
		"one fold":       {Folds: 1, Scheme: crossval.Scattered},
		"too many folds": {Folds: 100, Scheme: crossval.Neighbourhoods},
	}
	two := crossval.Options{Folds: 2, Scheme: crossval.Scattered}

	type bad struct {
		name string
		want error // nil: any
		call func() error
	}
	var cases []bad
	add := func(name string, want error, call func() error) { cases = append(cases, bad{name, want, call}) }
	for name, d := range data {
		add(name+", Fit", gp.ErrData, func() error { return only(grfgp.Fit(ctx, g, d, plain)) })
		add(name+", Validate", gp.ErrData, func() error { return only(crossval.Validate(ctx, g, d, plain, two)) })
	}
	for name, l := range labels {
		for m := range gp.ClassMethodNames() {
			add(name+", Classify", gp.ErrData, func() error { return only(grfgp.Classify(ctx, rings, l, plain, gp.ClassMethod(m))) })
		}
		add(name+", ValidateClasses", gp.ErrData, func() error {
			return only(crossval.ValidateClasses(ctx, rings, l, plain, gp.Dirichlet, two))
		})
	}
	for name, opts := range folds {
		add(name+", Validate", grfgp.ErrSpec, func() error { return only(crossval.Validate(ctx, g, d, plain, opts)) })
		add(name+", ValidateClasses", grfgp.ErrSpec, func() error {
			return only(crossval.ValidateClasses(ctx, rings, l, plain, gp.Dirichlet, opts))
		})
	}
	for _, solver := range gp.SolverNames()[1:] {
		spec := plain
		spec.Solver = solver
		m, err := grfgp.Fit(ctx, g, d, spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, nodes := range [][]int{{-1}, {3, 36}} {
			add("Predict", grfgp.ErrNode, func() error { _, err := m.Predict(ctx, nodes); return err })
			add("Sample", grfgp.ErrNode, func() error { return only(m.Sample(ctx, nodes, 2, 1)) })
		}
		add("-1 draws", nil, func() error { return only(m.Sample(ctx, []int{1}, -1, 1)) })
	}
	for _, method := range []gp.ClassMethod{gp.Dirichlet, gp.Variational, gp.Spreading} {
		c, err := grfgp.Classify(ctx, rings, l, plain, method)
		if err != nil {
			t.Fatal(err)
		}
		for _, nodes := range [][]int{{-1}, {3, 32}} {
			add("Probabilities", grfgp.ErrNode, func() error { return only(c.Probabilities(ctx, nodes)) })
			add("Sample of classes", grfgp.ErrNode, func() error { _, err := c.Sample(ctx, nodes, 2, 1); return err })
		}
		add("-1 draws of classes", nil, func() error { _, err := c.Sample(ctx, []int{1}, -1, 1); return err })
		add("pending twice", nil, func() error {
			_, _, err := bayesopt.SuggestLabels(ctx, c, 1, bayesopt.LabelOptions{Allowed: []int{1, 2}, Pending: []int{4, 4}})
			return err
		})
	}
	add("a method of classes that is none", nil, func() error { return only(grfgp.Classify(ctx, rings, l, plain, gp.ClassMethod(99))) })
	add("a trend of classes", grfgp.ErrSpec, func() error {
		return only(grfgp.Classify(ctx, rings, l, grfgp.Spec{Expression: grfgp.Expression{Trend: "degree"}}, gp.Dirichlet))
	})
	add("a budget that is none", bayesopt.ErrOptions, func() error {
		budget := math.NaN()
		o, err := grfgp.NewOptimizer(g, plain, bayesopt.Options{})
		if err != nil {
			return nil
		}
		_, err = o.Ask(ctx, bayesopt.Request{Budget: &budget})
		return err
	})
	add("values of other nodes", bayesopt.ErrOptions, func() error {
		return only(replay.Run(ctx, g, d.Y, plain, replay.Options{Steps: 1, Seeds: 1}))
	})
	for _, c := range cases {
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%s: panic: %v", c.name, p)
				}
			}()
			if err := c.call(); err == nil || c.want != nil && !errors.Is(err, c.want) || errors.Is(err, errHalfMade) {
				t.Errorf("%s: %v, want %v", c.name, err, c.want)
			}
		}()
	}
}

// If a kernel cannot be made, every function that needs it returns the error.
func TestNoKernelIsAnError(t *testing.T) {
	t.Parallel()
	rings, l := fourRings(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, method := range []gp.ClassMethod{gp.Dirichlet, gp.Spreading} {
		if err := only(grfgp.Classify(gone, rings, l, grfgp.Spec{Expression: grfgp.Expression{Method: "grf", Scales: "one"}},
			method)); !errors.Is(err, context.Canceled) ||
			errors.Is(err, errHalfMade) {
			t.Errorf("%v, when nobody waits any more: %v", method, err)
		}
	}
	large, err := graph.Grid(60, 60)
	if err != nil {
		t.Fatal(err)
	}
	spec := plain
	spec.Method = "dense"
	if err := only(grfgp.Classify(t.Context(), large, l, spec, gp.Dirichlet)); err == nil || errors.Is(err, errHalfMade) {
		t.Errorf("eigenvectors of %d nodes, for classes: %v", large.Len(), err)
	}
	if err := only(grfgp.Fit(t.Context(), large, gp.Data{Nodes: []int{1, 2}, Y: []float64{1, 2}}, spec)); err == nil ||
		errors.Is(err, errHalfMade) {
		t.Errorf("eigenvectors of %d nodes: %v", large.Len(), err)
	}
}

// Empty lists of nodes and zero draws give empty results.
func TestNothingComesOfNothing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	g, d := field(t, 6)
	for _, solver := range gp.SolverNames()[1:] {
		spec := plain
		spec.Solver = solver
		m, err := grfgp.Fit(ctx, g, d, spec)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Predict(ctx, nil)
		if err != nil || len(p.Mean)+len(p.SD) != 0 {
			t.Errorf("%s: %+v, %v", solver, p, err)
		}
		for _, draws := range []int{0, 3} {
			if s, err := m.Sample(ctx, []int{1, 2}[:2*(3-draws)/3], draws, 1); err != nil || !s.IsEmpty() {
				t.Errorf("%s: %d draws: %v, %v", solver, draws, s, err)
			}
		}
	}
	rings, l := fourRings(t)
	for _, method := range []gp.ClassMethod{gp.Dirichlet, gp.Variational, gp.Spreading} {
		c, err := grfgp.Classify(ctx, rings, l, plain, method)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := c.Probabilities(ctx, nil); err != nil || !p.IsEmpty() {
			t.Errorf("%v: %v, %v", method, p, err)
		}
		if method == gp.Spreading {
			continue // has no draws
		}
		for _, draws := range []int{0, 3} {
			if s, err := c.Sample(ctx, []int{1, 2}[:2*(3-draws)/3], draws, 1); err != nil || len(s) != 0 {
				t.Errorf("%v: %d draws: %v, %v", method, draws, s, err)
			}
		}
	}
}

// If the caller changes arguments or results afterwards, the model does not change.
func TestModelIsItsOwn(t *testing.T) {
	t.Parallel()
	g, d := field(t, 6)
	mean, noise := 20.0, 0.5
	spec := plain
	spec.Mean, spec.NoiseSD = &mean, &noise
	m, err := grfgp.Fit(t.Context(), g, d, spec)
	if err != nil {
		t.Fatal(err)
	}
	save := func() string {
		var file bytes.Buffer
		if err := m.Save(&file); err != nil {
			t.Fatal(err)
		}
		return file.String()
	}
	before := save()
	returned := m.Data()
	for _, d := range []gp.Data{d, returned} {
		d.Nodes[0], d.Y[0] = 35, 99
	}
	mean, noise = 99, 99
	if after := save(); after != before {
		t.Errorf("%s after everything was written over, %s before", after, before)
	}
	for _, method := range []gp.ClassMethod{gp.Dirichlet, gp.OneVsAll, gp.Variational, gp.Spreading} {
		rings, l := fourRings(t)
		c, err := grfgp.Classify(t.Context(), rings, l, plain, method)
		if err != nil {
			t.Fatal(err)
		}
		chances := func() string {
			p, err := c.Probabilities(t.Context(), []int{1, 9, 20})
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(p.RawMatrix().Data, c.LeaveOneOut().RawMatrix().Data)
		}
		was := chances()
		clear(l.Nodes)
		clear(l.Class)
		if now := chances(); now != was {
			t.Errorf("%v: %s after the labels were written over, %s before", method, now, was)
		}
	}
}

// The Spec of a classifier holds all choices.
func TestClassSpecIsFilledIn(t *testing.T) {
	t.Parallel()
	rings, l := fourRings(t)
	for _, method := range []gp.ClassMethod{gp.Dirichlet, gp.Spreading} {
		c, err := grfgp.Classify(t.Context(), rings, l, grfgp.Spec{Seed: 7}, method)
		if err != nil {
			t.Fatal(err)
		}
		s := c.Spec()
		if slices.Contains([]string{s.Family, s.Method, s.Scales, s.Trend}, "") || s.Hops == 0 != (s.Method == "dense" || s.Method == "series") ||
			s.Seed != 7 || s.Check() != nil {
			t.Errorf("%v: %+v, %v", method, s, s.Check())
		}
	}
}

// A checkpoint can be resumed under the Spec that made it, and under no other.
func TestResumeWantsTheSameSpec(t *testing.T) {
	t.Parallel()
	g := pathAndStar(t)
	noise := 0.1
	start := func(spec grfgp.Spec) *grfgp.Optimizer {
		o, err := grfgp.NewOptimizer(g, spec, bayesopt.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 8 {
			if err := o.Tell(i, math.Sin(float64(i))); err != nil {
				t.Fatal(err)
			}
		}
		return o
	}
	made := func(spec grfgp.Spec) bayesopt.Checkpoint {
		o := start(spec)
		if _, err := o.Snapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
		c, ok := o.Checkpoint()
		if !ok {
			t.Fatal("nothing was learned")
		}
		return c
	}
	grf := grfgp.Spec{Expression: grfgp.Expression{Method: "grf", Family: "diffusion", Scales: "one", Trend: "none", Hops: 6},
		Walks: 30, Seed: 1}
	for _, spec := range []grfgp.Spec{{}, {Expression: grfgp.Expression{Hops: 12}}, {Expression: grfgp.Expression{Family: "matern"}},
		{Expression: grfgp.Expression{Family: "matern", Nu: 1, Method: "series"}},
		{Expression: grfgp.Expression{Method: "lowrank"}, Rank: 8}, {NoiseSD: &noise}, grf} {
		if err := start(spec).Resume(t.Context(), made(spec)); err != nil {
			t.Errorf("%+v: %v", spec, err)
		}
	}
	from := made(grf)
	for name, change := range map[string]func(*grfgp.Spec){
		"seed":   func(s *grfgp.Spec) { s.Seed = 2 },
		"walks":  func(s *grfgp.Spec) { s.Walks = 31 },
		"rank":   func(s *grfgp.Spec) { s.Rank = 7 },
		"family": func(s *grfgp.Spec) { s.Family = "free" },
		"method": func(s *grfgp.Spec) { s.Method = "series" },
		"hops":   func(s *grfgp.Spec) { s.Hops = 7 },
		"noise":  func(s *grfgp.Spec) { s.NoiseSD = &noise },
	} {
		other := grf
		change(&other)
		if err := start(other).Resume(t.Context(), from); !errors.Is(err, bayesopt.ErrOptions) {
			t.Errorf("another %s: %v", name, err)
		}
	}
	open := grfgp.Spec{Expression: grfgp.Expression{Hops: 6}, Seed: 1, Walks: 30}
	for name, tear := range map[string]func(e *grfgp.Expression){
		"family": func(e *grfgp.Expression) { e.Family = "" }, "method": func(e *grfgp.Expression) { e.Method = "" },
		"scales": func(e *grfgp.Expression) { e.Scales = "" }, "trend": func(e *grfgp.Expression) { e.Trend = "" },
	} {
		torn := from
		tear(&torn.Kernel)
		if err := start(open).Resume(t.Context(), torn); !errors.Is(err, bayesopt.ErrOptions) {
			t.Errorf("no %s: %v", name, err)
		}
	}
}

// without drops a key of the Spec in a JSON object.
func without(t *testing.T, text []byte, key string) string {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	spec := all["spec"].(map[string]any)
	if spec[key] == nil {
		t.Fatalf("there is no %s in %s", key, text)
	}
	delete(spec, key)
	out, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// A file whose Spec leaves the kernel open wraps ErrFile; a failing reader does
// not.
func TestLoadTellsWhoseFaultItIs(t *testing.T) {
	t.Parallel()
	g, d := field(t, 6)
	m, err := grfgp.Fit(t.Context(), g, d, plain)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := m.Save(&file); err != nil {
		t.Fatal(err)
	}
	head, body, _ := strings.Cut(file.String(), "\n")
	for _, key := range []string{"family", "method", "scales", "trend"} {
		torn := without(t, []byte(body), key)
		sum := crc32.Checksum([]byte(torn), crc32.MakeTable(crc32.Castagnoli))
		text := fmt.Sprintf("%s %08x\n%s\n", head[:strings.LastIndex(head, " ")], sum, torn)
		if err := only(grfgp.Load(t.Context(), strings.NewReader(text), g)); !errors.Is(err, grfgp.ErrFile) ||
			!strings.Contains(err.Error(), "kernel") || errors.Is(err, errHalfMade) {
			t.Errorf("no %s: %v", key, err)
		}
	}
	lost := errors.New("the disk is gone")
	for name, r := range map[string]io.Reader{
		"at once":       iotest.ErrReader(lost),
		"in the middle": io.MultiReader(strings.NewReader(head+"\n{"), iotest.ErrReader(lost)),
	} {
		if _, err := grfgp.Load(t.Context(), r, g); !errors.Is(err, lost) || errors.Is(err, grfgp.ErrFile) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
