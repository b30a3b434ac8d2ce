// Package progress tells how much of a long computation is done, and how much time is
// left.
//
// A caller makes a Work with a function that is told of every change, and hands it to a
// computation, which divides it into parts by their expected cost:
//
//	w := progress.New(func(s progress.State) { … })
//	model, err := trainer.FitProgress(ctx, data, w)
//
// Nothing that is computed depends on it. The nil Work is watched by nobody, and costs
// nothing.
package progress

import "sync"

// State is how far work has come.
type State struct {
	Step  string  // what is being done; empty: nothing that has a name
	Share float64 // of the work that is done, from 0 to 1; it never falls
}

// Work is a piece of work, or a part of one. Count may be called concurrently; parts
// follow each other. All methods of a nil Work do nothing.
type Work struct {
	of     *whole
	lo, hi float64 // shares of the whole between which it lies
	at     float64 // share of the whole at which its next part begins
}

// whole is the work that somebody watches.
type whole struct {
	mu    sync.Mutex
	state State
	tell  func(State)
}

// New returns work that has not begun. Tell is called at every change, from any
// goroutine but never concurrently; the work waits until it returns.
func New(tell func(State)) *Work {
	return &Work{of: &whole{tell: tell}, hi: 1}
}

// set reports a share of the whole, if it is larger than before, and a step, if it has a
// name. The caller holds the lock.
func (o *whole) set(share float64, step string) {
	old := o.state
	o.state.Share = max(o.state.Share, min(1, share))
	if step != "" {
		o.state.Step = step
	}
	if o.state != old {
		o.tell(o.state)
	}
}

// Part begins the next part of w. It takes cost, and what follows it takes after, both in
// the same unit, whichever it is; neither need be known well, and the next call may
// think otherwise. The part before it is done.
func (w *Work) Part(cost, after float64) *Work {
	if w == nil {
		return nil
	}
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	share := 1.0
	if cost >= 0 && after > 0 {
		share = cost / (cost + after)
	}
	p := &Work{of: w.of, lo: max(w.lo, w.at)}
	p.hi = p.lo + share*(w.hi-p.lo)
	w.at = p.hi
	w.of.set(p.lo, "")
	return p
}

// Step names what is being done.
func (w *Work) Step(name string) {
	if w == nil {
		return
	}
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	w.of.set(0, name)
}

// Count reports that done of total equal pieces are done.
func (w *Work) Count(done, total int64) {
	if total > 0 {
		w.reach(float64(done) / float64(total))
	}
}

// Rounds reports that n rounds are done of work that ends by itself, such as iterations
// until convergence, typically after the expected number. Beyond four fifths of these it
// slows down: the more rounds there were, the more are expected.
func (w *Work) Rounds(n int, expected float64) {
	const steady = 0.8
	x := float64(n) / expected
	if x > steady {
		x = 1 - (1-steady)/(1+(x-steady)/(1-steady))
	}
	w.reach(x)
}

// Done reports that all of w is done.
func (w *Work) Done() { w.reach(1) }

// reach reports a share of w.
func (w *Work) reach(share float64) {
	if w == nil {
		return
	}
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	w.of.set(w.lo+(w.hi-w.lo)*min(1, share), "")
}
