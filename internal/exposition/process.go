package exposition

import (
	"runtime"
	"runtime/metrics"

	"grfgp/internal/machine"
)

// Process returns metrics of the Go runtime and, where the system tells, of the process, under the names
// that dashboards for Go programs expect.
func Process() []*Metric {
	all := []*Metric{
		New("go_info", "1, with the version of Go.", Gauge, "version").Add(1, runtime.Version()),
		New("go_goroutines", "Goroutines.", Gauge).Add(float64(runtime.NumGoroutine())),
	}
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"},
		{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(samples)
	for k, m := range []*Metric{
		New("go_memstats_heap_alloc_bytes", "Bytes of the heap in use.", Gauge),
		New("go_memstats_sys_bytes", "Bytes obtained from the system.", Gauge),
		New("go_gc_cycles_total", "Garbage collections.", Counter),
	} {
		if samples[k].Value.Kind() == metrics.KindUint64 {
			all = append(all, m.Add(float64(samples[k].Value.Uint64())))
		}
	}
	p, ok := machine.OfProcess()
	if !ok {
		return all
	}
	return append(all,
		New("process_cpu_seconds_total", "Processor time, of users and of the system.", Counter).Add(p.CPU.Seconds()),
		New("process_resident_memory_bytes", "Resident memory.", Gauge).Add(float64(p.Resident)),
		New("process_virtual_memory_bytes", "Virtual memory.", Gauge).Add(float64(p.Virtual)),
		New("process_open_fds", "Open file descriptors.", Gauge).Add(float64(p.Files)),
		New("process_max_fds", "The most file descriptors that may be open.", Gauge).Add(float64(p.MostFiles)))
}
