package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

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
