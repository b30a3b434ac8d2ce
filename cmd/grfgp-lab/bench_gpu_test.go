package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"grfgp/internal/cli"
	"grfgp/internal/gpu"
	"grfgp/internal/testkit"
	"grfgp/lab/bench"
)

// Without a card the verb says what is missing, and does not advise flags that it lacks.
func TestBenchGPUWithoutCard(t *testing.T) {
	if gpu.Built {
		t.Skip("this program may find a card")
	}
	_, missing := gpu.Open()
	if r := runLine(t, "", "bench", "gpu"); r.code != cli.ExitTooLarge || r.out != "" || r.err != fmt.Sprintf("grfgp-lab: %v\n", missing) {
		t.Errorf("%+v, want %v", r, missing)
	}
	for _, line := range []string{"bench gpu rings games", "bench gpu --runs 0"} {
		if r := runLine(t, "", strings.Fields(line)...); r.code != cli.ExitUsage {
			t.Errorf("%s: %+v", line, r)
		}
	}
}

// onProcessor runs the program on the processor in place of a card.
func onProcessor(t *testing.T) func(context.Context, ...string) (bench.Predicted, error) {
	program := product(t)
	return func(ctx context.Context, args ...string) (p bench.Predicted, err error) {
		if k := slices.Index(args, "gpu"); k >= 0 {
			args[k] = "cpu"
		}
		return runStages(ctx, program, args...)
	}
}

// All parts on a simulated card: the answer follows its schema, and the text has every part.
func TestBenchGPU(t *testing.T) {
	testkit.Full(t)
	var out bytes.Buffer
	a := newApp(cli.Streams{Out: &out, Err: io.Discard})
	a.Talk, a.Seed, a.JSON = cli.NewTalk(io.Discard, true), 1, true
	o := bench.GPUOptions{Device: gpu.Simulate(gpu.Simulated{}), Quick: true, Runs: 2}
	o.Predict = func(ctx context.Context, job bench.GridJob) (bench.GridCost, error) {
		return a.predictGrid(ctx, t.TempDir(), job, onProcessor(t))
	}
	if err := a.benchGPU(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	checkAnswerOf(t, "bench gpu", compiled(t, "bench gpu"), out.String())
	var r bench.GPUReport
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if p := r.Predict; p.Nodes != 400 || p.Processor == nil || p.Difference.Mean != 0 || p.Difference.SD != 0 ||
		!slices.ContainsFunc(p.Card.Stages, func(s bench.StageTime) bool { return s.Name == "fitting" }) {
		t.Errorf("predict: %+v, %+v", p, p.Difference)
	}
	// A ring of the size for which there are published times.
	r.Rings[1].Card[0].Nodes, r.Rings[1].OverTheir = 1<<20, 123.4
	var text strings.Builder
	if err := printGPU(&text, &r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"simulated card", "share of the copy rate", "features, 1600 rows", "inference s, 64 samples", "authors' protocol, 128 nodes, card",
		"clean protocol, 256 nodes, processor", "coverage",
		"authors' library, 1048576 nodes, measured earlier", "185.2", "123\n",
		"not in this run: 33.7 + 20.6 + 0.33 s at 262144 nodes; 98.7 + 85.2 + 1.35 s at 1048576 nodes",
		"with the same hyperparameters", "2 runs on the card gave the same bytes", "Thompson steps, 900 nodes",
		"the first 23 suggestions are the same", "predict, grid of 400 nodes", "from a packed file",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}

	// The card alone: no ratios, and the schema still holds.
	out.Reset()
	o.Alone, o.Parts = true, []string{"products", "thompson", "predict"}
	if err := a.benchGPU(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	checkAnswerOf(t, "bench gpu --alone", compiled(t, "bench gpu"), out.String())
	a.JSON = false
	out.Reset()
	o.Parts = []string{"predict"}
	if err := a.benchGPU(t.Context(), o); err != nil || strings.Contains(out.String(), "\nprocessor  1") ||
		strings.Contains(out.String(), "rings") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// A lost card ends the run with the code of a card that is missing.
func TestBenchGPULost(t *testing.T) {
	testkit.Unraced(t)
	a := newApp(cli.Streams{Out: io.Discard, Err: io.Discard})
	a.Talk, a.Seed = cli.NewTalk(io.Discard, true), 1
	o := bench.GPUOptions{Device: gpu.Simulate(gpu.Simulated{FailAfter: 1}), Quick: true, Parts: []string{"products"}}
	err := cardMissing(a.benchGPU(t.Context(), o))
	if code := cli.ExitCode(t.Context(), err); code != cli.ExitTooLarge || !strings.Contains(err.Error(), gpu.ErrLost.Error()) ||
		cli.IsCardError(err) {
		t.Errorf("%v, exit code %d", err, code)
	}
}

func TestStagesIn(t *testing.T) {
	text := "reading edges: 10 nodes from a (b).csv (165ms)\nfitting: 25 %, 2 s, about 10 s left (trying matern, ν = 2)\nfitting: " +
		"diffusion, method grf (5.9s)\n  a note (of 3)\npredicting: 10 nodes (1m2s)\n"
	got := fmt.Sprint(stagesIn(text))
	if want := "[{reading edges 0.165} {fitting 5.9} {predicting 62}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
