package study

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// formatVersion is the version of the JSON format of events.
const formatVersion = 1

// Event is one change of a study. Events are never altered or deleted.
type Event struct {
	Seq  int64     // number, from 1 without gaps
	Time time.Time // when it was written
	By   string    // who caused it, if known
	Data Payload
}

// Payload is the content of an event: Created, Asked, Told, Observed, Renewed,
// Released, Abandoned, Expired, Reopened, Retracted, Reinstated, Paused, Resumed, Closed,
// Changed, Queued, Unqueued, Archived or Restored.
type Payload interface{ kind() string }

// The payloads.
type (
	// Created is the first event of a study.
	Created struct {
		Settings Settings `json:"settings"`
	}
	// Asked reserves suggested nodes: it begins trials.
	Asked struct {
		Key   string    `json:"key,omitempty"`   // the same key gets the same answer
		Count int       `json:"count"`           // nodes asked for
		Of    int       `json:"of,omitempty"`    // nodes of the whole ask that this is a part of; 0: of none
		Basis int64     `json:"basis"`           // last event that the suggestions take into account
		Until time.Time `json:"until"`           // end of the lease
		Short Reason    `json:"short,omitempty"` // why there are fewer trials than nodes asked for
		// Random says why the nodes were drawn at random although the policy needs a
		// model: the reason for which it could not be fitted. Empty: they were not.
		Random string `json:"random,omitempty"`
		// Chosen says that whoever asked chose the nodes: they are no suggestions.
		Chosen bool     `json:"chosen,omitempty"`
		Trials []Issued `json:"trials"`
	}
	// Told gives the result of a trial: a value or a class, or that it failed.
	Told struct {
		Trial int      `json:"trial"`
		Value *float64 `json:"value,omitempty"` // nil, without a class: the trial failed
		// Exposure is that of Measurement.
		Exposure float64 `json:"exposure,omitempty"`
		Class    string  `json:"class,omitempty"` // in studies of classes
		Note     string  `json:"note,omitempty"`
	}
	// Observed adds measurements that belong to no trial.
	Observed struct {
		Key    string        `json:"key,omitempty"`
		Values []Measurement `json:"values"`
		Note   string        `json:"note,omitempty"`
	}
	// Renewed extends the lease of a trial.
	Renewed struct {
		Trial int       `json:"trial"`
		Until time.Time `json:"until"`
	}
	// Released ends a trial; its node may be suggested again.
	Released struct {
		Trial int `json:"trial"`
	}
	// Abandoned ends a trial; its node is never suggested again.
	Abandoned struct {
		Trial int    `json:"trial"`
		Note  string `json:"note,omitempty"`
	}
	// Expired ends trials whose leases ran out; their nodes may be suggested again.
	Expired struct {
		Trials []int `json:"trials"`
	}
	// Reopened takes back how a trial ended: it is pending again, and the value it had is
	// retracted.
	Reopened struct {
		Trial int       `json:"trial"`
		Until time.Time `json:"until"` // end of the lease
		Note  string    `json:"note,omitempty"`
	}
	// Retracted withdraws a measurement.
	Retracted struct {
		Value int    `json:"value"` // number of its record
		Note  string `json:"note,omitempty"`
	}
	// Reinstated takes back that a measurement was retracted.
	Reinstated struct {
		Value int `json:"value"` // number of its record
	}
	// Paused stops suggestions until Resumed; results are still accepted.
	Paused struct {
		Note string `json:"note,omitempty"`
	}
	// Resumed ends a pause.
	Resumed struct{}
	// Closed ends suggestions permanently; results of trials are still accepted.
	Closed struct {
		Note string `json:"note,omitempty"`
	}
	// Changed replaces the settings; name and graph stay.
	Changed struct {
		Settings Settings `json:"settings"`
		Note     string   `json:"note,omitempty"`
	}
	// Queued adds nodes that the next asks get first.
	Queued struct {
		Nodes []Chosen `json:"nodes"`
		Note  string   `json:"note,omitempty"`
	}
	// Unqueued takes nodes out of the queue.
	Unqueued struct {
		Nodes []string `json:"nodes"`
	}
	// Archived makes the study read-only until Restored.
	Archived struct {
		Note string `json:"note,omitempty"`
	}
	// Restored takes an archived study back: it is as it was before.
	Restored struct{}
)

// Chosen is a node that somebody chose, with what measuring it costs.
type Chosen struct {
	Node string  `json:"node"` // id
	Cost float64 `json:"cost"`
}

