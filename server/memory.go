package server

import (
	"context"
	"fmt"
	"math"
	"runtime"
	runtimemetrics "runtime/metrics"
	"sync"
	"time"

	"grfgp"
	"grfgp/internal/machine"
	"grfgp/study"
)

// budget shares the memory of the server between the models that are being fitted.
type budget struct {
	most int64        // bytes in use, of the process; math.MaxInt64: no limit
	used func() int64 // bytes in use

	mu     sync.Mutex
	taken  int64         // by work under way, by estimate
	works  int           // under way
	change chan struct{} // closed when work ends; nil: nobody waits
}

// memoryLimit returns the limit for Options.Memory.
func memoryLimit(given int64) int64 {
	switch {
	case given > 0:
		return given
	case given == 0:
		if free := machine.FreeMemory(); free > 0 {
			return free / 10 * 8
		}
	}
	return math.MaxInt64
}

// liveMemory returns the bytes that were in use at the last collection of garbage.
func liveMemory() int64 {
	sample := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	runtimemetrics.Read(sample)
	if sample[0].Value.Kind() != runtimemetrics.KindUint64 {
		return 0
	}
	return int64(sample[0].Value.Uint64())
}

// take reserves memory for work of a model that holds some of it already, and returns the
// function that gives it back. It waits for other work to end; if the memory would not do
// without other work either, the error wraps study.ErrTooLarge.
func (b *budget) take(ctx context.Context, need grfgp.Memory, held int64) (give func(), err error) {
	return b.takeBytes(ctx, need.Bytes, held, func(left int64) error { return tooMuch(need, left, b.most) })
}

// takeBytes is take of so many bytes; refuse returns the error where only so many are left.
func (b *budget) takeBytes(ctx context.Context, need, held int64, refuse func(left int64) error) (give func(), err error) {
	if b.most == math.MaxInt64 {
		return func() {}, nil
	}
	for collected := false; ; {
		b.mu.Lock()
		others := max(0, b.used()-held)
		if need <= b.most-others-b.taken {
			b.taken += need
			b.works++
			b.mu.Unlock()
			return func() { b.give(need) }, nil
		}
		alone := b.works == 0
		if b.change == nil {
			b.change = make(chan struct{})
		}
		change := b.change
		b.mu.Unlock()
		switch {
		case need > b.most:
			return nil, refuse(b.most)
		case alone && collected:
			return nil, refuse(b.most - others)
		case alone:
			runtime.GC() // so that what is in use is known
			collected = true
			continue
		}
		select {
		case <-change:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (b *budget) give(bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken -= bytes
	b.works--
	if b.change != nil {
		close(b.change)
		b.change = nil
	}
}

// uploadFactor is how much memory a graph or an archive takes while it is read, in bytes per
// byte of its text: edges with their ends, the order, and the packed graph.
const uploadFactor = 3

// reservation is memory that grows with what arrives.
type reservation struct {
	of    *budget
	bytes int64
}

// reserve returns an empty reservation, to be released.
func (b *budget) reserve() *reservation { return &reservation{of: b} }

// read takes the memory of n more bytes of text. The error is a problem document.
func (r *reservation) read(n int) error {
	b := r.of
	if b.most == math.MaxInt64 {
		return nil
	}
	more := uploadFactor * int64(n)
	b.mu.Lock()
	defer b.mu.Unlock()
	others := max(0, b.used()-r.bytes)
	if more > b.most-others-b.taken {
		return noMemory.because("the body takes more memory than the server has left, of %s; try again when it does less, or send less",
			inUnits(b.most)).after(30)
	}
	if r.bytes == 0 {
		b.works++
	}
	b.taken += more
	r.bytes += more
	return nil
}

// release gives the memory back.
func (r *reservation) release() {
	if r.bytes > 0 {
		r.of.give(r.bytes)
		r.bytes = 0
	}
}

// tooMuch is the error for work that takes more memory than is left.
func tooMuch(need grfgp.Memory, left, most int64) error {
	how := "method " + need.Method
	if need.Entries > 0 {
		how = fmt.Sprintf("%s, walks of %d hops reach %.3g nodes", how, need.Hops, need.Entries)
	}
	of := ""
	if left < most {
		of = fmt.Sprintf(" of %s: graphs and other models have the rest", inUnits(most))
	}
	return fmt.Errorf("%w: %w: it takes about %s beside the graph (%s), and %s may be taken%s; a smaller rank, fewer walks or hops, or "+
		"another method takes less",
		study.ErrFit, study.ErrTooLarge, inUnits(need.Bytes), how, inUnits(max(0, left)), of)
}

// tooSlow returns an error if a model takes more time than it may.
func (s *Server) tooSlow(need grfgp.Memory) error {
	most := s.opts.Limits.ModelTime
	if need.Seconds <= most.Seconds() {
		return nil
	}
	took := "years"
	if need.Seconds < 1e8 {
		took = (time.Duration(need.Seconds) * time.Second).Round(time.Minute).String()
	}
	return fmt.Errorf("%w: %w: it takes about %s of one processor before a value is looked at (method %s), and %v may be taken; a smaller "+
		"rank, fewer walks or hops, or another method takes less",
		study.ErrFit, study.ErrTooLarge, took, need.Method, most)
}

// fewMeasurements is the number of measurements that a study must be able to have.
const fewMeasurements = 10

// affordable refuses a study that is to be created if its model can never be fitted in the
// memory and the time that this server gives.
func (s *Server) affordable(ctx context.Context, e study.Engine) error {
	of, ok := e.(estimator)
	if !ok {
		return nil
	}
	need, err := of.EstimateMemory(ctx, fewMeasurements)
	if err != nil {
		return err
	}
	if need.Bytes > s.memory.most {
		return tooMuch(need, s.memory.most, s.memory.most)
	}
	return s.tooSlow(need)
}

// inUnits writes a number of bytes for people.
func inUnits(bytes int64) string {
	v, units := float64(bytes), []string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"}
	for len(units) > 1 && v >= 1024 {
		v /= 1024
		units = units[1:]
	}
	return fmt.Sprintf("%.3g %s", v, units[0])
}
