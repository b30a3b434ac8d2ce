package study

import (
	"maps"
	"math"
	"slices"
	"time"
)

// Status says whether a study makes suggestions. Results of trials are accepted in
// every status but archived.
type Status string

// The statuses of a study.
const (
	StatusOpen   Status = "open"
	StatusPaused Status = "paused" // no suggestions until it is resumed
	StatusClosed Status = "closed" // no suggestions, permanently

	// StatusArchived marks a study that is read-only until it is restored.
	StatusArchived Status = "archived"

	// StatusDamaged marks a study in a list whose events cannot be replayed.
	StatusDamaged Status = "damaged"
)

// Stop says who paused, closed or archived a study, when and why.
type Stop struct {
	Note string    `json:"note,omitempty"`
	By   string    `json:"by,omitempty"`
	Time time.Time `json:"time"`
}

// TrialState is the state of a trial. The package documentation shows how states
// follow one another.
type TrialState string

// The states of a trial. A value is accepted in all of them but failed and done,
// where a different result is a conflict.
const (
	TrialPending   TrialState = "pending"   // reserved until its lease ends
	TrialDone      TrialState = "done"      // has a value
	TrialFailed    TrialState = "failed"    // could not be measured; its node is suggested last until the next measurement
	TrialAbandoned TrialState = "abandoned" // its node is never suggested again
	TrialExpired   TrialState = "expired"   // its lease ran out; its node may be suggested again
	TrialReleased  TrialState = "released"  // given back; its node may be suggested again
	TrialRetracted TrialState = "retracted" // its value was withdrawn; another value may be told
)

// TrialStates returns all states of a trial.
func TrialStates() []TrialState {
	return []TrialState{TrialPending, TrialDone, TrialFailed, TrialAbandoned, TrialExpired, TrialReleased, TrialRetracted}
}

// Trial is a node that was suggested to be measured, with its state and result.
type Trial struct {
	Issued
	State  TrialState `json:"state"`
	Holder string     `json:"holder,omitempty"`
	Asked  time.Time  `json:"asked"`
	Until  time.Time  `json:"until"`           // end of the lease
	Ended  *time.Time `json:"ended,omitempty"` // when it stopped being pending, or when its result was told
	Value  *float64   `json:"value,omitempty"`
	// Exposure is that of Measurement.
	Exposure float64 `json:"exposure,omitempty"`
	Class    string  `json:"class,omitempty"`       // in place of the value, in studies of classes
	Number   int     `json:"observation,omitempty"` // of the record of the value; 0: none
	Late     bool    `json:"late,omitempty"`        // the result was told after the trial had ended in another way
	Note     string  `json:"note,omitempty"`
	By       string  `json:"by,omitempty"` // who ended it or told its result, if known
}

// Record is a measurement in a study. In JSON its number is called observation.
type Record struct {
	Number int `json:"observation"` // from 1
	Measurement
	Trial     int       `json:"trial,omitempty"` // 0: it belongs to no trial
	Seq       int64     `json:"seq"`             // of its event
	Time      time.Time `json:"time"`
	By        string    `json:"by,omitempty"`
	Retracted bool      `json:"retracted,omitempty"`
	Note      string    `json:"note,omitempty"` // note on the measurement, or the reason why it was retracted

	said string // note on a measurement that is retracted
}

// Ask is the answer to an AskRequest.
type Ask struct {
	Seq    int64     `json:"seq,omitempty"` // number of its event; 0: no node was suggested
	Key    string    `json:"key,omitempty"`
	Holder string    `json:"holder,omitempty"`
	Count  int       `json:"count"`          // nodes asked for
	Of     int       `json:"of,omitempty"`   // nodes of the whole ask that this is a part of; 0: of none
	Until  time.Time `json:"until,omitzero"` // end of the lease
	Short  Reason    `json:"short,omitempty"`
	// why the nodes were drawn at random, without the model that the policy needs; empty: they were not
	Random string   `json:"random,omitempty"`
	Chosen bool     `json:"chosen,omitempty"` // AskRequest.Nodes named the nodes
	Trials []Issued `json:"trials"`
	// Ended are the states of trials that are pending no more, in the answer to a key that
	// was used before: their nodes may be reserved for somebody else meanwhile. Nil: none.
	Ended map[int]TrialState `json:"ended,omitempty"`
}