// Issued is a trial at the time of its suggestion.
type Issued struct {
	Trial int      `json:"trial"`
	Node  string   `json:"node"`
	Cost  float64  `json:"cost"`
	Why   string   `json:"why"`
	Mean  *float64 `json:"mean,omitempty"` // predicted at that time; nil: there was no model yet
	SD    *float64 `json:"sd,omitempty"`   // of the quantity, noise not included
	// Expected is the most probable class at that time, in studies of classes; empty:
	// there was no model yet. Probability is its probability.
	Expected    string   `json:"expected,omitempty"`
	Probability *float64 `json:"probability,omitempty"`
}

// Measurement is a value measured at a node, or the class that it was found to be of.
type Measurement struct {
	Node  string  `json:"node"`  // id
	Value float64 `json:"value"` // not in JSON if there is a class
	// Exposure is what a count is in proportion to: the number to expect, or the people
	// or the time at risk. Of a share it is the number tested, of which Value are
	// positive. 0: none; Settings.Exposures says which.
	Exposure float64 `json:"exposure,omitempty"`
	Class    string  `json:"class,omitempty"` // in studies of classes, which have no values
}

// Rate returns the value on the scale of predictions: a count per unit of exposure, the
// share of positives, or the value itself where there is no exposure.
func (m Measurement) Rate() float64 {
	if m.Exposure > 0 {
		return m.Value / m.Exposure
	}
	return m.Value
}

func (Created) kind() string    { return "created" }
func (Asked) kind() string      { return "asked" }
func (Told) kind() string       { return "told" }
func (Observed) kind() string   { return "observed" }
func (Renewed) kind() string    { return "renewed" }
func (Released) kind() string   { return "released" }
func (Abandoned) kind() string  { return "abandoned" }
func (Expired) kind() string    { return "expired" }
func (Reopened) kind() string   { return "reopened" }
func (Retracted) kind() string  { return "retracted" }
func (Reinstated) kind() string { return "reinstated" }
func (Paused) kind() string     { return "paused" }
func (Resumed) kind() string    { return "resumed" }
func (Closed) kind() string     { return "closed" }
func (Changed) kind() string    { return "changed" }
func (Queued) kind() string     { return "queued" }
func (Unqueued) kind() string   { return "unqueued" }
func (Archived) kind() string   { return "archived" }
func (Restored) kind() string   { return "restored" }

// readers decode the payload of an event, by kind.
var readers = map[string]func([]byte) (Payload, error){
	"created": read[Created], "asked": read[Asked], "told": read[Told], "observed": read[Observed],
	"renewed": read[Renewed], "released": read[Released], "abandoned": read[Abandoned], "expired": read[Expired],
	"reopened": read[Reopened], "retracted": read[Retracted], "reinstated": read[Reinstated], "paused": read[Paused], "resumed": read[Resumed],
	"closed":  read[Closed],
	"changed": read[Changed], "queued": read[Queued], "unqueued": read[Unqueued], "archived": read[Archived], "restored": read[Restored],
}

// read decodes a payload and refuses unknown fields, which would be lost.
func read[P Payload](data []byte) (Payload, error) {
	var p P
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(&p)
	return p, err
}

// Kind returns the name of the payload's type, as in JSON.
func (e Event) Kind() string { return e.Data.kind() }

// wireEvent is an Event in JSON.
type wireEvent struct {
	Version int             `json:"v"`
	Seq     int64           `json:"seq"`
	Time    time.Time       `json:"time"`
	Kind    string          `json:"kind"`
	By      string          `json:"by,omitempty"`
	Data    json.RawMessage `json:"data"`
}

// MarshalJSON writes {"v":1,"seq":…,"time":…,"kind":…,"by":…,"data":{…}}.
func (e Event) MarshalJSON() ([]byte, error) {
	data, err := json.Marshal(e.Data)
	if err != nil {
		return nil, err
	}
	return json.Marshal(wireEvent{formatVersion, e.Seq, e.Time, e.Kind(), e.By, data})
}

// UnmarshalJSON reads the format of MarshalJSON.
func (e *Event) UnmarshalJSON(text []byte) error {
	var w wireEvent
	if err := json.Unmarshal(text, &w); err != nil {
		return fmt.Errorf("%w: an event: %v", ErrCorrupt, err)
	}
	if w.Version != formatVersion {
		return fmt.Errorf("%w: event %d has version %d, and this program reads version %d; use a newer program", ErrCorrupt, w.Seq, w.Version,
			formatVersion)
	}
	reader, ok := readers[w.Kind]
	if !ok {
		return fmt.Errorf("%w: event %d is of the unknown kind %q; use a newer program", ErrCorrupt, w.Seq, w.Kind)
	}
	data, err := reader(w.Data)
	if err != nil {
		return fmt.Errorf("%w: event %d, %s: %v", ErrCorrupt, w.Seq, w.Kind, err)
	}
	*e = Event{w.Seq, w.Time, w.By, data}
	return nil
}
