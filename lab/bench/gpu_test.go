package bench

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"grfgp/graphio"
	"grfgp/internal/gpu"
	"grfgp/internal/testkit"
)

// All parts run on a simulated card, whose results are those of the processor.
func TestRunGPU(t *testing.T) {
	testkit.Unraced(t)
	o := GPUOptions{Device: gpu.Simulate(gpu.Simulated{}), Quick: true, Runs: 2, Seed: 1}
	stages := ""
	o.Stage = func(part string) func() { stages += part + " "; return func() {} }
	o.Predict = func(ctx context.Context, job GridJob) (GridCost, error) {
		var edges, given strings.Builder
		if err := job.Edges(&edges); err != nil {
			return GridCost{}, err
		}
		if err := job.Given(&given); err != nil {
			return GridCost{}, err
		}
		net, err := graphio.ReadGraph(ctx, graphio.Reader("edges", strings.NewReader(edges.String())), graphio.Options{})
		if err != nil {
			return GridCost{}, err
		}
		if net.Graph.Len() != 400 || strings.Count(given.String(), "\n") != 61 {
			return GridCost{}, fmt.Errorf("%d nodes, measured %q", net.Graph.Len(), given.String())
		}
		head := "node,mean,sd,lower\n"
		return GridCost{Pack: 3, Card: Predicted{MediumCost: MediumCost{Seconds: 2}}, Processor: &Predicted{MediumCost: MediumCost{Seconds: 8}}},
			job.Compare(strings.NewReader(head+"n0,1.5,0.5,0\nn1,2,1,0\n"), strings.NewReader(head+"n0,1.25,0.5,0\nn1,2,2,1\n"))
	}
	r, err := RunGPU(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Card != "simulated card" || !(r.CardCopy > 0) || !(r.HostCopy > 0) || stages != "products rings thompson predict " ||
		len(r.Published) != 2 || r.MostBytes == 0 {
		t.Errorf("%+v after %s", r, stages)
	}
	if len(r.Products) != 10 {
		t.Errorf("%d products", len(r.Products))
	}
	for _, p := range r.Products {
		if !(p.Difference < 1e-14) || !(p.Seconds > 0) || !(p.Processor > 0) || math.Abs(p.SpeedUp*p.Seconds/p.Processor-1) > 1e-12 {
			t.Errorf("product %+v", p)
		}
	}
	if len(r.Rings) != 3 || r.Rings[0].Card[0].Nodes != 128 || r.Rings[1].Protocol != "authors'" || r.Rings[2].Protocol != "clean" {
		t.Fatalf("rings %+v", r.Rings)
	}
	for _, c := range r.Rings { // hyperparameters are learned by rough solves, and the processor solves for draws in float32
		if len(c.Card) != 2 || !c.SameBytes || c.Processor == nil || !(c.Learned.Mean < 0.1) || !(c.Inferred.Mean < 1e-6) ||
			!(c.Inferred.Sample < 1e-4) || !(c.SpeedUp > 0) {
			t.Errorf("ring %+v: %+v, %+v", c, c.Learned, c.Inferred)
		}
	}
	if s := r.Thompson; s.Nodes != 900 || s.Card.Steps != thompsonSteps || s.Same != thompsonFirst+thompsonSteps || !(s.SpeedUp > 0) ||
		s.Chosen == "" {
		t.Errorf("steps %+v", s)
	}
	if p := r.Predict; p.SpeedUp != 4 || p.Difference.Mean != 0.5 || p.Difference.SD != 0.5 {
		t.Errorf("predict %+v: %+v", p, p.Difference)
	}
}

// A card alone, and only some parts.
func TestRunGPUAlone(t *testing.T) {
	testkit.Unraced(t)
	o := GPUOptions{Device: gpu.Simulate(gpu.Simulated{}), Quick: true, Alone: true, Runs: 1, Seed: 1, Parts: []string{"rings"},
		Stage: func(string) func() { return func() {} }}
	r, err := RunGPU(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.HostCopy != 0 || r.Products != nil || r.Thompson != nil || r.Predict != nil || len(r.Rings) != 3 || r.Rings[0].Processor != nil ||
		r.Rings[0].Learned != nil {
		t.Errorf("%+v", r)
	}
}

// A lost card is an error, not a figure.
func TestRunGPULost(t *testing.T) {
	o := GPUOptions{Device: gpu.Simulate(gpu.Simulated{FailAfter: 3}), Quick: true, Seed: 1, Parts: []string{"products"},
		Stage: func(string) func() { return func() {} }}
	if r, err := RunGPU(t.Context(), o); err == nil || !strings.Contains(err.Error(), gpu.ErrLost.Error()) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestCompareAnswers(t *testing.T) {
	for name, c := range map[string]struct{ got, want, err string }{
		"no rows":     {"node,mean,sd\n", "node,mean,sd\n", "row 1"},
		"other nodes": {"node,mean,sd\na,1,1\n", "node,mean,sd\nb,1,1\n", `"a" and "b"`},
		"fewer rows":  {"node,mean,sd\na,1,1\n", "node,mean,sd\na,1,1\nb,1,1\n", "row 2"},
		"no sd":       {"node,mean\na,1\n", "node,mean,sd\na,1,1\n", "columns"},
		"short":       {"node,mean,sd\na,1\n", "node,mean,sd\na,1,1\n", "too short"},
		"no number":   {"node,mean,sd\na,x,1\n", "node,mean,sd\na,1,1\n", `"x"`},
		"empty":       {"", "node,mean,sd\na,1,1\n", "without rows"},
	} {
		if d, err := compareAnswers(strings.NewReader(c.got), strings.NewReader(c.want)); err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
	d, err := compareAnswers(strings.NewReader("sd,node,mean\nNaN,a,1\n"), io.Reader(strings.NewReader("node,mean,sd\na,1,1\n")))
	if err != nil || !math.IsNaN(d.SD) || d.Mean != 0 {
		t.Errorf("%+v, %v", d, err)
	}
}

// The run that stands for several is the one with the median time.
func TestMedianRing(t *testing.T) {
	c := CardRing{Card: []Regression{{Features: 9}, {Features: 1}, {Features: 2}}}
	if c.Median().Features != 2 {
		t.Errorf("%+v", c.Median())
	}
	if p := publishedFor(1 << 20); p == nil || math.Abs(p.Total()-185.25) > 1e-9 || publishedFor(7) != nil {
		t.Errorf("%+v", p)
	}
}
