package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"grfgp"
)

// fits returns an error if fitting and predicting would take more memory than there is.
// The graph is in memory already.
func (f *predictFlags) fits(ctx context.Context, d *modelData, spec grfgp.Spec) error {
	most := f.memory
	if most == 0 {
		most = size(0).most()
	} else {
		most -= min(most, usedMemory())
	}
	need, err := grfgp.EstimateMemory(ctx, d.net.Graph, spec, d.data.Len())
	if err != nil || need.Bytes == 0 || most == 0 && f.memory == 0 || size(need.Bytes) <= most {
		return err
	}
	next := fmt.Sprintf("take a machine with more memory, or a part of the graph: %.2g nodes would fit", float64(d.net.Graph.Len())*float64(most)/float64(need.Bytes))
	if size(need.OneTerm) <= most {
		next = fmt.Sprintf("a model of short reach would fit: --scales one --hops 1 takes about %v; or take a machine with more memory", size(need.OneTerm))
	}
	return tooLargef("predicting %d nodes takes about %v beside the graph (walks of %d hops reach %.3g nodes), and %v may be taken; %s",
		d.net.Graph.Len(), size(need.Bytes), need.Hops, need.Entries, most, next)
}

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
