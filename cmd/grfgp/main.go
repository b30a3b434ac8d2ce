// Command grfgp fits Gaussian processes to measurements at the nodes of a graph.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"grfgp/internal/atomicfile"
)

func main() {
	boundGarbage()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	all, err := join()
	if err != nil {
		fmt.Fprintf(os.Stderr, "grfgp: %v\n", err)
		os.Exit(exitUsage)
	}
	kept.ranks = all.group.Size()
	streams, last := all.streams()
	code := within(ctx, patienceFor(os.Args), func() int { return run(ctx, os.Args[1:], streams, all.group) })
	os.Exit(all.end(code, last))
}

// patience is the time that an interrupted run has to end; a server has to close its
// store first.
const (
	patience       = time.Second
	serverPatience = 20 * time.Second
)

func patienceFor(args []string) time.Duration {
	if slices.Contains(args, "serve") {
		return serverPatience
	}
	return patience
}

// within returns the exit code of run. Once ctx has ended it waits for run no longer
// than patience, and then removes its unfinished files.
func within(ctx context.Context, patience time.Duration, run func() int) int {
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
		os.Stderr.WriteString(kept.interrupted())
		return exitInterrupted
	}
}
