package server

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// respond sends v as JSON. It is encoded before anything is sent: what cannot be
// is an error, not half an answer.
func respond(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("an answer: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(body, '\n')) // a client who went away misses nothing
	return nil
}

// unchanged answers a client who has what there is: it sets the tag, and reports
// whether the client showed the same.
func unchanged(w http.ResponseWriter, r *http.Request, tag string) bool {
	tag = `"` + tag + `"`
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "private, no-cache")
	if r.Header.Get("If-None-Match") != tag {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// number is a float64 of which JSON shows null where it is not finite.
type number float64

// MarshalJSON writes the number or null.
func (v number) MarshalJSON() ([]byte, error) {
	if !finite(float64(v)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(v))
}

// table sends rows as CSV.
func table(w http.ResponseWriter, name string, head []string, rows func(row func(...string))) error {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name+".csv"))
	out := csv.NewWriter(w)
	out.Write(head)
	rows(func(cells ...string) { out.Write(cells) })
	out.Flush()
	return out.Error()
}

// cell is text of people that no spreadsheet takes for a formula. Numbers are none,
// and ids go without it: they must come back as they were.
func cell(text string) string {
	if _, err := strconv.ParseFloat(text, 64); err != nil && text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

// figure is a number in a cell, "" where it is not finite.
func figure(v float64) string {
	if !finite(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func figureAt(v *float64) string {
	if v == nil {
		return ""
	}
	return figure(*v)
}

// query reads the parameters of a request.
type query struct {
	r   *http.Request
	err error
}

// only says which parameters there are; others are refused, for they would be
// ignored in silence.
func only(r *http.Request, names ...string) *query {
	q := &query{r: r}
	for name := range r.URL.Query() {
		if !slices.Contains(names, name) {
			q.err = malformed.because("there is no parameter %q; there are %s", name, strings.Join(names, ", "))
		}
	}
	return q
}

func (q *query) text(name string) string { return q.r.URL.Query().Get(name) }

// choice returns a parameter that is one of some words; the first stands where it
// is missing.
func (q *query) choice(name string, words ...string) string {
	text := q.text(name)
	if text == "" {
		return words[0]
	}
	if !slices.Contains(words, text) && q.err == nil {
		q.err = malformed.because("%s may be %s, not %q", name, strings.Join(words, ", "), text)
	}
	return text
}

// count returns a parameter that is a whole number from lo to hi.
func (q *query) count(name string, otherwise, lo, hi int) int {
	text := q.text(name)
	if text == "" {
		return otherwise
	}
	v, err := strconv.Atoi(text)
	if (err != nil || v < lo || v > hi) && q.err == nil {
		q.err = malformed.because("%s may be a whole number from %d to %d, not %q", name, lo, hi, text)
	}
	return v
}

// numbered returns the number in a path; what is none names nothing.
func numbered(r *http.Request, name, what string) (int, error) {
	v, err := strconv.Atoi(r.PathValue(name))
	if err != nil || v < 1 {
		return 0, notFound.because("there is no %s %q", what, r.PathValue(name))
	}
	return v, nil
}
