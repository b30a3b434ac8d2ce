package plain

import (
	"errors"
	"fmt"
	"testing"
)

// fileError has words of its own, about a file called graph.
type fileError struct{}

func (fileError) Error() string { return "graph: no table" }

func TestWords(t *testing.T) {
	conflict := errors.New("study: conflict")
	options := errors.New("bayesopt: bad options")
	if err := Own(fmt.Errorf("a file: %w", conflict)); !errors.Is(err, conflict) {
		t.Errorf("%v is no longer what it wraps", err)
	}
	for want, err := range map[string]error{
		"conflict":                      conflict,
		"conflict: trial 3 is done":     fmt.Errorf("%w: trial 3 is done", conflict),
		"suggesting: bad options: no":   fmt.Errorf("study: suggesting: %w", fmt.Errorf("%w: no", options)),
		"fold 1: bad options: conflict": fmt.Errorf("fold 1: %w: %w", options, conflict),
		"conflict\nbad options":         errors.Join(conflict, options),
		`conflict: the node "gp: 7"`:    fmt.Errorf("%w: the node %q", conflict, "gp: 7"),
		`conflict: the key "study: a"`:  fmt.Errorf("%w: the key %q", conflict, "study: a"),
		"a file called walk: x":         errors.New("a file called walk: x"),
		"walkers: none":                 errors.New("walkers: none"),
		"graph: conflict":               Own(fmt.Errorf("%s: %w", "graph", conflict)),
		"graph: no table":               fileError{},
	} {
		if got := Words(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}
