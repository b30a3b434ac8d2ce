package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"grfgp/graphio"
	"grfgp/lab/dataset"
)

// A run gets files that the readers understand, and its answer is scored at the nodes without a measurement: the
// truth has error 0, the truth plus one has error 1.
func TestRunMedium(t *testing.T) {
	off := 0.0
	o := MediumOptions{Quick: true, Seed: 1, Cases: []string{"mesh"}, Stage: func(string) func() { return func() {} }}
	o.Program = func(ctx context.Context, job MediumJob) (MediumCost, error) {
		var edges, given strings.Builder
		if err := job.Edges(&edges); err != nil {
			return MediumCost{}, err
		}
		if err := job.Given(&given); err != nil {
			return MediumCost{}, err
		}
		net, err := graphio.ReadGraph(ctx, graphio.Reader("edges", strings.NewReader(edges.String())), graphio.Options{})
		if err != nil {
			return MediumCost{}, err
		}
		if got := strings.Count(given.String(), "\n") - 1; got != 180 || net.Graph.Len() != 600 || job.Verb != "predict" {
			return MediumCost{}, fmt.Errorf("%s with %d measurements and %d nodes", job.Verb, got, net.Graph.Len())
		}
		task, err := Mediums()[0].make(ctx, o.Store, 600, 180, 1)
		if err != nil {
			return MediumCost{}, err
		}
		measured := map[int]bool{}
		for _, i := range task.given {
			measured[i] = true
		}
		var rows []map[string]any
		for i, v := range task.truth {
			mean := v + off
			if measured[i] {
				mean = 100
			}
			rows = append(rows, map[string]any{"node": fmt.Sprintf("n%d", i), "mean": mean, "lower": mean - 0.5, "upper": mean + 0.5,
				"measured": measured[i]})
		}
		text, err := json.Marshal(map[string]any{"nodes": rows})
		if err != nil {
			return MediumCost{}, err
		}
		return MediumCost{Seconds: 2, CPU: 3}, job.Answer(io.Reader(strings.NewReader(string(text))))
	}
	for _, want := range []struct{ off, coverage float64 }{{0, 1}, {1, 0}} {
		off = want.off
		r, err := RunMedium(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Cases) != 1 {
			t.Fatalf("%d cases", len(r.Cases))
		}
		c := r.Cases[0]
		if math.Abs(c.Error-want.off) > 1e-12 || c.Coverage != want.coverage || c.Seconds != 2 || c.CPU != 3 || !(c.Cholesky > 0) || c.Runs != 1 {
			t.Errorf("off by %v: %+v", want.off, c)
		}
	}
}

// Classes: labels are written, and the share of wrong classes is counted at the other nodes.
func TestRunMediumClasses(t *testing.T) {
	task, err := citationClasses(t.Context(), dataset.Store{}, 1000, 300, 1)
	if err != nil {
		t.Fatal(err)
	}
	same, total := 0, 0
	for i := range task.graph.Len() {
		cols, _ := task.graph.Adjacency().Row(i)
		for _, j := range cols {
			total++
			if task.class[i] == task.class[j] {
				same++
			}
		}
	}
	if share := float64(same) / float64(total); share < 0.45 || share > 0.8 { // 1/3 by chance
		t.Errorf("neighbours share a class in %.2f of all cases", share)
	}
	var given strings.Builder
	if err := task.writeGiven(&given); err != nil {
		t.Fatal(err)
	}
	if task.verb() != "classify" || strings.Count(given.String(), ",class ") != 300 {
		t.Errorf("%s reads %q …", task.verb(), given.String()[:40])
	}
	labelled := map[int]bool{}
	for _, i := range task.given {
		labelled[i] = true
	}
	var rows []map[string]any
	wrong := 0
	for i, c := range task.class {
		if i%4 == 0 {
			c++
			if !labelled[i] {
				wrong++
			}
		}
		rows = append(rows, map[string]any{"node": fmt.Sprintf("n%d", i), "class": fmt.Sprintf("class %d", c), "given": labelled[i]})
	}
	text, err := json.Marshal(map[string]any{"nodes": rows})
	if err != nil {
		t.Fatal(err)
	}
	var r MediumResult
	if err := task.score(strings.NewReader(string(text)), &r); err != nil {
		t.Fatal(err)
	}
	if want := float64(wrong) / 700; math.Abs(r.Error-want) > 1e-12 {
		t.Errorf("share of wrong classes %v, want %v", r.Error, want)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want float64
	}{{[]float64{7}, 7}, {[]float64{1, 4}, 2.5}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 9, 2}, 3}} {
		if got := median(c.x); got != c.want {
			t.Errorf("median of %v: %v, want %v", c.x, got, c.want)
		}
	}
}
