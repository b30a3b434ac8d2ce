package cli

import (
	"context"
	"testing"
	"time"
)

// Not in parallel: who is interrupted removes all unfinished files of the process.
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
		{"done", context.Background(), func() int { return ExitBadData }, ExitBadData},
		{"interrupted, ends by itself", ended, func() int { return ExitNotFitted }, ExitNotFitted},
		{"interrupted, does not end", ended, func() int { <-never; return ExitOK }, ExitInterrupted},
	} {
		t.Run(c.name, func(t *testing.T) {
			patience := time.Minute // for those that end
			if c.want == ExitInterrupted {
				patience = time.Millisecond
			}
			if got := within(c.ctx, patience, "grfgp", nil, c.run); got != c.want {
				t.Errorf("exit %d, want %d", got, c.want)
			}
		})
	}
}
