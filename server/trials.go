package server

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"grfgp/study"
)

// key returns the Idempotency-Key of a request.
func key(r *http.Request) (string, error) {
	k := r.Header.Get("Idempotency-Key")
	if len(k) > study.MaxID || !utf8.ValidString(k) {
		return "", invalid.because("an Idempotency-Key is text of at most %d bytes", study.MaxID)
	}
	return k, nil
}

// ask reserves suggested nodes. It waits for the fit of the model first, so that a
// request that is answered with 503 has reserved nothing.
func (s *Server) ask(w http.ResponseWriter, r *http.Request) error {
	body := struct {
		Count  int            `json:"count"`
		Nodes  []string       `json:"nodes"` // of one's own choice
		Holder string         `json:"holder"`
		Lease  study.Duration `json:"lease"`
	}{Count: 1}
	if err := s.readJSON(w, r, &body); err != nil {
		return err
	}
	k, err := key(r)
	if err != nil {
		return err
	}
	if body.Nodes != nil {
		body.Count = len(body.Nodes)
	}
	if body.Count < 1 || body.Count > study.MaxCount {
		return invalid.because("count is %d; give a number from 1 to %d", body.Count, study.MaxCount).at("/count")
	}
	o, err := s.named(r)
	if err != nil {
		return err
	}
	request := study.AskRequest{Count: body.Count, Nodes: body.Nodes, Key: k, Holder: by(r, body.Holder), Lease: time.Duration(body.Lease),
		Wait: s.opts.Limits.Patience}
	if prefersAsync(r) {
		request.Wait = 0
		op, err := o.askLater(request)
		if err != nil {
			return err
		}
		return o.sendOperation(w, op)
	}
	a, err := s.askNow(r, o, request)
	if err != nil {
		return err
	}
	s.metrics.issued.Add(float64(len(a.Trials)))
	status := http.StatusOK
	if a.Seq > 0 {
		status = http.StatusCreated
	}
	return respond(w, status, a)
}

// askNow reserves nodes while the client waits. If it goes away in the midst of many, and has
// no key to ask for them again, they are given back.
func (s *Server) askNow(r *http.Request, o *openStudy, request study.AskRequest) (study.Ask, error) {
	ctx, cancel := s.waitContext(r)
	defer cancel()
	if err := o.readyFor(ctx, request); err != nil {
		return study.Ask{}, err
	}
	defer o.use()()
	a, err := o.askInParts(r.Context(), request, nil)
	if err != nil && len(a.Trials) > 0 {
		if request.Key == "" {
			leave := o.use()
			s.background(func() {
				defer leave()
				o.giveBack(a)
			})
		} else if !errors.Is(err, study.ErrConflict) && r.Context().Err() == nil {
			return a, fmt.Errorf("%w: %d of %d nodes are reserved; repeat the request with its key to go on", errLoading, len(a.Trials),
				request.Count)
		}
	}
	return a, err
}

// mayIssue reports whether an ask with the key was answered before, and whether a new
// ask can reserve nodes: the study is open and has budget left.
func (o *openStudy) mayIssue(key string) (known, may bool) {
	o.View(func(st *study.State) {
		known = st.Answered(key)
		left := st.BudgetLeft()
		may = st.Status == study.StatusOpen && (left == nil || *left > 0)
	})
	return known, may
}

var trialListing = listing[study.Trial]{
	name:   "trials",
	items:  func(st *study.State) []study.Trial { return st.Trials },
	number: func(t study.Trial) int { return t.Trial },
	header: []string{"trial", "node", "state", "holder", "asked", "until", "value", "exposure", "observation", "cost", "mean", "sd", "late",
		"note", "why", "class", "expected", "probability"},
	row: func(t study.Trial) []string {
		return []string{
			strconv.Itoa(t.Trial), cell(t.Node), string(t.State), cell(t.Holder), moment(t.Asked), moment(t.Until), figureAt(t.Value),
			exposure(t.Exposure), ordinal(t.Number),
			figure(t.Cost), figureAt(t.Mean), figureAt(t.SD), strconv.FormatBool(t.Late), cell(t.Note), cell(t.Why),
			cell(t.Class), cell(t.Expected), figureAt(t.Probability),
		}
	},
	view: func(o *openStudy, trials []study.Trial) any {
		return o.trialViews(trials)
	},
}

