package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"grfgp/internal/atomicfile"
)

// kept are the files that a run has written completely, for the message of an
// interrupted one. There is one run at a time.
var kept keptFiles

type keptFiles struct {
	mu    sync.Mutex
	names []string
	ranks int // of the run
}

func (k *keptFiles) add(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.Contains(k.names, name) {
		k.names = append(k.names, name)
	}
}

func (k *keptFiles) reset() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.names = nil
}

// interrupted is what a run that a signal ended says.
func (k *keptFiles) interrupted() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	words := "grfgp: interrupted; no file was left incomplete"
	switch len(k.names) {
	case 0:
	case 1:
		words += ", and " + k.names[0] + " is complete"
	default:
		words += ", and these are complete: " + strings.Join(k.names, ", ")
	}
	if k.ranks > 1 {
		words += fmt.Sprintf(". If nobody stopped this run of %d ranks, one of them has ended: other lines say which and why. After signal 9 take more memory or more ranks, see 'grfgp check --ranks'; otherwise start it again", k.ranks)
	}
	return words + "\n"
}

// writeFile writes a file all or nothing, and remembers that it is complete.
func writeFile(path string, write func(io.Writer) error) error {
	err := atomicfile.Write(path, write)
	if err == nil {
		kept.add(path)
	}
	return err
}

// writePrivateFile is writeFile for a file that only its owner may read.
func writePrivateFile(path string, write func(io.Writer) error) error {
	err := atomicfile.WritePrivate(path, write)
	if err == nil {
		kept.add(path)
	}
	return err
}

// writeFile is the function writeFile for verbs that ranks share: those other than rank 0
// do what is to be done for the file, and write nothing.
func (a *app) writeFile(path string, write func(io.Writer) error) error {
	if a.ranks.Rank() > 0 {
		return write(io.Discard)
	}
	return writeFile(path, write)
}
