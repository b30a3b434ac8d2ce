package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"grfgp/graphio"
	"grfgp/store"
	"grfgp/study"
)

// problem is a problem document, RFC 9457.
type problem struct {
	Type   string  `json:"type"`
	Title  string  `json:"title"`
	Status int     `json:"status"`
	Detail string  `json:"detail,omitempty"`
	Errors []fault `json:"errors,omitempty"`

	retry int    // Retry-After in seconds; 0: none
	allow string // the header Allow
}

// fault is a problem with one value of a body.
type fault struct {
	Pointer string `json:"pointer"` // JSON pointer, as a fragment
	Detail  string `json:"detail"`
}

const problemType = "urn:grfgp:problem:"

// kind is a kind of problem, with its type, status and title.
type kind struct {
	name   string
	status int
	title  string
}

// The kinds of problems.
var (
	malformed    = kind{"malformed", http.StatusBadRequest, "The request cannot be read"}
	invalid      = kind{"invalid", http.StatusBadRequest, "The request is not valid"}
	unauthorized = kind{"unauthorized", http.StatusUnauthorized, "A token is required"}
	slowed       = kind{"slowed", http.StatusTooManyRequests, "Too many wrong tokens"}
	wrongRole    = kind{"role", http.StatusForbidden, "The role of the token does not allow this"}
	unknownProxy = kind{"unknown-proxy", http.StatusForbidden, "Requests through a proxy are refused"}
	crossSite    = kind{"cross-site", http.StatusForbidden, "Requests from other sites are refused"}
	readOnly     = kind{"read-only", http.StatusForbidden, "The server is read-only"}
	notFound     = kind{"not-found", http.StatusNotFound, "Not found"}
	noDraft      = kind{"no-draft", http.StatusNotFound, "The files must be read again"}
	wrongMethod  = kind{"method", http.StatusMethodNotAllowed, "The method is not allowed"}
	slow         = kind{"slow", http.StatusRequestTimeout, "The body arrived too slowly"}
	conflict     = kind{"conflict", http.StatusConflict, "The request conflicts with the state of the study"}
	noModel      = kind{"no-model", http.StatusConflict, "There is no model yet"}
	tooLarge     = kind{"too-large", http.StatusRequestEntityTooLarge, "The request is too large"}
	mediaType    = kind{"media-type", http.StatusUnsupportedMediaType, "The type of the body is not supported"}
	wrongHost    = kind{"wrong-host", http.StatusMisdirectedRequest, "The server does not answer to this name"}
	notFinite    = kind{"not-finite", http.StatusUnprocessableEntity, "A number is not finite"}
	wrongKind    = kind{"wrong-kind", http.StatusUnprocessableEntity, "The study measures something else"}
	unknownNode  = kind{"unknown-node", http.StatusUnprocessableEntity, "The graph has no such node"}
	tooCostly    = kind{"too-costly", http.StatusUnprocessableEntity, "The model is too large for this server"}
	noFit        = kind{"no-fit", http.StatusConflict, "The model cannot be fitted"}
	quarantined  = kind{"quarantined", http.StatusConflict, "The model is in quarantine"}
	badData      = kind{"bad-data", http.StatusUnprocessableEntity, "The file cannot be used"}
	busy         = kind{"busy", http.StatusTooManyRequests, "Too many requests at once"}
	gone         = kind{"gone", 499, "The client went away"}
	internal     = kind{"internal", http.StatusInternalServerError, "Internal error"}
	loading      = kind{"loading", http.StatusServiceUnavailable, "Not ready yet"}
	stopping     = kind{"stopping", http.StatusServiceUnavailable, "The server is shutting down"}
	unavailable  = kind{"unavailable", http.StatusServiceUnavailable, "The store cannot be reached"}
	noMemory     = kind{"no-memory", http.StatusServiceUnavailable, "The server has too little memory at the moment"}
	noBackup     = kind{"no-backup", http.StatusConflict, "The store cannot be copied"}
	full         = kind{"full", http.StatusInsufficientStorage, "The disk of the server is full"}
)