// State is the state of a study after some events. Only Apply changes it.
type State struct {
	Settings Settings
	Seq      int64 // number of the last event; 0: none
	Status   Status
	Stopped  *Stop // nil: the study is open
	Created  time.Time
	Updated  time.Time // time of the last event
	Trials   []Trial   // trial number n is Trials[n−1]
	Records  []Record  // record number n is Records[n−1]
	Asks     []Ask
	Queue    []QueuedNode // in the order in which asks get them

	nodes     map[string]*nodeState
	abandoned []string         // nodes, sorted
	asks      map[string]int   // by key
	observed  map[string]int64 // event by key
	failedAt  map[string]int64 // event of the last failure, by node
	toldAt    int64            // event of the last measurement
	changedAt int64            // event of the last measurement told or retracted, or of a change of the model
	modelAt   int64            // event of the settings, budget, lease and unit aside
	before    *shelved         // what an archived study was; nil: it is not archived
	classes   []ClassCount     // of measurements that are not retracted, by first appearance
	sums      sums
}

// nodeState counts what happened at a node.
type nodeState struct {
	pending   int // trials that are pending
	values    int // measurements that are not retracted
	abandoned bool
}

// Replay returns the state after all events of a study.
func Replay(events ...Event) (*State, error) {
	s := new(State)
	for _, e := range events {
		if err := s.Apply(e); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Apply applies the next event. If the event cannot follow, Apply returns an error
// and changes nothing.
func (s *State) Apply(e Event) error {
	if err := s.check(e); err != nil {
		return err
	}
	s.apply(e)
	return nil
}

// apply applies an event that was checked.
func (s *State) apply(e Event) {
	s.Seq, s.Updated = e.Seq, e.Time
	switch p := e.Data.(type) {
	case Created:
		s.Settings, s.Status, s.Created, s.modelAt = p.Settings, StatusOpen, e.Time, e.Seq
		s.nodes, s.asks = map[string]*nodeState{}, map[string]int{}
		s.observed, s.failedAt = map[string]int64{}, map[string]int64{}
	case Asked:
		s.issue(e, p)
	case Told:
		s.tell(e, p)
	case Observed:
		if p.Key != "" {
			s.observed[p.Key] = e.Seq
		}
		for _, r := range p.Values {
			s.Records[s.add(e, r, 0)-1].Note = p.Note
		}
	case Renewed:
		s.Trials[p.Trial-1].Until = p.Until
	case Released:
		s.end(e, p.Trial, TrialReleased)
	case Abandoned:
		t := s.end(e, p.Trial, TrialAbandoned)
		t.Note = p.Note
		s.abandon(t.Node)
	case Expired:
		for _, id := range p.Trials {
			s.end(e, id, TrialExpired)
		}
	case Reopened:
		s.reopen(e, p)
	case Retracted:
		s.retract(e, p)
	case Reinstated:
		s.reinstate(e, p)
	case Paused:
		s.Status, s.Stopped = StatusPaused, &Stop{p.Note, e.By, e.Time}
	case Resumed:
		s.Status, s.Stopped = StatusOpen, nil
	case Closed:
		s.Status, s.Stopped = StatusClosed, &Stop{p.Note, e.By, e.Time}
	case Changed:
		s.change(e, p)
	case Queued:
		s.enqueue(e, p)
	case Unqueued:
		for _, node := range p.Nodes {
			s.unqueue(node)
		}
	case Archived:
		s.before = &shelved{s.Status, s.Stopped}
		s.Status, s.Stopped = StatusArchived, &Stop{p.Note, e.By, e.Time}
	case Restored:
		s.Status, s.Stopped, s.before = s.before.Status, s.before.Stopped, nil
	}
}

func (s *State) issue(e Event, p Asked) {
	for _, i := range p.Trials {
		s.Trials = append(s.Trials, Trial{Issued: i, State: TrialPending, Holder: e.By, Asked: e.Time, Until: p.Until})
		s.sums.move("", TrialPending, i.Cost)
		s.node(i.Node).pending++
		s.unqueue(i.Node)
	}
	s.Asks = append(s.Asks, Ask{e.Seq, p.Key, e.By, p.Count, p.Of, p.Until, p.Short, p.Random, p.Chosen, p.Trials, nil})
	if p.Key != "" {
		s.asks[p.Key] = len(s.Asks) - 1
	}
}

func (s *State) tell(e Event, p Told) {
	was := s.Trials[p.Trial-1].State
	if p.failed() {
		t := s.end(e, p.Trial, TrialFailed)
		t.Note = p.Note
		s.failedAt[t.Node] = e.Seq
		return
	}
	t := s.end(e, p.Trial, TrialDone)
	t.Late = t.Late || was != TrialPending && was != TrialRetracted
	t.Value, t.Exposure, t.Class, t.Note = p.Value, p.Exposure, p.Class, p.Note
	t.Number = s.add(e, t.result(), t.Trial)
	s.Records[t.Number-1].Note = p.Note
}

func (s *State) retract(e Event, p Retracted) {
	v := s.withdraw(e, p.Value, p.Note)
	if v.Trial > 0 {
		t := &s.Trials[v.Trial-1]
		s.sums.move(t.State, TrialRetracted, t.Cost)
		t.State = TrialRetracted
	}
}

// withdraw retracts a record.
func (s *State) withdraw(e Event, number int, note string) *Record {
	v := &s.Records[number-1]
	v.Retracted, v.Note, v.said = true, note, v.Note
	s.node(v.Node).values--
	s.changedAt = e.Seq
	if s.sums.values--; s.sums.best == v.Number {
		s.findBest()
	}
	if s.Settings.Labels {
		s.countClasses()
	}
	return v
}

// end moves a trial to a state other than pending.
func (s *State) end(e Event, id int, to TrialState) *Trial {
	t := &s.Trials[id-1]
	if t.State == TrialPending {
		s.node(t.Node).pending--
	}
	s.sums.move(t.State, to, t.Cost)
	t.State, t.Ended, t.By = to, &e.Time, e.By
	return t
}

// add appends a record of a measurement and returns its number.
func (s *State) add(e Event, r Measurement, trial int) int {
	v := Record{Number: len(s.Records) + 1, Measurement: r, Trial: trial, Seq: e.Seq, Time: e.Time, By: e.By}
	s.Records = append(s.Records, v)
	s.record(&v)
	if r.Class != "" {
		s.classes = addClass(s.classes, r.Class)
	}
	s.node(r.Node).values++
	if !s.Settings.Repeats {
		s.unqueue(r.Node)
	}
	s.toldAt, s.changedAt = e.Seq, e.Seq
	return v.Number
}

func (s *State) node(id string) *nodeState {
	n := s.nodes[id]
	if n == nil {
		n = new(nodeState)
		s.nodes[id] = n
	}
	return n
}

// Answered reports whether an ask with the key was answered before.
func (s *State) Answered(key string) bool {
	_, known := s.asks[key]
	return known
}

// available reports whether a node is neither pending nor abandoned nor, without
// Settings.Repeats, measured.
func (s *State) available(id string) bool {
	n := s.nodes[id]
	return n == nil || n.pending == 0 && !n.abandoned && (n.values == 0 || s.Settings.Repeats)
}

// Spent returns the cost of pending and done trials.
func (s *State) Spent() float64 {
	spent := s.sums.spent
	if !s.sums.known {
		spent = s.addCosts()
	}
	return min(spent, math.MaxFloat64)
}

// BudgetLeft returns the part of the budget that is not spent; nil if there is no
// limit.
func (s *State) BudgetLeft() *float64 {
	if s.Settings.Budget == nil {
		return nil
	}
	left := max(0, *s.Settings.Budget-s.Spent())
	return &left
}

// Measurements returns the measurements that were not retracted, in the order in
// which they were told.
func (s *State) Measurements() []Measurement {
	all := make([]Measurement, 0, len(s.Records))
	for _, v := range s.Records {
		if !v.Retracted {
			all = append(all, v.Measurement)
		}
	}
	return all
}

// Pending returns the nodes of pending trials, in the order of trials.
func (s *State) Pending() []string {
	var all []string
	for k := range s.Trials {
		if t := &s.Trials[k]; t.State == TrialPending {
			all = append(all, t.Node)
		}
	}
	return all
}

// AbandonedNodes returns the nodes that are never suggested again, sorted.
func (s *State) AbandonedNodes() []string { return slices.Clone(s.abandoned) }

func (s *State) abandon(node string) {
	s.node(node).abandoned = true
	s.unqueue(node)
	if at, there := slices.BinarySearch(s.abandoned, node); !there {
		s.abandoned = slices.Insert(s.abandoned, at, node)
	}
}

// Counts returns the number of trials in each state.
func (s *State) Counts() map[TrialState]int {
	counts := map[TrialState]int{}
	for _, state := range TrialStates() {
		counts[state] = 0
	}
	maps.Copy(counts, s.sums.counts)
	return counts
}
