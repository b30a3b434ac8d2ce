package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"grfgp/internal/ranks"
)

// world is the processes that a launcher such as mpirun started together. Every one of
// them, a rank, runs the same command; rank 0 talks and writes.
type world struct {
	group  *ranks.Group
	finish func() error   // after success, on all ranks; nil without a launcher
	abort  func(code int) // ends all ranks
}

// launchedRanks returns how many ranks a launcher says there are; 0 if none does.
func launchedRanks() int {
	for _, name := range []string{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"} {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
	}
	return 0
}

// ranksHere returns how many of the ranks are on this machine, 1 if no launcher says so.
func ranksHere() int {
	for _, name := range []string{"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"} {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 1 {
			return n
		}
	}
	return 1
}

// streams returns the streams of a rank: those of ranks other than 0 end nowhere, except
// for the last words of a failure.
func (w *world) streams() (s Streams, last *bytes.Buffer) {
	if w.group.Rank() == 0 {
		return Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, nil
	}
	last = &bytes.Buffer{}
	return Streams{In: strings.NewReader(""), Out: io.Discard, Err: last}, last
}

// end ends the run of this rank. A failure ends all ranks. If it is one of all, rank 0
// says what it is, and ends the others before they do.
func (w *world) end(code int, last *bytes.Buffer) int {
	if w.finish == nil { // no launcher
		return code
	}
	if code == exitOK {
		if err := w.finish(); err != nil {
			fmt.Fprintf(os.Stderr, "grfgp: %v\n", err)
			return exitInternal
		}
		return exitOK
	}
	if w.group.Rank() > 0 {
		time.Sleep(patienceOf(code))
		lines := strings.Split(strings.TrimSpace(last.String()), "\n")
		words := lines[len(lines)-1]
		if code == exitInterrupted {
			words = "interrupted, as all are when one of them ends; start the run again, after signal 9 with more memory or more ranks"
		}
		fmt.Fprintf(os.Stderr, "rank %d of %d: %s\n", w.group.Rank(), w.group.Size(), words)
	}
	w.abort(code)
	return code
}

// patienceOf is the time that rank 0 has to say what happened. A launcher that ends all ranks, because one of
// them has died, does so in a second: if that was rank 0, another one speaks before.
func patienceOf(code int) time.Duration {
	if code == exitInterrupted {
		return time.Second / 2
	}
	return 2 * time.Second
}

// sharedWords says how many ranks have shared a task.
func (a *app) sharedWords() string {
	if a.ranks.Alone() {
		return ""
	}
	return fmt.Sprintf(", shared by %d ranks", a.ranks.Size())
}

// overRanks are the verbs that ranks can share.
var overRanks = []string{"predict", "suggest", "features", "validate", "ranks", "reproduce", "help", "grfgp"}

// checkRanks refuses verbs that are for one process.
func (a *app) checkRanks(verb string) error {
	if a.ranks.Alone() || slices.Contains(overRanks, verb) {
		return nil
	}
	return usagef("%s is for one process, and there are %d ranks: start it without mpirun", verb, a.ranks.Size())
}
