package server

import (
	"net/http"
	"strconv"

	"grfgp/study"
)

// observe adds measurements that nobody asked for, all or none.
func (s *Server) observe(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Observations []struct {
			Node     *string  `json:"node"`
			Value    *reading `json:"value"`
			Exposure reading  `json:"exposure"`
		} `json:"observations"`
		Note string `json:"note"`
		By   string `json:"by"`
	}
	if err := s.readJSON(w, r, &body); err != nil {
		return err
	}
	k, err := key(r)
	if err != nil {
		return err
	}
	switch rows := len(body.Observations); {
	case rows == 0:
		return invalid.because("the body has no observations").at("/observations")
	case rows > s.opts.Limits.Rows:
		return tooLarge.because("%d observations; the limit of this server is %d per request", rows, s.opts.Limits.Rows)
	}
	measurements := make([]study.Measurement, len(body.Observations))
	for k, row := range body.Observations {
		at := "/observations/" + strconv.Itoa(k)
		switch {
		case row.Node == nil || *row.Node == "":
			return malformed.because("row %d has no node; nothing was stored", k+1).at(at + "/node")
		case row.Value == nil:
			return malformed.because("row %d has no value; nothing was stored", k+1).at(at + "/value")
		}
		measurements[k] = study.Measurement{Node: *row.Node, Value: float64(*row.Value), Exposure: float64(row.Exposure)}
	}
	o, err := s.named(r)
	if err != nil {
		return err
	}
	ctx, cancel := s.waitContext(r)
	defer cancel()
	if _, err := o.awaitEngine(ctx); err != nil {
		return err
	}
	values, err := o.Observe(r.Context(), k, measurements, body.Note, by(r, body.By))
	if err != nil {
		return err
	}
	s.metrics.told.Add(float64(len(values)))
	o.fitSoon(false)
	return respond(w, http.StatusCreated, map[string]any{"observations": values})
}

var observationListing = listing[study.Record]{
	name:   "observations",
	items:  func(st *study.State) []study.Record { return st.Records },
	number: func(v study.Record) int { return v.Number },
	header: []string{"observation", "node", "value", "exposure", "trial", "time", "by", "retracted", "note"},
	row: func(v study.Record) []string {
		return []string{strconv.Itoa(v.Number), cell(v.Node), figure(v.Value), exposure(v.Exposure), ordinal(v.Trial), moment(v.Time), cell(v.By), strconv.FormatBool(v.Retracted), cell(v.Note)}
	},
}

// exposure formats an exposure for CSV, "" for none.
func exposure(v float64) string {
	if v == 0 {
		return ""
	}
	return figure(v)
}

func (s *Server) listObservations(w http.ResponseWriter, r *http.Request) error {
	return observationListing.send(s, w, r, only(r, "after", "limit", "order", "format"), func(study.Record) bool { return true })
}

// retract withdraws a measurement.
func (s *Server) retract(w http.ResponseWriter, r *http.Request) error {
	q := only(r, "note", "by")
	if q.err != nil {
		return q.err
	}
	o, err := s.named(r)
	if err != nil {
		return err
	}
	number, err := numbered(r, "o", "observation")
	if err != nil {
		return err
	}
	v, err := o.Retract(r.Context(), number, q.text("note"), by(r, q.text("by")))
	if err != nil {
		return err
	}
	return respond(w, http.StatusOK, v)
}
