package gp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"grfgp/internal/gpu"
)

func TestCardNotes(t *testing.T) {
	t.Parallel()
	c := NewCard(new(gpu.Device), false)
	c.Note("not used: %d measurements", 3)
	c.Note("variances: too many")
	c.Note("not used: %d measurements", 3)
	if got, want := c.Notes(), []string{"not used: 3 measurements", "variances: too many"}; !slices.Equal(got, want) {
		t.Errorf("notes are %q, want %q", got, want)
	}
	c.Notes()[0] = "changed"
	if c.Notes()[0] == "changed" {
		t.Error("the notes that were returned are those of the card")
	}
}

func TestNoCard(t *testing.T) {
	t.Parallel()
	var c *Card
	c.Note("nothing")
	if c.Use() != nil || c.Notes() != nil || c.Lost() != nil || c.Failures() != nil || c.New(true) != nil || c.Used() {
		t.Error("a nil card has something")
	}
	if err := c.Failed(gpu.ErrLost); !errors.Is(err, gpu.ErrLost) {
		t.Errorf("a failure without a card: %v", err)
	}
	if NewCard(nil, false).Use() != nil {
		t.Error("a card without a device has one")
	}
}

// A card that fails is not used again, and one whose memory is too small is.
func TestCardFailed(t *testing.T) {
	t.Parallel()
	lost := fmt.Errorf("%w: it fell out of the machine", gpu.ErrLost)
	small := fmt.Errorf("%w: 3.0 GiB more are needed", gpu.ErrMemory)
	for name, c := range map[string]struct {
		must bool
		err  error
		kept bool
	}{
		"lost":                 {false, lost, false},
		"lost, and needed":     {true, lost, false},
		"small":                {false, small, true},
		"small, and needed":    {true, small, true},
		"no failure at all":    {true, nil, true},
		"that of another task": {false, context.Canceled, true},
	} {
		t.Run(name, func(t *testing.T) {
			device := new(gpu.Device)
			card := NewCard(device, c.must)
			beside := card.New(false)
			err := card.Failed(c.err)
			switch goesOn := !c.must && (c.err == lost || c.err == small); {
			case goesOn && err != nil:
				t.Errorf("it does not go on: %v", err)
			case !goesOn && !errors.Is(err, c.err):
				t.Errorf("the error is %v, want %v", err, c.err)
			case goesOn && (len(card.Notes()) != 1 || !strings.Contains(card.Notes()[0], c.err.Error()) ||
				!strings.Contains(card.Notes()[0], "processor")):
				t.Errorf("notes %q do not say that the processor went on after: %v", card.Notes(), c.err)
			case !slices.Equal(card.Failures(), card.Notes()):
				t.Errorf("failures are %q, notes %q", card.Failures(), card.Notes())
			case !goesOn && len(card.Notes()) > 0:
				t.Errorf("notes %q", card.Notes())
			}
			for _, c2 := range []*Card{card, beside, card.New(true)} {
				if (c2.Use() == device) != c.kept || (c2.Lost() == nil) != c.kept {
					t.Errorf("used again: %v, lost: %v", c2.Use() == device, c2.Lost())
				}
			}
			if len(beside.Notes()) > 0 {
				t.Errorf("another computation has the notes %q", beside.Notes())
			}
		})
	}
}

func TestCardConcurrently(t *testing.T) {
	t.Parallel()
	c := NewCard(new(gpu.Device), false)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				c.Use()
				c.Note("computed")
				if err := c.New(false).Failed(gpu.ErrLost); err != nil {
					t.Error(err)
				}
				c.Notes()
			}
		})
	}
	all.Wait()
	if len(c.Notes()) != 1 || c.Use() != nil {
		t.Errorf("notes %q, device %v", c.Notes(), c.Use())
	}
}

// Models that follow from a fit have its card, and a loaded one gets it by On.
func TestModelsHaveCard(t *testing.T) {
	t.Parallel()
	first, d := learnedRing(t, Gaussian)
	k := first.kernel
	card := NewCard(nil, false)
	m, _, err := Fit(t.Context(), k, d, FitOptions{Device: card})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Condition(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := m.WithAlternatives(t.Context(), d, FitOptions{Device: card})
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := NewModel(k, m.State())
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]*Model{"fitted": m, "of a posterior": p.Model(), "with alternatives": wide, "loaded": loaded.On(card)} {
		if m.card != card {
			t.Errorf("the model %s has the card %p, want %p", name, m.card, card)
		}
	}
	if loaded.card != nil {
		t.Error("On has changed its model")
	}
}

func TestCardDid(t *testing.T) {
	t.Parallel()
	device := gpu.Simulate(gpu.Simulated{})
	defer device.Close()
	c := NewCard(device, false)
	if c.Did("learned"); !c.Used() || !slices.Equal(c.Notes(), []string{"learned on " + device.Name()}) || c.New(false).Used() {
		t.Errorf("notes %q, used: %v", c.Notes(), c.Used())
	}
	if c = NewCard(nil, false); c.Used() || len(c.Notes()) > 0 {
		t.Error("a card without a device was used")
	}
}