func (s *Server) listTrials(w http.ResponseWriter, r *http.Request) error {
	var states []study.TrialState
	for _, text := range r.URL.Query()["state"] {
		state := study.TrialState(text)
		if !slices.Contains(study.TrialStates(), state) {
			return malformed.because("unknown trial state %q; the states are %q", text, study.TrialStates())
		}
		states = append(states, state)
	}
	holders, byHolder := r.URL.Query()["holder"]
	return trialListing.send(s, w, r, only(r, "state", "holder", "after", "limit", "order", "format"), func(t study.Trial) bool {
		return (states == nil || slices.Contains(states, t.State)) && (!byHolder || slices.Contains(holders, t.Holder))
	})
}

func moment(t time.Time) string { return t.Format(time.RFC3339) }

// ordinal formats a number for CSV, "" for 0.
func ordinal(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func (s *Server) showTrial(w http.ResponseWriter, r *http.Request) error {
	o, err := s.named(r)
	if err != nil {
		return err
	}
	number, err := numbered(r, "t", "trial")
	if err != nil {
		return err
	}
	var t *study.Trial
	o.View(func(st *study.State) {
		if number <= len(st.Trials) {
			copied := st.Trials[number-1]
			t = &copied
		}
	})
	if t == nil {
		return notFound.because("there is no trial %d", number)
	}
	return respond(w, http.StatusOK, o.guide().trialView(*t))
}

// trial runs a command on a trial and sends the trial afterwards.
func (s *Server) trial(w http.ResponseWriter, r *http.Request, body any, do func(o *openStudy, number int) (study.Trial, error)) error {
	if err := s.readJSON(w, r, body); err != nil {
		return err
	}
	o, err := s.named(r)
	if err != nil {
		return err
	}
	number, err := numbered(r, "t", "trial")
	if err != nil {
		return err
	}
	t, err := do(o, number)
	if err != nil {
		return err
	}
	return respond(w, http.StatusOK, o.guide().trialView(t))
}

// tell stores the result of a trial.
func (s *Server) tell(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Value    *reading `json:"value"`
		Exposure reading  `json:"exposure"`
		Class    string   `json:"class"`
		Failed   bool     `json:"failed"`
		remark
	}
	return s.trial(w, r, &body, func(o *openStudy, number int) (study.Trial, error) {
		outcome := study.Outcome{Class: body.Class, Failed: body.Failed, Note: body.Note}
		given := 0
		for _, is := range []bool{body.Value != nil, body.Class != "", body.Failed} {
			if is {
				given++
			}
		}
		switch {
		case given != 1:
			return study.Trial{}, malformed.because(`give {"value": NUMBER} or {"failed": true}, or, in a study of classes, {"class": NAME}`)
		case body.Value != nil:
			outcome.Value, outcome.Exposure = float64(*body.Value), float64(body.Exposure)
		}
		t, err := o.Tell(r.Context(), number, outcome, by(r, body.By))
		if err == nil {
			s.metrics.told.Add(1)
			o.fitSoon(false)
		}
		return t, err
	})
}

func (s *Server) renew(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Lease study.Duration `json:"lease"`
		By    string         `json:"by"`
	}
	return s.trial(w, r, &body, func(o *openStudy, number int) (study.Trial, error) {
		return o.Renew(r.Context(), number, time.Duration(body.Lease), by(r, body.By))
	})
}

func (s *Server) release(w http.ResponseWriter, r *http.Request) error {
	var body remark
	return s.trial(w, r, &body, func(o *openStudy, number int) (study.Trial, error) {
		return o.Release(r.Context(), number, by(r, body.By))
	})
}

// reopen takes back how a trial ended.
func (s *Server) reopen(w http.ResponseWriter, r *http.Request) error {
	var body remark
	return s.trial(w, r, &body, func(o *openStudy, number int) (study.Trial, error) {
		t, err := o.Reopen(r.Context(), number, body.Note, by(r, body.By))
		if err == nil {
			o.fitSoon(false)
		}
		return t, err
	})
}

func (s *Server) abandon(w http.ResponseWriter, r *http.Request) error {
	var body remark
	return s.trial(w, r, &body, func(o *openStudy, number int) (study.Trial, error) {
		return o.Abandon(r.Context(), number, body.Note, by(r, body.By))
	})
}
