package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"

	"grfgp"
	"grfgp/graph"
	"grfgp/internal/cli"
)

// toldSeconds is the time from which a job says beforehand how long it takes.
const toldSeconds = 2

// fits says what a job takes, and returns an error if that is more memory than there is, or than
// the user allows. The graph is in memory already. What names the job, as in "predicting 400 nodes".
func (a *app) fits(ctx context.Context, what string, g *graph.Graph, spec grfgp.Spec, job grfgp.Job) error {
	job.Ranks = a.Ranks.Size()
	need, err := grfgp.EstimateMemory(ctx, g, spec, job)
	if err != nil {
		return fitError(ctx, err)
	}
	most, used := a.memory, usedMemory()
	if most == 0 {
		most = cli.Size(0).Most() / cli.Size(cli.RanksHere())
	} else {
		most -= min(most, used)
	}
	if most == 0 && a.memory == 0 || cli.Size(need.Bytes) <= most {
		if seconds := need.On(runtime.GOMAXPROCS(0)); seconds >= toldSeconds && job.Searches == 0 {
			a.Talk.Say("%s takes about %s and %s", what, roughly(seconds), cli.Size(need.Bytes))
		}
		return nil
	}
	how := "method " + need.Method
	if need.Entries > 0 {
		how = fmt.Sprintf("walks of %d hops reach %.3g nodes", need.Hops, need.Entries)
	}
	next := a.wouldFit(ctx, g, spec, job, need, most)
	switch enough := flagSize(cli.Size(need.Bytes) + used); {
	case a.memory == 0:
		next = cmp.Or(next, "take a machine with more memory")
	case next == "":
		next = "give --memory " + enough
	default:
		next += "; or give --memory " + enough
	}
	if !a.Ranks.Alone() {
		what += fmt.Sprintf(", on each of %d ranks,", a.Ranks.Size())
		next += "; more ranks, on more machines, divide a part of it"
	}
	return cli.TooLargef("%s takes about %v beside the graph (%s), and %v may be taken; %s", what, cli.Size(need.Bytes), how, most, next)
}

// wouldFit names a smaller job that fits, if there is one.
func (a *app) wouldFit(ctx context.Context, g *graph.Graph, spec grfgp.Spec, job grfgp.Job, need grfgp.Memory, most cli.Size) string {
	if need.Entries > 0 && cli.Size(need.Least) <= most {
		return fmt.Sprintf("a model of short reach would fit: --scales one --hops 1 takes about %v", cli.Size(need.Least))
	}
	for _, method := range []string{"grf", "series"} {
		other := spec
		if other.Method = method; need.Method == method {
			continue
		}
		if m, err := grfgp.EstimateMemory(ctx, g, other, job); err == nil && cli.Size(m.Bytes) <= most {
			return fmt.Sprintf("--method %s would fit, with about %v", method, cli.Size(m.Bytes))
		}
	}
	fewer := job
	for fewer.Measurements /= 2; fewer.Measurements >= 10; fewer.Measurements /= 2 {
		if m, err := grfgp.EstimateMemory(ctx, g, spec, fewer); err == nil && cli.Size(m.Bytes) <= most {
			return fmt.Sprintf("a sample of %d of the %d values would fit", fewer.Measurements, job.Measurements)
		}
	}
	if share := float64(most) / float64(need.Bytes); share*float64(g.Len()) >= 1000 {
		return fmt.Sprintf("take a machine with more memory, or a part of the graph: %.2g nodes would fit", share*float64(g.Len()))
	}
	return ""
}

// flagSize rounds a size up, as a flag can have it.
func flagSize(s cli.Size) string { return fmt.Sprintf("%dM", (s+1<<20-1)>>20) }

// usedMemory returns the memory that the program has taken.
func usedMemory() cli.Size {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return cli.Size(m.Sys - m.HeapReleased)
}
