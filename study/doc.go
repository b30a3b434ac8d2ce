// Package study is a search that several people or machines share: they ask for
// nodes to measure, and tell what came of it, in any order and at any time.
//
// A study is its events, in order, in a [Log]. [State] is a replay of them, and
// [Study] takes commands: it checks each against the state, appends an event, and
// applies it. What an [Engine] suggests is a function of the settings and of the
// events so far, so a study goes on after a restart as if there had been none.
//
// A node that was asked for is reserved by a lease. When the lease runs out, the
// node returns to the pool; a late result is taken all the same, and if the node
// was handed out again meanwhile, both results are kept. Clocks are read when a
// command comes, never in a replay.
package study

import "errors"

// Errors of this package.
var (
	// ErrInvalid is wrapped by errors about commands and settings that make no
	// sense whatever the state.
	ErrInvalid = errors.New("not valid")
	// ErrNotFinite refuses a value that is no finite number.
	ErrNotFinite = errors.New("not a finite number")
	// ErrUnknownNode refuses a node that the graph does not have.
	ErrUnknownNode = errors.New("no such node")
	// ErrNotFound is wrapped where there is no such trial, value or study.
	ErrNotFound = errors.New("not found")
	// ErrConflict is wrapped where a command contradicts what is known already.
	ErrConflict = errors.New("conflict")
	// ErrNoModel says that too little was measured to model anything.
	ErrNoModel = errors.New("there is no model yet")
	// ErrNoEngine says that a study was opened without an Engine.
	ErrNoEngine = errors.New("opened without its graph")
	// ErrSequence is wrapped where an event has not the number that is next.
	ErrSequence = errors.New("out of sequence")
	// ErrCorrupt is wrapped where events cannot have come from this package.
	ErrCorrupt = errors.New("not a usable log")
)