// because returns a problem of the kind with details.
func (k kind) because(format string, args ...any) *problem {
	return &problem{Type: problemType + k.name, Title: k.title, Status: k.status, Detail: fmt.Sprintf(format, args...)}
}

func (p *problem) Error() string { return p.Detail }

// at adds a JSON pointer to the value of the body that is wrong.
func (p *problem) at(pointer string) *problem {
	p.Errors = append(p.Errors, fault{"#" + pointer, p.Detail})
	return p
}

// after sets Retry-After.
func (p *problem) after(seconds int) *problem {
	p.retry = seconds
	return p
}

// errLoading is wrapped while background work is not finished.
var errLoading = errors.New("not ready yet")

// sentinels map errors of other packages to kinds of problems; the first match counts.
var sentinels = []struct {
	err    error
	kind   kind
	detail string // replaces the text of the error, which is logged only
}{
	{err: errLoading, kind: loading},
	{err: study.ErrBusy, kind: loading},
	{store.ErrGone, unavailable, goneWords},
	{err: store.ErrNoBackup, kind: noBackup},
	{store.ErrUnavailable, unavailable, "the database does not answer; try again soon"},
	{store.ErrHeld, unavailable, "another process owns the database; try again soon"},
	{err: study.ErrNotFinite, kind: notFinite},
	{err: study.ErrUnknownNode, kind: unknownNode},
	{err: study.ErrNoModel, kind: noModel},
	{err: errQuarantined, kind: quarantined},
	{err: study.ErrTooLarge, kind: tooCostly},
	{err: study.ErrFit, kind: noFit},
	{err: study.ErrNotFound, kind: notFound},
	{err: store.ErrNotFound, kind: notFound},
	{err: study.ErrConflict, kind: conflict},
	{err: store.ErrInUse, kind: conflict},
	{store.ErrFull, full, "the disk of the server is full; nothing was stored"},
	{err: study.ErrKind, kind: wrongKind},
	{err: study.ErrInvalid, kind: invalid},
	{err: graphio.ErrUsage, kind: badData},
	{err: graphio.ErrData, kind: badData},
}

// known returns the kind and detail of an error of another package. inside reports
// that the error itself is only for the log.
func known(err error) (k kind, detail string, inside, ok bool) {
	for _, c := range sentinels {
		if errors.Is(err, c.err) {
			text, _, _ := strings.Cut(err.Error(), "\n") // a panic has its stack below
			return c.kind, cmp.Or(c.detail, text), c.detail != "", true
		}
	}
	return internal, "", false, false
}

// problemOf returns the problem document of an error. Internal errors are logged and
// not sent.
func (s *Server) problemOf(r *http.Request, err error) *problem {
	var p *problem
	if errors.As(err, &p) {
		return p
	}
	if stopped := s.ctx.Err() != nil; stopped && errors.Is(err, context.Canceled) {
		return stopping.because("the server is shutting down; try again later").after(2)
	}
	if r.Context().Err() != nil && errors.Is(err, r.Context().Err()) {
		return gone.because("the client went away") // for the log
	}
	k, detail, inside, ok := known(err)
	if inside || !ok {
		s.log.Error("a request failed", "method", r.Method, "route", r.Pattern, "error", err)
	}
	if !ok {
		return internal.because("see the log of the server")
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
		p.Detail += "; nothing was stored"
	}
	return p
}

// reason returns the text of an engine's error, as the status of a study shows it.
func reason(err error) string {
	if _, detail, _, ok := known(err); ok {
		return detail
	}
	return "internal error; see the log of the server"
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
		h.Set("Connection", "close") // the rest of the body is not read
	}
	body, err := json.Marshal(p)
	if err != nil {
		panic(err) // cannot happen: strings and numbers
	}
	w.WriteHeader(p.Status)
	w.Write(append(body, '\n'))
}
