package experiment

import (
	"runtime/metrics"
	"time"
)

// watchMemory samples the bytes of heap objects ten times a second; stop returns the
// maximum.
func watchMemory() (stop func() float64) {
	end, most := make(chan struct{}), make(chan float64)
	go func() {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		peak := 0.0
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			metrics.Read(sample)
			peak = max(peak, float64(sample[0].Value.Uint64()))
			select {
			case <-tick.C:
			case <-end:
				most <- peak
				return
			}
		}
	}()
	return func() float64 {
		close(end)
		return <-most
	}
}
