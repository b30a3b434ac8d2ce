// Package store keeps studies and graphs in a database: SQLite in one file,
// PostgreSQL by URL, or memory. One process owns a store at a time.
package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"grfgp/study"
)

// Errors of this package.
var (
	// ErrHeld says that another process owns the store, and which.
	ErrHeld = errors.New("held by another process")
	// ErrNotFound is wrapped where there is no such store or graph.
	ErrNotFound = errors.New("not found")
	// ErrFull says that there is no room left; nothing was written.
	ErrFull = errors.New("no room left")
	// ErrForeign is wrapped where a file or database holds something else.
	ErrForeign = errors.New("not a store of this program")
	// ErrUnavailable says that a database does not answer, or no longer; what was
	// being written may be there or not.
	ErrUnavailable = errors.New("the database does not answer")
	// ErrAccess is wrapped where this process may not, or the disk cannot, read or
	// write the store.
	ErrAccess = errors.New("cannot be used from here")
)

// Store keeps studies and graphs. It is safe for concurrent use.
type Store interface {
	// Log returns the events of a study, none if there is no such study. The
	// study exists from its first event on.
	Log(name string) study.Log
	// Checkpoints keeps what an engine of a study has learned.
	Checkpoints(name string) study.CheckpointStore
	// Studies lists the studies by name.
	Studies(ctx context.Context) ([]StudyInfo, error)
	// PutGraph keeps a packed graph and returns its id. Putting it again is
	// harmless.
	PutGraph(ctx context.Context, packed []byte) (id string, err error)
	// Graph returns a packed graph; the error wraps ErrNotFound if there is none.
	Graph(ctx context.Context, id string) (packed []byte, err error)
	// Graphs lists the graphs by id.
	Graphs(ctx context.Context) ([]GraphInfo, error)
	// Close gives the store up.
	Close() error
}

// StudyInfo is a line about a study.
type StudyInfo struct {
	Name    string    `json:"name"`
	Events  int64     `json:"events"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

// GraphInfo is a line about a graph.
type GraphInfo struct {
	ID   string `json:"id"`
	Size int64  `json:"size"` // bytes, unpacked
}

// Options of Open. The zero value creates a store where there is none, and does
// not wait for one that another process holds.
type Options struct {
	// MustExist makes a missing store an error. Without it Open creates one: a new
	// file, or tables in a database that has none of this program.
	MustExist bool
	// Wait is how long Open waits for another process to give the store up.
	Wait time.Duration
	// URL is the address of the server that opens the store, if it is one. Other
	// processes that find the store held are told to use it.
	URL string
}

// Memory is the place of a store that is lost with the process.
const Memory = "memory:"

// Open opens the store at a place: a file name, a URL that begins with
// postgres:// or postgresql://, or Memory. The error wraps ErrHeld if another
// process owns it, and says which.
func Open(ctx context.Context, place string, opts Options) (Store, error) {
	const pause = 50 * time.Millisecond
	for end := time.Now().Add(opts.Wait); ; {
		s, err := openOnce(ctx, place, opts)
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

func openOnce(ctx context.Context, place string, opts Options) (Store, error) {
	switch {
	case place == "":
		return nil, fmt.Errorf("%w: no place given", ErrNotFound)
	case place == Memory:
		return newMemory(), nil
	case strings.HasPrefix(place, "postgres://"), strings.HasPrefix(place, "postgresql://"):
		return openPostgres(ctx, place, opts)
	case strings.Contains(place, "://"):
		return nil, fmt.Errorf("%w: %q is no file name and no postgres:// URL; that of a server begins with http:// or https://", ErrNotFound, place)
	}
	return openSQLite(ctx, place, opts)
}

// GraphID is the id of a packed graph: the SHA-256 of its bytes.
func GraphID(packed []byte) string {
	sum := sha256.Sum256(packed)
	return hex.EncodeToString(sum[:])
}
