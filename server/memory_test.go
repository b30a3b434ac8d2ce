package server

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"grfgp"
	"grfgp/study"
)

// The memory of the server is shared: work waits for other work, what can never fit is an
// error, and what a model holds already does not count twice.
func TestBudget(t *testing.T) {
	t.Parallel()
	b := &budget{most: 100, used: func() int64 { return 30 }}
	take := func(ctx context.Context, bytes, held int64) (func(), error) {
		return b.take(ctx, grfgp.Memory{Bytes: bytes, Method: "grf"}, held)
	}
	give, err := take(t.Context(), 60, 0)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := take(ended, 50, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("beside 60 of 100: %v", err)
	}
	waiting := make(chan error)
	go func() {
		give, err := take(t.Context(), 50, 0)
		if err == nil {
			give()
		}
		waiting <- err
	}()
	give()
	if err := <-waiting; err != nil {
		t.Errorf("after the other: %v", err)
	}
	for _, bytes := range []int64{80, 101, math.MaxInt64 / 2} {
		if _, err := take(t.Context(), bytes, 0); !errors.Is(err, study.ErrTooLarge) || !errors.Is(err, study.ErrFit) {
			t.Errorf("%d of 100: %v", bytes, err)
		}
	}
	if give, err = take(t.Context(), 80, 25); err != nil {
		t.Errorf("80 of which 25 are held: %v", err)
	} else {
		give()
	}
	if b.taken != 0 || b.works != 0 {
		t.Errorf("%d bytes of %d works are not given back", b.taken, b.works)
	}
}

// Bodies take memory as they arrive, and give it back.
func TestReservation(t *testing.T) {
	t.Parallel()
	b := &budget{most: 100, used: func() int64 { return 20 }}
	one, other := b.reserve(), b.reserve()
	for k, n := range []int{10, 10, 5} {
		if err := one.read(n); err != nil {
			t.Errorf("part %d: %v", k, err)
		}
	}
	var p *problem
	if err := other.read(10); !errors.As(err, &p) || p.Status != 503 || !strings.Contains(p.Detail, "100 bytes") {
		t.Errorf("%v", err)
	}
	other.release()
	one.release()
	if err := other.read(10); err != nil || b.works != 1 {
		t.Errorf("afterwards: %v, %d works", err, b.works)
	}
	other.release()
	if b.taken != 0 || b.works != 0 {
		t.Errorf("%d bytes of %d works are not given back", b.taken, b.works)
	}
}
