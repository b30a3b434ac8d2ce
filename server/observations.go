package server

import (
	"math"
	"net/http"
	"strconv"

	"grfgp/study"
)

// observe takes values that nobody asked for, all or none.
func (s *Server) observe(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Observations []struct {
			Node  *string  `json:"node"`
			Value *reading `json:"value"`
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
		return invalid.because("there are no observations in the body").at("/observations")
	case rows > s.opts.Limits.Rows:
		return tooLarge.because("%d observations; this server takes %d at once", rows, s.opts.Limits.Rows)
	}
	readings := make([]study.Measurement, len(body.Observations))
	for k, row := range body.Observations {
		at := "/observations/" + strconv.Itoa(k)
		switch {
		case row.Node == nil || *row.Node == "":
			return malformed.because("row %d has no node; nothing was taken", k+1).at(at + "/node")
		case row.Value == nil:
			return malformed.because("row %d has no value; nothing was taken", k+1).at(at + "/value")
		}
		readings[k] = study.Measurement{Node: *row.Node, Value: float64(*row.Value)}
	}
	o, err := s.named(r)
	if err != nil {
		return err
	}
	if _, err := o.ready(r.Context()); err != nil {
		return err
	}
	values, err := o.Observe(r.Context(), k, readings, body.Note, body.By)
	if err != nil {
		return err
	}
	s.metrics.told.Add(float64(len(values)))
	o.learnSoon(false)
	return respond(w, http.StatusCreated, map[string]any{"observations": values})
}

func (s *Server) listObservations(w http.ResponseWriter, r *http.Request) error {
	q := only(r, "after", "limit", "order", "format")
	p, format := s.pageOf(q), q.choice("format", "json", "csv")
	if q.err != nil {
		return q.err
	}
	o, err := s.named(r)
	if err != nil {
		return err
	}
	if format == "csv" {
		p.limit = math.MaxInt
	}
	var list listed[study.Record]
	o.View(func(st *study.State) {
		list = listOf(p, st.Records, func(v study.Record) (int, bool) { return v.Number, true })
	})
	if format == "json" {
		return respond(w, http.StatusOK, list.as("observations"))
	}
	head := []string{"observation", "node", "value", "trial", "time", "by", "retracted", "note"}
	return table(w, o.name+"-observations", head, func(row func(...string)) {
		for _, v := range list.items {
			row(strconv.Itoa(v.Number), v.Node, figure(v.Value), ordinal(v.Trial), moment(v.Time), cell(v.By), strconv.FormatBool(v.Retracted), cell(v.Note))
		}
	})
}

// retract withdraws a value.
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
	v, err := o.Retract(r.Context(), number, q.text("note"), q.text("by"))
	if err != nil {
		return err
	}
	return respond(w, http.StatusOK, v)
}
