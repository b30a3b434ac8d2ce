package gp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"grfgp/internal/gpu"
	"grfgp/plan"
	"grfgp/space"
)

// Card is a graphics card for one fit and what follows from it: they use it where their
// kernel can be computed on it, and note what was computed where, and why. Nil is no card.
// Its methods are safe for concurrent use.
type Card struct {
	Device *gpu.Device // computations ask Use, which knows whether it was lost
	Must   bool        // a failure of the card ends the computation; else the processor goes on

	lost *loss
	kept *hold // of the device
	from int   // as plan.Limits.CardFrom; 0: that

	mu       sync.Mutex // guards what follows
	notes    []string
	failures []string // among the notes
	used     bool
}

// loss is whether a device was lost, for all Cards of it.
type loss struct {
	mu  sync.Mutex
	err error
}

// NewCard returns the Card of a device, which may be nil.
func NewCard(d *gpu.Device, must bool) *Card {
	return &Card{Device: d, Must: must, lost: new(loss), kept: new(hold)}
}

// New returns a Card of the same device without notes, for another computation. A device
// that is lost for one of them is lost for all.
func (c *Card) New(must bool) *Card {
	if c == nil {
		return nil
	}
	return &Card{Device: c.Device, Must: must, lost: c.lost, kept: c.kept, from: c.from}
}

// Use returns the device to compute on; nil: compute on the processor.
func (c *Card) Use() *gpu.Device {
	if c == nil || c.Lost() != nil {
		return nil
	}
	return c.Device
}

// Lost returns the failure after which the device is not used any more; nil: none.
func (c *Card) Lost() error {
	if c == nil {
		return nil
	}
	c.lost.mu.Lock()
	defer c.lost.mu.Unlock()
	return c.lost.err
}

// Did notes that something was computed on the device, as in "learned".
func (c *Card) Did(what string) {
	if c == nil || c.Device == nil {
		return
	}
	c.Note("%s on %s", what, c.Device.Name())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = true
}

// Used reports whether something was computed on the device.
func (c *Card) Used() bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used
}

// Note keeps a sentence for those who want to know what was computed where, and why.
func (c *Card) Note(format string, args ...any) {
	if c == nil {
		return
	}
	note := fmt.Sprintf(format, args...)
	c.mu.Lock()
	defer c.mu.Unlock()
	addNote(&c.notes, note)
}

func addNote(to *[]string, note string) {
	if !slices.Contains(*to, note) {
		*to = append(*to, note)
	}
}

// Notes returns the sentences, each once, in the order in which they came.
func (c *Card) Notes() []string {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.notes)
}

// Failures returns those of the notes that tell of failures of the device.
func (c *Card) Failures() []string {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.failures)
}

// errNotThere is returned by what is called on a card for something that it cannot have.
var errNotThere = errors.New("not on the card")

// try calls do with the memory of the device while nobody else computes there; nil is no device. done is false without an
// error where the processor has to go on: what was done counts for nothing then.
func (c *Card) try(ctx context.Context, device *gpu.Device, what string, do func(s space.Space, h *hold) error) (done bool, err error) {
	for first := true; device != nil; first = false {
		failure, err := c.compute(ctx, func() error { return do(space.Card(device), c.kept) })
		switch {
		case failure != nil && first && errors.Is(failure, gpu.ErrMemory) && c.forget(): // there is room now
			continue
		case failure != nil:
			return false, c.Failed(failure)
		case errors.Is(err, errNotThere):
			return false, nil
		case err == nil && what != "":
			c.Did(what)
		}
		return true, err
	}
	return false, nil
}

// compute calls do while nobody else computes on the device, and returns its error, and the failure of the
// device, from which its error may follow.
func (c *Card) compute(ctx context.Context, do func() error) (failure, err error) {
	if err := c.Device.Acquire(ctx); err != nil {
		return nil, err
	}
	defer c.Device.Release()
	err = do()
	return c.Device.Err(), err
}

// forget frees all that is kept, and reports whether there was something.
func (c *Card) forget() bool {
	some := c.kept.empty()
	c.Device.Trim()
	return some
}

// Failed says how a computation goes on after a failure of the device. If it returns nil, the processor goes
// on, and a note says so; if it returns an error, the computation ends with it. A device that has failed is not
// used again; one whose memory was too small is, for smaller tasks.
func (c *Card) Failed(err error) error {
	lost := errors.Is(err, gpu.ErrLost)
	if c == nil || !lost && !errors.Is(err, gpu.ErrMemory) {
		return err
	}
	if lost {
		c.lost.mu.Lock()
		c.lost.err = cmp.Or(c.lost.err, err)
		c.lost.mu.Unlock()
		c.kept.empty()
	}
	if c.Must {
		return err
	}
	note := fmt.Sprintf("%v; went on with the processor", err)
	c.mu.Lock()
	defer c.mu.Unlock()
	addNote(&c.notes, note)
	addNote(&c.failures, note)
	return nil
}

// On returns the model with a card for its posteriors; nil: they use the processor alone.
func (m *Model) On(c *Card) *Model {
	other := *m
	other.card = c
	return &other
}

// Limited returns the model with posteriors that are computed within limits; nil: plan.Default().
func (m *Model) Limited(l *plan.Limits) *Model {
	other := *m
	other.how.limits = l
	return &other
}

// Within returns the model with posteriors whose solves end at relative residuals of at most that, and iterate in float64
// alone. Without it they end where what is left matters little beside the uncertainty.
func (m *Model) Within(residual float64) *Model {
	other := *m
	other.how.residual, other.how.double = residual, true
	return &other
}

// Card returns the card of the fit, or that of On; nil: none.
func (m *Model) Card() *Card { return m.card }
