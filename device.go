package grfgp

import (
	"fmt"
	"slices"
	"sync"

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

// openCard opens the card of this machine when it is first called. All Trainers of the
// process share it, and whether it was lost.
var openCard = sync.OnceValues(func() (*gp.Card, error) {
	d, err := gpu.Open()
	if err != nil {
		return nil, err
	}
	return gp.NewCard(d, false), nil
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
		c := gp.NewCard(nil, false)
		c.Note("computed on the processor"+format, args...)
		return c, nil
	}
	switch {
	case t.spec.Device == "cpu":
		return processor(", as requested")
	case must && !alone:
		return nil, fmt.Errorf("%w: a graphics card and several processes cannot be combined yet; use one process, or the processor", ErrSpec)
	case !alone && gpu.Built:
		return processor(": several processes use no graphics card")
	case !alone:
		return nil, nil
	}
	first, err := t.open()
	if err == nil {
		err = first.Lost()
	} else if !must && !gpu.Built {
		return nil, nil
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
		notes = []string{"the graphics card was not used"}
	}
	*why = append(slices.Clip(*why), notes...)
	*cautions = append(slices.Clip(*cautions), c.Failures()...)
	return device
}
