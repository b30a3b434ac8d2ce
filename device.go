package grfgp

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"grfgp/gp"
	"grfgp/internal/gpu"
)

// Errors about graphics cards, if Spec.Device asks for one. Messages say what is missing.
var (
	ErrNoCard     = gpu.ErrNone   // there is none that this program can use
	ErrCardMemory = gpu.ErrMemory // its memory is too small
	ErrCardLost   = gpu.ErrLost   // it failed while it computed
)

var deviceNames = []string{"auto", "cpu", "gpu"}

// Devices returns the values of Spec.Device.
func Devices() []string { return slices.Clone(deviceNames) }

// anywhere returns the Spec without a device, as files have it.
func (s Spec) anywhere() Spec {
	s.Device = ""
	return s
}

// CardFacts describes a graphics card.
type CardFacts struct {
	Name        string // as in "NVIDIA H200"
	Driver      string // and form of what runs on the card, in words
	Bytes, Free int64  // of its memory
}

// Card opens the graphics card that models of this process use, and describes it. The error
// wraps ErrNoCard if there is none that can be used, and ErrCardLost if it has failed since.
func Card() (CardFacts, error) {
	c, err := openCard()
	if err != nil {
		return CardFacts{}, err
	}
	if err := c.Lost(); err != nil {
		return CardFacts{}, err
	}
	free, total, err := c.Device.Memory()
	return CardFacts{c.Device.Name(), c.Device.Note(), total, free}, err
}

// CardLost returns the failure after which this process uses its graphics card no more; nil: none.
func CardLost() error { return openedCard.Load().Lost() }

var openedCard atomic.Pointer[gp.Card] // by openCard

// openCard opens the card of this machine when it is first called. All Trainers of the
// process share it, and whether it was lost.
var openCard = sync.OnceValues(func() (*gp.Card, error) {
	d, err := gpu.Open()
	if err != nil {
		return nil, err
	}
	c := gp.NewCard(d, false)
	openedCard.Store(c)
	return c, nil
})

// openCard begins to open the card that the Spec asks for or allows. If it asks for one, the
// result is its error; if it allows one, the first computation waits for it.
func (t *Trainer) openCard() error {
	switch t.spec.Device {
	case "cpu":
		return nil
	case "gpu":
		_, err := t.open()
		return err
	}
	go t.open()
	return nil
}

// card returns a Card for a fit and what follows from it. One without a device notes why
// there is none, unless nobody expects one: in a program that cannot use any.
func (t *Trainer) card() (*gp.Card, error) {
	must, alone := t.spec.Device == "gpu", t.together.Ranks.Alone()
	processor := func(format string, args ...any) (*gp.Card, error) {
		if !gpu.Built {
			return nil, nil
		}
		c := gp.NewCard(nil, false)
		c.Note("computed on the processor"+format, args...)
		return c, nil
	}
	switch {
	case t.spec.Device == "cpu":
		return processor("; a graphics card was ruled out")
	case must && !alone:
		return nil, fmt.Errorf("%w: a graphics card and several processes cannot be combined yet; use one process, or the processor", ErrSpec)
	case !alone:
		return processor(": several processes use no graphics card")
	}
	first, err := t.open()
	if err == nil {
		err = first.Lost()
	}
	switch {
	case err == nil:
		return first.New(must), nil
	case must:
		return nil, err
	}
	return processor(": %v", err)
}

// told adds to the reasons and cautions of a choice what a card has noted so far. The result
// names the card if it was used.
func told(c *gp.Card, why, cautions *[]string) (device string) {
	notes := c.Notes()
	if c.Used() {
		device = c.Device.Name()
	} else if len(notes) == 0 && c.Use() != nil {
		notes = []string{"the graphics card was not used so far: it helps with kernels by features on many nodes, or with many measurements"}
	}
	*why = append(slices.Clip(*why), notes...)
	*cautions = append(slices.Clip(*cautions), c.Failures()...)
	return device
}
