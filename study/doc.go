// Package study runs a search on a graph that several people or machines share.
//
// They ask for nodes to measure, and tell the results in any order and at any
// time. [Study.Ask] suggests nodes and reserves them, [Study.Tell] records the
// result of one, and [Study.Observe] records measurements of nodes that were not
// suggested.
//
//	log := new(study.MemoryLog) // or one of package store
//	settings := study.Settings{Name: "pressure", Graph: id, Goal: bayesopt.Minimize}
//	if _, err := study.Create(ctx, log, settings, "anna", time.Now()); err != nil { … }
//	s, err := study.Open(ctx, log, study.Options{Engine: newEngine})
//	ask, err := s.Ask(ctx, study.AskRequest{Count: 2, Holder: "anna"})
//	trial, err := s.Tell(ctx, ask.Trials[0].Trial, study.Outcome{Value: 3.1}, "anna")
//
// # Events
//
// A study is stored as a sequence of events in a [Log]: created, asked, told,
// observed and so on. Nothing else is stored, and no event is ever changed or
// deleted. The [State] of a study follows from its events. A command checks its
// event against the state, appends it to the log and then applies it to the state;
// a replay runs the same checks. A study that is opened again, or imported from an
// [Archive], therefore has the same state as before.
//
// An [Engine] has the graph and the model. Its suggestions depend only on the
// settings and on the earlier events, so [Verify] can compute every suggestion of
// a log again and compare.
//
// # Trials
//
// A trial is a node that was suggested to be measured. A lease reserves it for
// some time. These are its states:
//
//	pending ── value ──────────→ done ── Retract ──→ retracted
//	   ├────── told as failed ─→ failed      its node is suggested last until the next measurement
//	   ├────── Release ────────→ released    its node may be suggested again
//	   ├────── lease runs out ─→ expired     its node may be suggested again
//	   └────── Abandon ────────→ abandoned   its node is never suggested again
//
// [Study.Reopen] takes back how a trial ended, and [Study.Reinstate] that a value was
// retracted.
//
// A late result is never lost: a released, expired, abandoned or retracted trial
// accepts a value and is then done. If the node was measured again in the
// meantime, both values count as repeated measurements.
//
// # Classes
//
// In a study with Settings.Labels a result is a class in place of a value, one of
// Settings.Classes or, without such a list, any name. Its goal is to learn: the next
// nodes are those whose classes would tell most about all others, and predictions are
// probabilities.
//
// # Repeated commands
//
// A client that received no answer may send the same command again. Telling the
// same result twice, or releasing a trial twice, changes nothing; asks and
// observations have a key, and the same key gets the same answer. Only commands
// read the clock; a replay never does.
package study

import (
	"errors"
	"fmt"
)

// Errors of this package.
var (
	// ErrInvalid is wrapped by errors about commands and settings that are invalid
	// whatever the state of the study.
	ErrInvalid = errors.New("not valid")
	// ErrNotFinite is wrapped if a value is not a finite number.
	ErrNotFinite = errors.New("not a finite number")
	// ErrKind, which wraps ErrInvalid, is wrapped if a study measures something else: a value
	// where it asks for classes, a class where it asks for values, or a class that it does
	// not have.
	ErrKind = fmt.Errorf("%w: not what the study measures", ErrInvalid)
	// ErrUnknownNode is wrapped if the graph has no node with an id.
	ErrUnknownNode = errors.New("no such node")
	// ErrNotFound is wrapped if there is no such trial, observation or study.
	ErrNotFound = errors.New("not found")
	// ErrConflict is wrapped if a command contradicts the state of the study.
	ErrConflict = errors.New("conflict")
	// ErrBusy is wrapped if an ask had to wait for others too long.
	ErrBusy = errors.New("busy")
	// ErrNoModel is wrapped if the measurements are too few, or unfit, for a model.
	ErrNoModel = errors.New("there is no model yet")
	// ErrFit is wrapped if a model cannot be fitted to the measurements for a reason
	// that more of them need not change. Asks go on at random.
	ErrFit = errors.New("the model cannot be fitted")
	// ErrTooLarge is wrapped, beside ErrFit, if a model takes more memory or time than
	// it may.
	ErrTooLarge = errors.New("too large")
	// ErrNoEngine is returned by a study that was opened without an Engine.
	ErrNoEngine = errors.New("opened without its graph")
	// ErrSequence is wrapped if the number of an event is not the next one.
	ErrSequence = errors.New("out of sequence")
	// ErrNotDurable is wrapped by a Log that cannot keep events, also if it can still read
	// those that it was given: its file was removed, for example.
	ErrNotDurable = errors.New("not kept")
	// ErrCorrupt is wrapped if events cannot have been written by this package.
	ErrCorrupt = errors.New("not a usable log")
)
