package study

import (
	"math"
	"slices"
	"time"
)

// Status says whether a study makes suggestions. Results it takes always.
type Status string

// What a study may be.
const (
	StatusOpen   Status = "open"
	StatusPaused Status = "paused" // until it is resumed
	StatusClosed Status = "closed" // for good

	// StatusDamaged is that of a study in lists whose events cannot be replayed.
	StatusDamaged Status = "damaged"
)

// Stop says who paused or closed a study, when and why.
type Stop struct {
	Note string    `json:"note,omitempty"`
	By   string    `json:"by,omitempty"`
	Time time.Time `json:"time"`
}

// TrialState says what became of a trial.
type TrialState string

// What a trial may be. A result is taken in every state but failed and done,
// where one that says something else is a conflict.
const (
	TrialPending   TrialState = "pending"   // reserved, until its lease ends
	TrialDone      TrialState = "done"      // it has a value
	TrialFailed    TrialState = "failed"    // its node may be offered again, after another value has come
	TrialAbandoned TrialState = "abandoned" // its node is never offered again
	TrialExpired   TrialState = "expired"   // its lease ran out: the node is back in the pool
	TrialReleased  TrialState = "released"  // given back: the node is back in the pool
	TrialRetracted TrialState = "retracted" // its value was withdrawn; another one may be told
)

// TrialStates returns all states of a trial.
func TrialStates() []TrialState {
	return []TrialState{TrialPending, TrialDone, TrialFailed, TrialAbandoned, TrialExpired, TrialReleased, TrialRetracted}
}

// Trial is a node that was handed out to be measured.
type Trial struct {
	Issued
	State  TrialState `json:"state"`
	Holder string     `json:"holder,omitempty"`
	Asked  time.Time  `json:"asked"`
	Until  time.Time  `json:"until"`           // end of the lease
	Ended  *time.Time `json:"ended,omitempty"` // when it left pending, or its result came
	Value  *float64   `json:"value,omitempty"`
	Number int        `json:"observation,omitempty"` // of the value; 0: none
	Late   bool       `json:"late,omitempty"`        // the result came after the node was back in the pool
	Note   string     `json:"note,omitempty"`
}

// Record is what was measured at a node, asked for or not.
type Record struct {
	Number int `json:"observation"` // from 1
	Measurement
	Trial     int       `json:"trial,omitempty"` // 0: nobody asked for it
	Seq       int64     `json:"seq"`             // of the event that told it
	Time      time.Time `json:"time"`
	By        string    `json:"by,omitempty"`
	Retracted bool      `json:"retracted,omitempty"`
	Note      string    `json:"note,omitempty"` // of whoever observed it, or why it was retracted
}

// Ask is an answer to an ask, as it was given.
type Ask struct {
	Seq    int64     `json:"seq,omitempty"` // of its event; 0: nothing was handed out
	Key    string    `json:"key,omitempty"`
	Holder string    `json:"holder,omitempty"`
	Count  int       `json:"count"`          // nodes asked for
	Until  time.Time `json:"until,omitzero"` // end of the lease
	Short  Reason    `json:"short,omitempty"`
	Trials []Issued  `json:"trials"`
}

// State is what a study is after some events. Only Apply changes it.
type State struct {
	Settings Settings
	Seq      int64 // of the last event; 0: none
	Status   Status
	Stopped  *Stop // nil: the study is open
	Created  time.Time
	Updated  time.Time // of the last event
	Trials   []Trial   // number t is Trials[t−1]
	Records  []Record  // number o is Values[o−1]
	Asks     []Ask

	nodes     map[string]*nodeState
	abandoned []string         // nodes, in increasing order
	asks      map[string]int   // by key
	observed  map[string]int64 // event by key
	failedAt  map[string]int64 // event of the last failure of a node
	toldAt    int64            // event of the last value
	changedAt int64            // event of the last value told or retracted
}

// nodeState is what is known of one that is not open or was not always.
type nodeState struct {
	pending   int // trials
	values    int // not retracted
	abandoned bool
}

