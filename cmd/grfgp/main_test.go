package main

import (
	"context"
	"testing"
	"time"
)

func TestWithin(t *testing.T) {
	never := make(chan struct{})
	defer close(never)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		run  func() int
		want int
	}{
		{"done", context.Background(), func() int { return exitBadData }, exitBadData},
		{"interrupted, ends by itself", ended, func() int { return exitNotFitted }, exitNotFitted},
		{"interrupted, does not end", ended, func() int { <-never; return exitOK }, exitInterrupted},
	} {
		t.Run(c.name, func(t *testing.T) {
			patience := time.Minute // for those that end
			if c.want == exitInterrupted {
				patience = time.Millisecond
			}
			if got := within(c.ctx, patience, c.run); got != c.want {
				t.Errorf("exit %d, want %d", got, c.want)
			}
		})
	}
}
