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

	"grfgp/internal/printable"
)

// respond sends v as JSON. It is encoded first, so that a failure is an error and
// not half a response.
func respond(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("an answer: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(body, '\n')) // an error means that the client went away
	return nil
}

// unchanged sets the ETag, and answers with 304 and returns true if the client has
// the same one.
func unchanged(w http.ResponseWriter, r *http.Request, tag string) bool {
	tag = `"` + tag + `"`
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "private, no-cache")
	if strings.TrimPrefix(r.Header.Get("If-None-Match"), weak) != tag {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// number is a float64 that is null in JSON if it is not finite.
type number float64

// MarshalJSON writes the number or null.
func (v number) MarshalJSON() ([]byte, error) {
	if !finite(float64(v)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(v))
}

// table sends a CSV file.
func table(w http.ResponseWriter, name string, head []string, rows func(row func(...string))) error {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name+".csv"))
	out := csv.NewWriter(w)
	out.Write(head)
	rows(func(cells ...string) { out.Write(cells) })
	out.Flush()
	return out.Error()
}

// cell quotes text that a spreadsheet would take for a formula, and escapes control
// characters other than line breaks and tabs.
func cell(text string) string {
	text = printable.Text(text)
	if _, err := strconv.ParseFloat(text, 64); err != nil && text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

// figure formats a number for CSV, "" if it is not finite.
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

// only refuses all parameters but the named ones, which would otherwise be ignored
// silently.
func only(r *http.Request, names ...string) *query {
	q := &query{r: r}
	for name := range r.URL.Query() {
		if !slices.Contains(names, name) {
			q.err = malformed.because("unknown parameter %q; the parameters are %s", name, strings.Join(names, ", "))
		}
	}
	return q
}

func (q *query) text(name string) string { return q.r.URL.Query().Get(name) }

// choice returns a parameter that is one of some words. The first is the default.
func (q *query) choice(name string, words ...string) string {
	text := q.text(name)
	if text == "" {
		return words[0]
	}
	if !slices.Contains(words, text) && q.err == nil {
		q.err = malformed.because("%s is one of %s, not %q", name, strings.Join(words, ", "), text)
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
		q.err = malformed.because("%s is a whole number from %d to %d, not %q", name, lo, hi, text)
	}
	return v
}

// numbered returns the number in a path; any other text is not found.
func numbered(r *http.Request, name, what string) (int, error) {
	v, err := strconv.Atoi(r.PathValue(name))
	if err != nil || v < 1 {
		return 0, notFound.because("there is no %s %q", what, r.PathValue(name))
	}
	return v, nil
}
