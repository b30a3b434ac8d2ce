// Package study runs a search on a graph that several people or machines share.
//
// They ask for nodes to measure, and tell the results in any order and at any
// time. [Study.Ask] suggests nodes and reserves them, [Study.Tell] takes the
// result of one, [Study.Observe] takes measurements that nobody asked for.
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
// A study is stored as its events, in order, in a [Log]: created, asked, told,
// observed and so on. Nothing else is stored, and no event is ever changed or
// deleted. [State] is the replay of the events. A command checks its event against
// the state, appends it to the log and then applies it to the state; a replay runs
// the same checks. So a study that is opened again, or imported from an [Archive],
// is in the state in which it was left.
//
// An [Engine] knows the graph and the model. Its suggestions depend on the
// settings and on the events before them, and on nothing else: [Verify] computes
// every suggestion of a log again and compares.
//
// # Trials
//
// A trial is a node that was handed out to be measured. It is reserved by a lease.
// These are its states:
//
//	pending ── value ──────────→ done ── Retract ──→ retracted
//	   ├────── told to fail ───→ failed      its node may be suggested again after the next measurement
//	   ├────── Release ────────→ released    its node may be suggested again
//	   ├────── lease runs out ─→ expired     its node may be suggested again
//	   └────── Abandon ────────→ abandoned   its node is never suggested again
//
// A late result is never lost: a released, expired, abandoned or retracted trial
// takes a value and is then done. If the node was measured again meanwhile, both
// values count as repeated measurements.
//
// # Repeated commands
//
// A client that got no answer may send the same command again. Telling the same
// result twice, or releasing a trial twice, changes nothing; asks and observations
// take a key, and the same key gets the same answer. The clock is read when a
// command comes, never in a replay.
package study

import "errors"

// Errors of this package.
var (
	// ErrInvalid is wrapped by errors about commands and settings that are wrong in
	// every state of a study.
	ErrInvalid = errors.New("not valid")
	// ErrNotFinite refuses a value that is not a finite number.
	ErrNotFinite = errors.New("not a finite number")
	// ErrUnknownNode refuses the id of a node that the graph does not have.
	ErrUnknownNode = errors.New("no such node")
	// ErrNotFound is wrapped if there is no such trial, observation or study.
	ErrNotFound = errors.New("not found")
	// ErrConflict is wrapped if a command contradicts the state of the study.
	ErrConflict = errors.New("conflict")
	// ErrNoModel is wrapped if the measurements are too few, or unfit, for a model.
	ErrNoModel = errors.New("there is no model yet")
	// ErrNoEngine is returned by a study that was opened without an Engine.
	ErrNoEngine = errors.New("opened without its graph")
	// ErrSequence is wrapped if the number of an event is not the next one.
	ErrSequence = errors.New("out of sequence")
	// ErrCorrupt is wrapped if events cannot have been written by this package.
	ErrCorrupt = errors.New("not a usable log")
)
