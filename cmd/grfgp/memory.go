package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"grfgp"
	"grfgp/graph"
)

// toldSeconds is the time from which a job says beforehand how long it takes.
const toldSeconds = 2

// fits says what a job takes, and returns an error if that is more memory than there is, or than
// the user allows. The graph is in memory already. What names the job, as in "predicting 400 nodes".
func (a *app) fits(ctx context.Context, what string, g *graph.Graph, spec grfgp.Spec, job grfgp.Job) error {
	job.Ranks = a.ranks.Size()
	need, err := grfgp.EstimateMemory(ctx, g, spec, job)
	if err != nil {
		return fitError(ctx, err)
	}
	most, used := a.memory, usedMemory()
	if most == 0 {
		most = size(0).most() / size(ranksHere())
	} else {
		most -= min(most, used)
	}
	if most == 0 && a.memory == 0 || size(need.Bytes) <= most {
		if seconds := need.On(runtime.GOMAXPROCS(0)); seconds >= toldSeconds && job.Searches == 0 {
			a.talk.Say("%s takes about %s and %s", what, roughly(seconds), size(need.Bytes))
		}
		return nil
	}
	how := "method " + need.Method
	if need.Entries > 0 {
		how = fmt.Sprintf("walks of %d hops reach %.3g nodes", need.Hops, need.Entries)
	}
	next := a.wouldFit(ctx, g, spec, job, need, most)
	switch enough := flagSize(size(need.Bytes) + used); {
	case a.memory == 0:
		next = cmp.Or(next, "take a machine with more memory")
	case next == "":
		next = "give --memory " + enough
	default:
		next += "; or give --memory " + enough
	}
	if !a.ranks.Alone() {
		what += fmt.Sprintf(", on each of %d ranks,", a.ranks.Size())
		next += "; more ranks, on more machines, divide a part of it"
	}
	return tooLargef("%s takes about %v beside the graph (%s), and %v may be taken; %s", what, size(need.Bytes), how, most, next)
}

// wouldFit names a smaller job that fits, if there is one.
func (a *app) wouldFit(ctx context.Context, g *graph.Graph, spec grfgp.Spec, job grfgp.Job, need grfgp.Memory, most size) string {
	if need.Entries > 0 && size(need.Least) <= most {
		return fmt.Sprintf("a model of short reach would fit: --scales one --hops 1 takes about %v", size(need.Least))
	}
	for _, method := range []string{"grf", "series"} {
		other := spec
		if other.Method = method; need.Method == method {
			continue
		}
		if m, err := grfgp.EstimateMemory(ctx, g, other, job); err == nil && size(m.Bytes) <= most {
			return fmt.Sprintf("--method %s would fit, with about %v", method, size(m.Bytes))
		}
	}
	fewer := job
	for fewer.Measurements /= 2; fewer.Measurements >= 10; fewer.Measurements /= 2 {
		if m, err := grfgp.EstimateMemory(ctx, g, spec, fewer); err == nil && size(m.Bytes) <= most {
			return fmt.Sprintf("a sample of %d of the %d values would fit", fewer.Measurements, job.Measurements)
		}
	}
	if share := float64(most) / float64(need.Bytes); share*float64(g.Len()) >= 1000 {
		return fmt.Sprintf("take a machine with more memory, or a part of the graph: %.2g nodes would fit", share*float64(g.Len()))
	}
	return ""
}

// flagSize rounds a size up, as a flag can have it.
func flagSize(s size) string { return fmt.Sprintf("%dM", (s+1<<20-1)>>20) }

// usedMemory returns the memory that the program has taken.
func usedMemory() size {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return size(m.Sys - m.HeapReleased)
}

// mostGarbage is how much memory that is no longer used may pile up before it is
// collected, unless a twentieth of the memory in use is more. By default Go allows as
// much as is in use, which would double the memory of large graphs. Collecting more often
// costs little there: nearly all is in few, large arrays of numbers.
const mostGarbage = 64 << 20

// boundGarbage keeps garbage within mostGarbage, unless the environment sets GOGC.
func boundGarbage() {
	if os.Getenv("GOGC") == "" {
		afterCollection(&collected{})
	}
}

// collected is an object that nobody uses: it is finalized after each collection.
type collected struct{ _ [16]byte }

func afterCollection(c *collected) {
	runtime.SetFinalizer(c, func(c *collected) {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		if sample[0].Value.Kind() != metrics.KindUint64 {
			return
		}
		debug.SetGCPercent(percentFor(sample[0].Value.Uint64()))
		afterCollection(c)
	})
}

// percentFor returns the garbage to allow, in percent of the memory in use.
func percentFor(live uint64) int {
	return int(max(5, min(100, 100*mostGarbage/max(1, live))))
}
