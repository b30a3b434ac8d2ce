package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"grfgp/internal/atomicfile"
)

// Kept are the files that a run has written completely, for the message of an
// interrupted one. A nil list remembers nothing.
type Kept struct {
	mu    sync.Mutex
	names []string
	ranks int // of the run
}

func (k *Kept) add(name string) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.Contains(k.names, name) {
		k.names = append(k.names, name)
	}
}

// interrupted is what a run of a program that a signal ended says.
func (k *Kept) interrupted(program string) string {
	if k == nil {
		k = new(Kept)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	words := program + ": interrupted; no file was left incomplete"
	switch len(k.names) {
	case 0:
	case 1:
		words += ", and " + k.names[0] + " is complete"
	default:
		words += ", and these are complete: " + strings.Join(k.names, ", ")
	}
	if k.ranks > 1 {
		words += fmt.Sprintf(". If nobody stopped this run of %d ranks, one of them has ended: other lines say which and why. After signal 9 "+
			"take more memory or more ranks, see 'grfgp check --ranks'; otherwise start it again", k.ranks)
	}
	return words + "\n"
}

// Write writes a file all or nothing, and remembers that it is complete.
func (k *Kept) Write(path string, write func(io.Writer) error) error {
	err := atomicfile.Write(path, write)
	if err == nil {
		k.add(path)
	}
	return err
}

// WritePrivate is Write for a file that only its owner may read.
func (k *Kept) WritePrivate(path string, write func(io.Writer) error) error {
	err := atomicfile.WritePrivate(path, write)
	if err == nil {
		k.add(path)
	}
	return err
}

// WriteFile writes a file, also where ranks share the work: those other than rank 0
// do what is to be done for the file, and write nothing.
func (a *App) WriteFile(path string, write func(io.Writer) error) error {
	if a.Ranks.Rank() > 0 {
		return write(io.Discard)
	}
	return a.Kept.Write(path, write)
}
