package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"grfgp/internal/ranks"
)

// world is the processes that a launcher such as mpirun started together. Every one of
// them, a rank, runs the same command; rank 0 talks and writes.
type world struct {
	group  *ranks.Group
	finish func() error   // after success, on all ranks; nil without a launcher
	abort  func(code int) // ends all ranks
}

// LaunchedRanks returns how many ranks a launcher says there are; 0 if none does.
func LaunchedRanks() int {
	for _, name := range []string{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"} {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
	}
	return 0
}

// RanksHere returns how many of the ranks are on this machine, 1 if no launcher says so.
func RanksHere() int {
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
func (w *world) end(program string, code int, last *bytes.Buffer) int {
	if w.finish == nil { // no launcher
		return code
	}
	if code == ExitOK {
		if err := w.finish(); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
			return ExitInternal
		}
		return ExitOK
	}
	if w.group.Rank() > 0 {
		time.Sleep(patienceOf(code))
		lines := strings.Split(strings.TrimSpace(last.String()), "\n")
		words := lines[len(lines)-1]
		if code == ExitInterrupted {
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
	if code == ExitInterrupted {
		return time.Second / 2
	}
	return 2 * time.Second
}

// SharedWords says how many ranks have shared a task.
func (a *App) SharedWords() string {
	if a.Ranks.Alone() {
		return ""
	}
	return fmt.Sprintf(", shared by %d ranks", a.Ranks.Size())
}

// checkRanks refuses verbs that are for one process.
func (a *App) checkRanks(cmd *cobra.Command, shared []string) error {
	if a.Ranks.Alone() || !cmd.HasParent() || cmd.Name() == "help" || slices.Contains(shared, cmd.Name()) {
		return nil
	}
	return Usagef("%s is for one process, and there are %d ranks: start it without mpirun", cmd.Name(), a.Ranks.Size())
}