// Replay returns the state after events.
func Replay(events ...Event) (*State, error) {
	s := new(State)
	for _, e := range events {
		if err := s.Apply(e); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Apply brings the state past the next event. It checks that the event can
// follow, and changes nothing if it cannot.
func (s *State) Apply(e Event) error {
	if err := s.check(e); err != nil {
		return err
	}
	s.apply(e)
	return nil
}

// apply changes the state by an event that was checked.
func (s *State) apply(e Event) {
	s.Seq, s.Updated = e.Seq, e.Time
	switch p := e.Data.(type) {
	case Created:
		s.Settings, s.Status, s.Created = p.Settings, StatusOpen, e.Time
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
	case Retracted:
		s.retract(e, p)
	case Paused:
		s.Status, s.Stopped = StatusPaused, &Stop{p.Note, e.By, e.Time}
	case Resumed:
		s.Status, s.Stopped = StatusOpen, nil
	case Closed:
		s.Status, s.Stopped = StatusClosed, &Stop{p.Note, e.By, e.Time}
	}
}

func (s *State) issue(e Event, p Asked) {
	for _, i := range p.Trials {
		s.Trials = append(s.Trials, Trial{Issued: i, State: TrialPending, Holder: e.By, Asked: e.Time, Until: p.Until})
		s.node(i.Node).pending++
	}
	s.Asks = append(s.Asks, Ask{e.Seq, p.Key, e.By, p.Count, p.Until, p.Short, p.Trials})
	if p.Key != "" {
		s.asks[p.Key] = len(s.Asks) - 1
	}
}

func (s *State) tell(e Event, p Told) {
	was := s.Trials[p.Trial-1].State
	if p.Value == nil {
		t := s.end(e, p.Trial, TrialFailed)
		t.Note = p.Note
		s.failedAt[t.Node] = e.Seq
		return
	}
	t := s.end(e, p.Trial, TrialDone)
	t.Late = t.Late || was != TrialPending && was != TrialRetracted
	t.Value, t.Note = p.Value, p.Note
	t.Number = s.add(e, Measurement{t.Node, *p.Value}, t.Trial)
}

func (s *State) retract(e Event, p Retracted) {
	v := &s.Records[p.Value-1]
	v.Retracted, v.Note = true, p.Note
	s.node(v.Node).values--
	s.changedAt = e.Seq
	if v.Trial > 0 {
		s.Trials[v.Trial-1].State = TrialRetracted
	}
}

// end moves a trial to a state that is not pending.
func (s *State) end(e Event, id int, to TrialState) *Trial {
	t := &s.Trials[id-1]
	if t.State == TrialPending {
		s.node(t.Node).pending--
	}
	t.State, t.Ended = to, &e.Time
	return t
}

// add records a value and returns its number.
func (s *State) add(e Event, r Measurement, trial int) int {
	v := Record{Number: len(s.Records) + 1, Measurement: r, Trial: trial, Seq: e.Seq, Time: e.Time, By: e.By}
	s.Records = append(s.Records, v)
	s.node(r.Node).values++
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

// Answered reports whether an ask of the key was answered.
func (s *State) Answered(key string) bool {
	_, known := s.asks[key]
	return known
}

// Available reports whether a node may be handed out, as far as its own history goes.
func (s *State) Available(id string) bool {
	n := s.nodes[id]
	return n == nil || n.pending == 0 && !n.abandoned && (n.values == 0 || s.Settings.Repeats)
}

// Spent is what trials cost that are pending or done, a finite number.
func (s *State) Spent() float64 {
	spent := 0.0
	for k := range s.Trials {
		if t := &s.Trials[k]; t.State == TrialPending || t.State == TrialDone {
			spent += t.Cost
		}
	}
	return min(spent, math.MaxFloat64)
}

// BudgetLeft is what may still be spent; nil: there is no limit.
func (s *State) BudgetLeft() *float64 {
	if s.Settings.Budget == nil {
		return nil
	}
	left := max(0, *s.Settings.Budget-s.Spent())
	return &left
}

// Measurements are the values that count, in the order in which they were told.
func (s *State) Measurements() []Measurement {
	all := make([]Measurement, 0, len(s.Records))
	for _, v := range s.Records {
		if !v.Retracted {
			all = append(all, v.Measurement)
		}
	}
	return all
}

// Pending are the nodes of pending trials, in the order of trials.
func (s *State) Pending() []string {
	var all []string
	for k := range s.Trials {
		if t := &s.Trials[k]; t.State == TrialPending {
			all = append(all, t.Node)
		}
	}
	return all
}

// AbandonedNodes are never suggested again, in increasing order.
func (s *State) AbandonedNodes() []string { return slices.Clone(s.abandoned) }

func (s *State) abandon(node string) {
	s.node(node).abandoned = true
	if at, there := slices.BinarySearch(s.abandoned, node); !there {
		s.abandoned = slices.Insert(s.abandoned, at, node)
	}
}

// Counts returns how many trials are in each state.
func (s *State) Counts() map[TrialState]int {
	counts := map[TrialState]int{}
	for _, state := range TrialStates() {
		counts[state] = 0
	}
	for _, t := range s.Trials {
		counts[t.State]++
	}
	return counts
}
