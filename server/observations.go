package server

import (
	"encoding/json"
	"net/http"
	"slices"
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
			Class    string   `json:"class"`
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
		case row.Value == nil && row.Class == "":
			return malformed.because("row %d has no value; nothing was stored", k+1).at(at + "/value")
		case row.Value != nil && row.Class != "":
			return malformed.because("row %d has a value and a class; nothing was stored", k+1).at(at + "/class")
		}
		measurements[k] = study.Measurement{Node: *row.Node, Exposure: float64(row.Exposure), Class: row.Class}
		if row.Value != nil {
			measurements[k].Value = float64(*row.Value)
		}
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
	header: []string{"observation", "node", "value", "exposure", "trial", "time", "by", "retracted", "note", "class"},
	row: func(v study.Record) []string {
		return []string{strconv.Itoa(v.Number), cell(v.Node), valueOf(v.Measurement), exposure(v.Exposure), ordinal(v.Trial), moment(v.Time),
			cell(v.By), strconv.FormatBool(v.Retracted), cell(v.Note), cell(v.Class)}
	},
	view: func(o *openStudy, records []study.Record) any {
		views := make([]namedRecord, len(records))
		for k, v := range records {
			views[k] = namedRecord{v, o.labelOf(v.Node)}
		}
		return views
	},
}

// namedRecord is a record with the name of its node, "" if it has none.
type namedRecord struct {
	study.Record
	label string
}

// MarshalJSON adds the name to what the record writes itself.
func (r namedRecord) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(r.Record)
	if err != nil || r.label == "" {
		return text, err
	}
	label, err := json.Marshal(r.label)
	return slices.Concat(text[:len(text)-1], []byte(`,"label":`), label, []byte("}")), err
}

// valueOf formats a value for CSV, "" where there is a class in its place.
func valueOf(m study.Measurement) string {
	if m.Class != "" {
		return ""
	}
	return figure(m.Value)
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

// reinstate takes back that a measurement was retracted.
func (s *Server) reinstate(w http.ResponseWriter, r *http.Request) error {
	var body remark
	if err := s.readJSON(w, r, &body); err != nil {
		return err
	}
	o, err := s.named(r)
	if err != nil {
		return err
	}
	number, err := numbered(r, "o", "observation")
	if err != nil {
		return err
	}
	v, err := o.Reinstate(r.Context(), number, by(r, body.By))
	if err != nil {
		return err
	}
	o.fitSoon(false)
	return respond(w, http.StatusOK, v)
}
