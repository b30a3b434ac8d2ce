package study

import (
	"time"

	"grfgp/bayesopt"
)

// HistoryPoint is a measurement with the prediction that was made before it.
type HistoryPoint struct {
	Number int       `json:"observation"`
	Trial  int       `json:"trial,omitempty"`
	Time   time.Time `json:"time"`
	Measurement
	Best *float64 `json:"best,omitempty"` // best Rate so far; nil unless the goal is to maximize or minimize
	Mean *float64 `json:"mean,omitempty"` // predicted when the node was suggested; nil: it was not, or without a model
	SD   *float64 `json:"sd,omitempty"`   // of the quantity, noise not included
	// Expected and Probability are those of Issued, in studies of classes.
	Expected    string   `json:"expected,omitempty"`
	Probability *float64 `json:"probability,omitempty"`
}

// History returns the measurements that were not retracted, in the order told.
func (s *State) History() []HistoryPoint {
	points := []HistoryPoint{}
	var best *float64
	for _, v := range s.Records {
		if v.Retracted {
			continue
		}
		p := HistoryPoint{Number: v.Number, Trial: v.Trial, Time: v.Time, Measurement: v.Measurement}
		if v.Trial > 0 {
			was := &s.Trials[v.Trial-1]
			p.Mean, p.SD, p.Expected, p.Probability = was.Mean, was.SD, was.Expected, was.Probability
		}
		if rate := v.Rate(); s.better(rate, best) {
			best = &rate
		}
		p.Best = best
		points = append(points, p)
	}
	return points
}

// better reports whether v is better than best, which may be nil. It is false unless
// the goal is to maximize or minimize.
func (s *State) better(v float64, best *float64) bool {
	switch s.Settings.Goal {
	case bayesopt.Maximize:
		return best == nil || v > *best
	case bayesopt.Minimize:
		return best == nil || v < *best
	}
	return false
}

// Best returns the measurement of the best Rate that was not retracted; false if there is none,
// or if the goal is not to maximize or minimize.
func (s *State) Best() (Record, bool) {
	if s.sums.best == 0 {
		return Record{}, false
	}
	return s.Records[s.sums.best-1], true
}

// ChangedAt returns the number of the event that last changed the measurements or the model.
func (s *State) ChangedAt() int64 { return s.changedAt }

// BeforeFirstAsk returns how many of the points of History were told before anybody asked for a
// suggestion: all if nobody has.
func (s *State) BeforeFirstAsk() (n int) {
	for k := range s.Records {
		if v := &s.Records[k]; !v.Retracted && (len(s.Asks) == 0 || v.Seq < s.Asks[0].Seq) {
			n++
		}
	}
	return n
}
