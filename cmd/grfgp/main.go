// Command grfgp models values on the nodes of a graph by Gaussian processes.
package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"grfgp/internal/atomicfile"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := within(ctx, patienceFor(os.Args), func() int {
		return Run(ctx, os.Args[1:], Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	})
	os.Exit(code)
}

// patience is how long interrupted work may take to end in its own way; a server
// brings its store in order first, which it does as fast as the disk can.
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

// within returns the exit code of run. Once ctx has ended it waits no longer
// than patience: run is then left where it is, without its unfinished files.
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
		os.Stderr.WriteString("\n" + interrupted)
		return exitInterrupted
	}
}
