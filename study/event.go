package study

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Version is that of events in JSON.
const Version = 1

// Event is what happened, once and for all. A study is its events in order.
type Event struct {
	Seq  int64     // from 1, without gaps
	Time time.Time // when it was written; replay looks at no other clock
	By   string    // who, as far as anybody said
	Data Payload
}

// Payload is what an event is about: one of the types below.
type Payload interface{ kind() string }

// The payloads.
type (
	// Created is the first event.
	Created struct {
		Settings Settings `json:"settings"`
	}
	// Asked reserves nodes.
	Asked struct {
		Key    string    `json:"key,omitempty"`   // the same key gets the same answer
		Count  int       `json:"count"`           // nodes asked for
		Basis  int64     `json:"basis"`           // the suggestion is a function of the events up to here
		Until  time.Time `json:"until"`           // end of the lease
		Short  Reason    `json:"short,omitempty"` // why there are fewer trials than nodes asked for
		Trials []Issued  `json:"trials"`
	}
	// Told ends a trial with a value, or as failed.
	Told struct {
		Trial int      `json:"trial"`
		Value *float64 `json:"value,omitempty"` // nil: it failed
		Note  string   `json:"note,omitempty"`
	}
	// Observed gives values at nodes that nobody asked for.
	Observed struct {
		Key    string        `json:"key,omitempty"`
		Values []Measurement `json:"values"`
		Note   string        `json:"note,omitempty"`
	}
	// Renewed moves the end of a lease.
	Renewed struct {
		Trial int       `json:"trial"`
		Until time.Time `json:"until"`
	}
	// Released gives a node back to the pool.
	Released struct {
		Trial int `json:"trial"`
	}
	// Abandoned says that a node is never to be suggested again.
	Abandoned struct {
		Trial int    `json:"trial"`
		Note  string `json:"note,omitempty"`
	}
	// Expired gives nodes back to the pool whose leases ran out.
	Expired struct {
		Trials []int `json:"trials"`
	}
	// Retracted withdraws a value.
	Retracted struct {
		Value int    `json:"value"` // its number
		Note  string `json:"note,omitempty"`
	}
	// Paused stops suggestions until Resumed; results are still taken.
	Paused struct {
		Note string `json:"note,omitempty"`
	}
	// Resumed ends a pause.
	Resumed struct{}
	// Closed ends suggestions for good; results of trials are still taken.
	Closed struct {
		Note string `json:"note,omitempty"`
	}
)

// Issued is a trial as it was handed out.
type Issued struct {
	Trial int      `json:"trial"`
	Node  string   `json:"node"`
	Cost  float64  `json:"cost"`
	Why   string   `json:"why"`
	Mean  *float64 `json:"mean,omitempty"` // as predicted then; nil: there was no model yet
	SD    *float64 `json:"sd,omitempty"`   // of the quantity itself
}

// Measurement is a value at a node.
type Measurement struct {
	Node  string  `json:"node"`
	Value float64 `json:"value"`
}

func (Created) kind() string   { return "created" }
func (Asked) kind() string     { return "asked" }
func (Told) kind() string      { return "told" }
func (Observed) kind() string  { return "observed" }
func (Renewed) kind() string   { return "renewed" }
func (Released) kind() string  { return "released" }
func (Abandoned) kind() string { return "abandoned" }
func (Expired) kind() string   { return "expired" }
func (Retracted) kind() string { return "retracted" }
func (Paused) kind() string    { return "paused" }
func (Resumed) kind() string   { return "resumed" }
func (Closed) kind() string    { return "closed" }

// readers make a payload from JSON, by kind.
var readers = map[string]func([]byte) (Payload, error){
	"created": read[Created], "asked": read[Asked], "told": read[Told], "observed": read[Observed],
	"renewed": read[Renewed], "released": read[Released], "abandoned": read[Abandoned], "expired": read[Expired],
	"retracted": read[Retracted], "paused": read[Paused], "resumed": read[Resumed], "closed": read[Closed],
}

// read is strict: a field that nobody knows would be lost in silence.
func read[P Payload](data []byte) (Payload, error) {
	var p P
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(&p)
	return p, err
}

// Kind is the name of the payload's type, as in JSON.
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
	return json.Marshal(wireEvent{Version, e.Seq, e.Time, e.Kind(), e.By, data})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Event) UnmarshalJSON(text []byte) error {
	var w wireEvent
	if err := json.Unmarshal(text, &w); err != nil {
		return fmt.Errorf("%w: an event: %v", ErrCorrupt, err)
	}
	if w.Version != Version {
		return fmt.Errorf("%w: event %d is of version %d, and this program reads %d; is there a newer one?", ErrCorrupt, w.Seq, w.Version, Version)
	}
	reader, ok := readers[w.Kind]
	if !ok {
		return fmt.Errorf("%w: event %d is of the kind %q, which is not known", ErrCorrupt, w.Seq, w.Kind)
	}
	data, err := reader(w.Data)
	if err != nil {
		return fmt.Errorf("%w: event %d, %s: %v", ErrCorrupt, w.Seq, w.Kind, err)
	}
	*e = Event{w.Seq, w.Time, w.By, data}
	return nil
}
