// Package store keeps the event logs of studies, their graphs and checkpoints: in
// an SQLite file, in a PostgreSQL database, or in memory.
//
//	s, err := store.Open(ctx, "team.db", store.Options{})
//	id, err := s.PutGraph(ctx, packed) // by graphio.Encode
//	_, err = study.Create(ctx, s.Log("pressure"), study.Settings{Name: "pressure", Graph: id}, "anna", time.Now())
//
// The tables of a store are grfgp_events, grfgp_graphs, grfgp_learned (checkpoints),
// grfgp_summaries (of studies, for lists) and grfgp_meta (the version of the tables, and
// marks of engines at work). An event that was appended is on disk: SQLite runs with
// synchronous = FULL, PostgreSQL with synchronous_commit.
//
// Tables of a newer version are refused.
//
// One process owns a store at a time, by an exclusive lock of SQLite or an advisory
// lock of PostgreSQL that ends with the process. Open reports who holds the store.
//
// Package storetest tests a [Store] against its contract.
package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"grfgp/study"
)

// Errors of this package.
var (
	// ErrHeld is wrapped if another process owns the store; the text says which.
	ErrHeld = errors.New("held by another process")
	// ErrNotFound is wrapped if there is no such store or graph.
	ErrNotFound = errors.New("not found")
	// ErrFull is wrapped if the disk is full; nothing was written.
	ErrFull = errors.New("disk full")
	// ErrForeign is wrapped if a file or database holds data of another program.
	ErrForeign = errors.New("not a store of this program")
	// ErrUnavailable is wrapped if the database does not answer. A write that was
	// under way may or may not have taken effect.
	ErrUnavailable = errors.New("the database does not answer")
	// ErrAccess is wrapped if the process lacks permission to read or write the
	// store, or the disk fails.
	ErrAccess = errors.New("no access")
)

// Store keeps studies and graphs. It is safe for concurrent use.
type Store interface {
	// Log returns the event log of a study, which is a study.SummaryLog too. A study exists
	// from its first event on; the log of a study that does not exist is empty. Events that
	// several goroutines append at once are written together.
	Log(name string) study.Log
	// Checkpoints returns the place where the engine of a study keeps its checkpoint.
	Checkpoints(name string) study.CheckpointStore
	// Studies lists the studies by name.
	Studies(ctx context.Context) ([]StudyInfo, error)
	// PutGraph stores a packed graph and returns its id. Storing it again changes
	// nothing.
	PutGraph(ctx context.Context, packed []byte) (id string, err error)
	// Graph returns a packed graph; the error wraps ErrNotFound if there is none.
	Graph(ctx context.Context, id string) (packed []byte, err error)
	// Graphs lists the graphs by id.
	Graphs(ctx context.Context) ([]GraphInfo, error)
	// GraphStudies returns the names of the studies on each graph, by the graph's id.
	GraphStudies(ctx context.Context) (map[string][]string, error)
	// DeleteStudy removes a study for good: its events, checkpoint and mark. The error wraps
	// ErrNotFound if there is none.
	DeleteStudy(ctx context.Context, name string) error
	// DeleteGraph removes a graph for good. The error wraps ErrInUse if a study is on it, and
	// ErrNotFound if there is none.
	DeleteGraph(ctx context.Context, id string) error
	// SetMark keeps a text for the engine of a study, which the events do not tell; an
	// empty text removes it. It is on disk when SetMark returns.
	SetMark(ctx context.Context, name, text string) error
	// Marks returns the texts of SetMark by study.
	Marks(ctx context.Context) (map[string]string, error)
	// Present returns an error, which wraps ErrGone, if the file of the store was removed or
	// replaced since it was opened. It is cheap. Writes find out for themselves.
	Present() error
	// Check returns an error unless the store can be read and, if write is set, written.
	Check(ctx context.Context, write bool) error
	// Stats returns figures of the store.
	Stats(ctx context.Context) (Stats, error)
	// Backup makes a copy of the whole store as of one moment, a file that is itself a
	// store, while others read and write. The caller reads and closes it. The error wraps
	// ErrNoBackup if there can be none.
	Backup(ctx context.Context) (copied io.ReadCloser, size int64, err error)
	// Close releases the store, so that another process can open it.
	Close() error
}

// StudyInfo is an entry in the list of studies.
type StudyInfo struct {
	Name    string    `json:"name"`
	Events  int64     `json:"events"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	// Summary is that of the state after the last event; nil if the store does not have it,
	// because the events were appended without one.
	Summary *study.Summary `json:"summary,omitempty"`
}

// GraphInfo is an entry in the list of graphs.
type GraphInfo struct {
	ID   string `json:"id"`
	Size int64  `json:"size"` // bytes of the packed graph
}

// Options are the options of Open. The zero value creates a store if there is
// none, and does not wait for a store that another process holds.
type Options struct {
	// MustExist makes a missing store an error. Without it Open creates one: a new
	// file, or tables in a database that has none of this program.
	MustExist bool
	// ReadOnly opens a file that this process may not write, of which all can be read and
	// nothing written; a file that may be written is opened as usual.
	ReadOnly bool
	// Wait is how long Open waits for another process to close the store; 0: not at
	// all.
	Wait time.Duration
	// URL is the address of the server that opens the store; empty if the process is
	// not a server. Other processes that find the store held are told to use this
	// address.
	URL string
}

// Memory is the location of a store in memory.
const Memory = "memory:"

// Open opens the store at a location: a file name, a URL that begins with
// postgres:// or postgresql://, or Memory. The error wraps ErrHeld if another
// process owns the store.
func Open(ctx context.Context, location string, opts Options) (Store, error) {
	const pause = 50 * time.Millisecond
	for end := time.Now().Add(opts.Wait); ; {
		s, err := openOnce(ctx, location, opts)
		if !errors.Is(err, ErrHeld) || time.Now().After(end) {
			return s, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func openOnce(ctx context.Context, location string, opts Options) (Store, error) {
	switch {
	case location == "":
		return nil, fmt.Errorf("%w: no location given", ErrNotFound)
	case location == Memory:
		return newMemory(), nil
	case strings.HasPrefix(location, "postgres://"), strings.HasPrefix(location, "postgresql://"):
		return openPostgres(ctx, location, opts)
	case strings.Contains(location, "://"):
		return nil, fmt.Errorf("%w: %q is neither a file name nor a postgres:// URL; the URL of a server begins with http:// or https://",
			ErrNotFound, withoutPassword(location))
	}
	return openSQLite(ctx, location, opts)
}

// GraphID returns the id of a packed graph: the SHA-256 of its bytes, in hex.
func GraphID(packed []byte) string {
	sum := sha256.Sum256(packed)
	return hex.EncodeToString(sum[:])
}

// withoutPassword removes all that may be a password from what should be a URL: a scheme
// that is mistyped does not make it less secret.
func withoutPassword(location string) string {
	scheme, rest, _ := strings.Cut(location, "://")
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		rest = "…" + rest[at:]
	}
	rest, _, _ = strings.Cut(rest, "?")
	return scheme + "://" + rest
}
