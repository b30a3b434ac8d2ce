package client

import (
	"errors"
	"fmt"
	"time"

	"grfgp/study"
)

// Errors of the connection, wrapped by a *ConnectionError.
var (
	// ErrUnreachable says that no server answers at the URL.
	ErrUnreachable = errors.New("the server cannot be reached")
	// ErrLost says that an answer did not arrive, or not in full. The command may
	// have taken effect; it is safe to send it again with the same key.
	ErrLost = errors.New("the connection to the server was lost")
	// ErrScheme says that an https URL was used for a server without TLS.
	ErrScheme = errors.New("the server speaks http, not https")
	// ErrForeign says that the answer does not come from a grfgp server.
	ErrForeign = errors.New("the answer is not that of a grfgp server")
)

// ErrNoBackup is wrapped if a store, such as a database, cannot be copied to a file.
var ErrNoBackup = errors.New("no copy of the store can be made")

// ConnectionError says why no answer came from a server.
type ConnectionError struct {
	URL  string // of the server
	Kind error  // ErrUnreachable, ErrLost, ErrScheme or ErrForeign
	Err  error  // the cause
}

func (e *ConnectionError) Error() string   { return fmt.Sprintf("%v: %s: %v", e.Kind, e.URL, e.Err) }
func (e *ConnectionError) Unwrap() []error { return []error{e.Kind, e.Err} }

// URLError says why a text is not the URL of a server.
type URLError struct {
	URL    string
	Reason string
	// Use is the URL to use instead; empty: not known.
	Use string
}

func (e *URLError) Error() string { return fmt.Sprintf("%s: %s", e.URL, e.Reason) }

// Kinds of a Problem, as the server names them.
const (
	KindBusy         = "busy"     // too many requests at once
	KindLoading      = "loading"  // a graph is being loaded or a model fitted
	KindStopping     = "stopping" // the server is shutting down
	KindUnauthorized = "unauthorized"
	KindSlowed       = "slowed"        // too many wrong tokens came from this address
	KindRole         = "role"          // the token does not allow it
	KindUnknownProxy = "unknown-proxy" // the request came through a proxy, and no token guards the server
	KindReadOnly     = "read-only"
	KindCrossSite    = "cross-site"
	KindWrongHost    = "wrong-host"
	KindConflict     = "conflict"
	KindNoModel      = "no-model"
	KindNoFit        = "no-fit"      // the model cannot be fitted
	KindQuarantined  = "quarantined" // the model is not fitted before somebody asks for it
	KindTooCostly    = "too-costly"  // the model takes more memory or time than the server gives
	KindNotFinite    = "not-finite"
	KindUnknownNode  = "unknown-node"
	KindWrongKind    = "wrong-kind" // the study measures something else
	KindBadData      = "bad-data"
	KindNotFound     = "not-found"
	KindFull         = "full" // the server's disk is full
	KindNoBackup     = "no-backup"
	KindUnavailable  = "unavailable" // the store of the server cannot be reached
)

// Problem is an error response of the server (application/problem+json, RFC
// 9457). It wraps the error of package study that the same command would return
// on a study in this process.
type Problem struct {
	Kind       string
	Status     int // of the HTTP answer
	Detail     string
	RetryAfter time.Duration
}

func (p *Problem) Error() string { return p.Detail }

// Unwrap returns the error of package study that stands for the kind.
func (p *Problem) Unwrap() error {
	switch p.Kind {
	case KindConflict:
		return study.ErrConflict
	case KindNoModel:
		return study.ErrNoModel
	case KindNoFit, KindQuarantined:
		return study.ErrFit
	case KindTooCostly:
		return study.ErrTooLarge
	case KindNotFinite:
		return study.ErrNotFinite
	case KindUnknownNode:
		return study.ErrUnknownNode
	case KindWrongKind:
		return study.ErrKind
	case KindNoBackup:
		return ErrNoBackup
	case KindBadData:
		return study.ErrCorrupt
	case KindNotFound:
		return study.ErrNotFound
	case KindUnauthorized, KindSlowed, KindRole, KindUnknownProxy, KindCrossSite, KindWrongHost, KindReadOnly, KindBusy, KindStopping:
		return nil
	}
	if p.Status < 500 {
		return study.ErrInvalid
	}
	return nil
}
