package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"grfgp/graphio"
	"grfgp/store"
	"grfgp/study"
)

// problem is an answer that says what is wrong: RFC 9457.
type problem struct {
	Type   string  `json:"type"`
	Title  string  `json:"title"`
	Status int     `json:"status"`
	Detail string  `json:"detail,omitempty"`
	Errors []fault `json:"errors,omitempty"`

	retry int    // seconds after which to come back; 0: nothing said
	allow string // methods
}

// fault is what is wrong in one place of a body.
type fault struct {
	Pointer string `json:"pointer"` // JSON pointer, as a fragment
	Detail  string `json:"detail"`
}

const problemType = "urn:grfgp:problem:"

// kind is a kind of problem.
type kind struct {
	name   string
	status int
	title  string
}

// The kinds of problems.
var (
	malformed    = kind{"malformed", http.StatusBadRequest, "The request cannot be read"}
	invalid      = kind{"invalid", http.StatusBadRequest, "The request makes no sense"}
	unauthorized = kind{"unauthorized", http.StatusUnauthorized, "A token is needed"}
	crossSite    = kind{"cross-site", http.StatusForbidden, "Another site may not write here"}
	readOnly     = kind{"read-only", http.StatusForbidden, "This server only shows"}
	notFound     = kind{"not-found", http.StatusNotFound, "There is no such thing"}
	wrongMethod  = kind{"method", http.StatusMethodNotAllowed, "That cannot be done here"}
	slow         = kind{"slow", http.StatusRequestTimeout, "The body came too slowly"}
	conflict     = kind{"conflict", http.StatusConflict, "That contradicts what is known"}
	noModel      = kind{"no-model", http.StatusConflict, "There is no model yet"}
	tooLarge     = kind{"too-large", http.StatusRequestEntityTooLarge, "That is too much at once"}
	mediaType    = kind{"media-type", http.StatusUnsupportedMediaType, "A body of that type is not taken"}
	wrongHost    = kind{"wrong-host", http.StatusMisdirectedRequest, "This server has another name"}
	notFinite    = kind{"not-finite", http.StatusUnprocessableEntity, "Only finite numbers are taken"}
	unknownNode  = kind{"unknown-node", http.StatusUnprocessableEntity, "There is no such node"}
	badData      = kind{"bad-data", http.StatusUnprocessableEntity, "The file cannot be used"}
	busy         = kind{"busy", http.StatusTooManyRequests, "Too many requests at once"}
	gone         = kind{"gone", 499, "The client went away"}
	internal     = kind{"internal", http.StatusInternalServerError, "Something went wrong here"}
	loading      = kind{"loading", http.StatusServiceUnavailable, "Not ready yet"}
	stopping     = kind{"stopping", http.StatusServiceUnavailable, "The server is about to end"}
	unavailable  = kind{"unavailable", http.StatusServiceUnavailable, "The store cannot be reached"}
	full         = kind{"full", http.StatusInsufficientStorage, "There is no room left"}
)

// because makes a problem of the kind.
func (k kind) because(format string, args ...any) *problem {
	return &problem{Type: problemType + k.name, Title: k.title, Status: k.status, Detail: fmt.Sprintf(format, args...)}
}

func (p *problem) Error() string { return p.Detail }

// at points at the place of the body that is meant.
func (p *problem) at(pointer string) *problem {
	p.Errors = append(p.Errors, fault{"#" + pointer, p.Detail})
	return p
}

// after says when to come back.
func (p *problem) after(seconds int) *problem {
	p.retry = seconds
	return p
}

// errLoading is wrapped by errors about what is not worked out yet.
var errLoading = errors.New("not ready yet")

// sentinels are the kinds of errors of other packages; the first that fits counts.
var sentinels = []struct {
	err    error
	kind   kind
	detail string // in place of the error's own words, which are for the log alone
}{
	{err: errLoading, kind: loading},
	{store.ErrUnavailable, unavailable, "the database does not answer; ask again soon"},
	{store.ErrHeld, unavailable, "another process has the database; ask again soon"},
	{err: study.ErrNotFinite, kind: notFinite},
	{err: study.ErrUnknownNode, kind: unknownNode},
	{err: study.ErrNoModel, kind: noModel},
	{err: study.ErrNotFound, kind: notFound},
	{err: store.ErrNotFound, kind: notFound},
	{err: study.ErrConflict, kind: conflict},
	{store.ErrFull, full, "there is no room left on the server's disk; nothing was taken"},
	{err: study.ErrInvalid, kind: invalid},
	{err: graphio.ErrUsage, kind: badData},
	{err: graphio.ErrData, kind: badData},
}

// known returns the kind of an error of another package and what to say of it;
// inside tells that the log says more.
func known(err error) (k kind, detail string, inside, ok bool) {
	for _, c := range sentinels {
		if errors.Is(err, c.err) {
			return c.kind, cmp.Or(c.detail, err.Error()), c.detail != "", true
		}
	}
	return internal, "", false, false
}

// problemOf puts an error into words for those who asked. What is wrong inside is
// for the log alone.
func (s *Server) problemOf(r *http.Request, err error) *problem {
	var p *problem
	if errors.As(err, &p) {
		return p
	}
	if stopped := s.ctx.Err() != nil; stopped && errors.Is(err, context.Canceled) {
		return stopping.because("the server is about to end; ask again in a while").after(2)
	}
	if r.Context().Err() != nil && errors.Is(err, r.Context().Err()) {
		return gone.because("the client went away") // nobody reads it but the log
	}
	k, detail, inside, ok := known(err)
	if inside || !ok {
		s.log.Error("a request failed", "method", r.Method, "route", r.Pattern, "error", err)
	}
	if !ok {
		return internal.because("the server's log says more")
	}
	if p = k.because("%s", detail); p.Status == http.StatusServiceUnavailable {
		p.after(2)
	}
	var row *study.RowError
	if errors.As(err, &row) {
		field := "value"
		if errors.Is(err, study.ErrUnknownNode) {
			field = "node"
		}
		p.Errors = []fault{{fmt.Sprintf("#/observations/%d/%s", row.Row, field), row.Err.Error()}}
		p.Detail += "; nothing was taken"
	}
	return p
}

// reason is why there is no engine, for those who look at a study.
func reason(err error) string {
	if _, detail, _, ok := known(err); ok {
		return detail
	}
	return "something went wrong; the server's log says more"
}

// write sends the problem.
func (p *problem) write(w http.ResponseWriter) {
	h := w.Header()
	for _, name := range []string{"Content-Disposition", "ETag", "Location"} {
		h.Del(name)
	}
	h.Set("Content-Type", "application/problem+json")
	if p.retry > 0 {
		h.Set("Retry-After", strconv.Itoa(p.retry))
	}
	if p.allow != "" {
		h.Set("Allow", p.allow)
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="grfgp"`)
	}
	if p.Status == http.StatusRequestTimeout || p.Status == http.StatusRequestEntityTooLarge {
		h.Set("Connection", "close") // the rest of the body is not waited for
	}
	body, err := json.Marshal(p)
	if err != nil {
		panic(err) // texts and a number
	}
	w.WriteHeader(p.Status)
	w.Write(append(body, '\n'))
}
