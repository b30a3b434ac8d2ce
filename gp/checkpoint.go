package gp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"grfgp/gp/internal/adam"
	"grfgp/internal/ranks"
)

// Checkpoints keep the states of iterative fits under names. A fit that was interrupted, if
// it is repeated with the same data and options, goes on from its last state, and ends with
// the same bits. Names are letters, digits and hyphens. Of several ranks each keeps its own.
type Checkpoints interface {
	// Load returns what was saved under a name; nil if nothing was.
	Load(name string) ([]byte, error)
	// Save keeps a state, whole or not at all.
	Save(name string, state []byte) error
	// Remove forgets a state, if there is one.
	Remove(name string) error
	// Every is how much time passes between two saves, at least.
	Every() time.Duration
	// Resumed is told that a fit goes on from its state after so many epochs.
	Resumed(epochs int)
}

// learnState is what a fit needs to go on after an epoch.
type learnState struct {
	Epoch int // epochs that are done
	X     []float64
	Climb adam.State

	Taken      uint64
	Worst      float64
	Single     bool // in float32
	Solutions  []float64
	Before     []float64 // solutions of the step before; nil: there are none
	Last       []float64 // free hyperparameters of the last step, and their change to it
	Change     []float64
	Built      []float64 // where the preconditioner was made; nil: there is none
	Generation int       // counts states
}

// keeper saves the states of one fit.
type keeper struct {
	store Checkpoints // nil: nothing is saved
	group *ranks.Group
	name  string
	count int
	last  time.Time
}

// newKeeper returns the keeper of a fit; theta is where it starts.
func newKeeper(store Checkpoints, w *learner, theta []float64, epochs int) *keeper {
	g := w.rows.axis.Group()
	k := &keeper{store: store, group: g, last: time.Now()}
	if store == nil {
		return k
	}
	h := sha256.New()
	d := w.own
	const form = 2 // of a state
	for _, part := range []any{int64(form), int64(d.Len()), int64s(d.Nodes), d.Y, d.NoiseVar, d.Count, d.Scatter, theta, int64(epochs), w.seed,
		int64(w.opts.Probes), w.opts.Tol, w.opts.Plain, w.opts.Fresh, w.meanVar, int64(g.Rank()), int64(g.Size())} {
		_ = binary.Write(h, binary.LittleEndian, part) // a hash takes all
	}
	for _, p := range w.kernel.Params() {
		fmt.Fprintln(h, p.Name)
	}
	k.name = fmt.Sprintf("fit-%s-rank-%d", hex.EncodeToString(h.Sum(nil)[:8]), g.Rank())
	return k
}

func int64s(x []int) []int64 {
	out := make([]int64, len(x))
	for k, v := range x {
		out[k] = int64(v)
	}
	return out
}

// file returns the name of a state. Two are kept, because ranks may end between the saves of
// one of them and of another.
func (k *keeper) file(generation int) string { return fmt.Sprintf("%s-%d", k.name, generation%2) }

// resume returns the last state that all ranks have; nil if there is none.
func (k *keeper) resume(ctx context.Context) (*learnState, error) {
	if k.store == nil {
		return nil, nil
	}
	own := []int64{-1, -1}
	states := make([]*learnState, 2)
	for slot := range states {
		data, err := k.store.Load(k.file(slot))
		if err != nil {
			return nil, fmt.Errorf("reading a checkpoint: %w", err)
		}
		s := &learnState{}
		if data != nil && gob.NewDecoder(bytes.NewReader(data)).Decode(s) == nil { // else another version wrote it
			states[slot], own[slot] = s, int64(s.Generation)
		}
	}
	all, _, err := ranks.Gather(ctx, k.group, own)
	if err != nil {
		return nil, err
	}
	best := (*learnState)(nil)
	for slot, s := range states {
		common := s != nil
		for r := range k.group.Size() {
			common = common && all[2*r+slot] == own[slot]
		}
		if common && (best == nil || s.Generation > best.Generation) {
			best = s
		}
	}
	if best != nil {
		k.count = best.Generation + 1
		k.store.Resumed(best.Epoch)
	}
	return best, nil
}

// keep saves the state after an epoch, if it is time to and there is one.
func (k *keeper) keep(ctx context.Context, state func() (learnState, bool)) error {
	if k.store == nil {
		return nil
	}
	due, _, err := ranks.Gather(ctx, k.group, []uint8{b2u(time.Since(k.last) >= k.store.Every())}) // clocks differ
	if err != nil || due[0] == 0 {
		return err
	}
	s, ok := state()
	if !ok {
		return nil
	}
	s.Generation = k.count
	var data bytes.Buffer
	if err := gob.NewEncoder(&data).Encode(s); err != nil {
		return fmt.Errorf("saving a checkpoint: %w", err)
	}
	if err := k.store.Save(k.file(s.Generation), data.Bytes()); err != nil {
		return fmt.Errorf("saving a checkpoint: %w", err)
	}
	k.count, k.last = k.count+1, time.Now()
	return nil
}

// end forgets the states of a fit that is done.
func (k *keeper) end() error {
	if k.store == nil {
		return nil
	}
	for slot := range 2 {
		if err := k.store.Remove(k.file(slot)); err != nil {
			return fmt.Errorf("removing a checkpoint: %w", err)
		}
	}
	return nil
}

func b2u(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// state returns what the learner needs to go on after an epoch; ok is false if a card has failed, which the next
// step finds out.
func (w *learner) state(ctx context.Context, epoch int, x []float64, climb *adam.Adam) (s learnState, ok bool) {
	s = learnState{Epoch: epoch, X: x, Climb: climb.State(), Taken: w.taken, Worst: w.worst, Single: w.rows.space.Single(), Last: w.ahead.x,
		Change: w.ahead.change, Built: w.built}
	failure, err := w.compute(ctx, func() error {
		s.Solutions = numbersOf(w.solutions).RawMatrix().Data
		if w.before != nil {
			s.Before = numbersOf(w.before).RawMatrix().Data
		}
		return nil
	})
	w.pending = failure
	return s, failure == nil && err == nil
}

// restore puts a learner where it was.
func (w *learner) restore(ctx context.Context, s *learnState) error {
	theta := w.params.Natural(s.X)
	if w.rows.space.Single() && !s.Single {
		w.wide = true
		w.leave(true)
		if err := w.begin(ctx, theta); err != nil {
			return err
		}
	}
	failure, err := w.compute(ctx, func() error { return w.load(ctx, s) })
	if failure == nil {
		return err
	}
	if err := w.leaveCard(ctx, theta, failure); err != nil {
		return err
	}
	return w.load(ctx, s)
}

func (w *learner) load(ctx context.Context, s *learnState) error {
	w.taken, w.worst, w.ahead, w.cold = s.Taken, s.Worst, ahead{s.Last, s.Change}, false
	w.solutions.Set(s.Solutions)
	if s.Before != nil {
		w.before = w.solutions.Like()
		w.before.Set(s.Before)
	}
	if s.Built == nil {
		return nil
	}
	w.x = slices.Clone(s.Built)
	own, noise := w.params.split(w.params.Natural(w.x))
	if err := w.rows.set(ctx, own); err != nil {
		return err
	}
	_, err := w.prepare(ctx, noise)
	return err
}
