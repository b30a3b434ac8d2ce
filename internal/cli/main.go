package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"grfgp/internal/atomicfile"
	"grfgp/internal/ranks"
)

// Main runs a program with the command line of this process, together with the ranks that a
// launcher started, and ends the process. Patience is the time that an interrupted run has to end.
func Main(program string, patience time.Duration, run func(ctx context.Context, args []string, streams Streams, group *ranks.Group,
	kept *Kept) int) {
	boundGarbage()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	all, err := join(program)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
		os.Exit(ExitUsage)
	}
	kept := &Kept{ranks: all.group.Size()}
	streams, last := all.streams()
	code := within(ctx, patience, program, kept, func() int { return run(ctx, os.Args[1:], streams, all.group, kept) })
	os.Exit(all.end(program, code, last))
}

// within returns the exit code of run. Once ctx has ended it waits for run no longer
// than patience, and then removes its unfinished files.
func within(ctx context.Context, patience time.Duration, program string, kept *Kept, run func() int) int {
	code := make(chan int, 1)
	go func() { code <- run() }()
	select {
	case c := <-code:
		return c
	case <-ctx.Done():
	}
	select {
	case c := <-code:
		return c
	case <-time.After(patience):
		atomicfile.RemoveUnfinished()
		clearLine(os.Stderr)
		os.Stderr.WriteString(kept.interrupted(program))
		return ExitInterrupted
	}
}
