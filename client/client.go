// Package client works with the studies of a grfgp server.
//
// A study is a search for nodes to measure that several people or machines
// share. They ask for nodes, which are then reserved for them, and tell the
// values that they measured. [New] returns a [Client] of one server; its Study
// method returns one study:
//
//	c, err := client.New("http://127.0.0.1:8080", client.Options{})
//	s, err := c.Study(ctx, "pipes")
//	ask, err := s.Ask(ctx, study.AskRequest{Count: 3, Holder: "anna"})
//	for _, t := range ask.Trials {
//		_, err = s.Tell(ctx, t.Trial, study.Outcome{Value: measure(t.Node)}, "anna")
//	}
//
// [Studies] and [Study] are interfaces. Package grfgp/client/local implements
// them for a store in the same process, so one program can work with either.
//
// Asks and measurements carry an idempotency key, and telling the same result twice
// has no effect. A Client therefore repeats these requests, and all requests that
// only read, if an answer is lost; it does not repeat other commands. It waits while
// the server loads a graph or fits a model. Errors of the server are of type
// [Problem] and wrap the error that package study would have returned in this
// process; errors of the connection are of type [ConnectionError].
package client

import (
	"context"
	"io"
	"iter"
	"time"

	"grfgp/graphio"
	"grfgp/study"
)

// Studies is a collection of studies: those of a server, or those of a store.
type Studies interface {
	// Create makes a study on an encoded graph (graphio.Encode). Creating the same
	// study again has no effect; if a study of this name has other settings, the error
	// wraps study.ErrConflict. It reports whether the study is new.
	Create(ctx context.Context, s study.Settings, packed []byte, by string) (isNew bool, err error)
	// List summarizes the studies, ordered by name; archived ones only if asked for.
	List(ctx context.Context, archived bool) ([]Summary, error)
	// Study opens a study. The error wraps study.ErrNotFound if there is none of
	// this name.
	Study(ctx context.Context, name string) (Study, error)
	// Import reads a study that Study.Export wrote, gives it another name unless
	// name is empty, and returns its name.
	Import(ctx context.Context, r io.Reader, name string) (string, error)
	// Delete removes a study with all its events for good, also one that is damaged. The
	// error wraps study.ErrNotFound if there is none of this name.
	Delete(ctx context.Context, name, by string) error
	// Backup writes a copy of the whole store as of one moment, a file that is itself a store,
	// while others use it. The error wraps ErrNoBackup if there can be none.
	Backup(ctx context.Context, w io.Writer) error
	// Graphs lists the graphs, ordered by id.
	Graphs(ctx context.Context) ([]Graph, error)
	// DeleteGraph removes a graph for good. The error wraps study.ErrConflict if a study is
	// on it.
	DeleteGraph(ctx context.Context, id string) error
	// Close releases connections and locks.
	Close() error
}

// Graph is a graph in a list.
type Graph struct {
	ID      string   `json:"id"`
	Size    int64    `json:"size"`    // bytes, packed
	Studies []string `json:"studies"` // names of the studies on it
}

// Study is one study: on a server, or in a store of this process. A parameter
// named by is the person or machine that gives the command; it is kept in the
// log.
type Study interface {
	// Ask suggests nodes and reserves them, or those that the request names. The same key gets the same answer.
	Ask(ctx context.Context, r study.AskRequest) (study.Ask, error)
	// Tell ends a trial with a value or as failed. Telling the same outcome again has
	// no effect; for a different one the error wraps study.ErrConflict.
	Tell(ctx context.Context, trial int, o study.Outcome, by string) (study.Trial, error)
	// Observe adds measurements that belong to no trial, all or none. The same key
	// takes effect once.
	Observe(ctx context.Context, key string, measurements []study.Measurement, note, by string) ([]study.Record, error)
	// Renew extends the lease of a trial to the given time from now; 0 means the lease
	// of the study's settings.
	Renew(ctx context.Context, trial int, lease time.Duration, by string) (study.Trial, error)
	// Release ends a trial whose node will not be measured now; the node may be
	// suggested again.
	Release(ctx context.Context, trial int, by string) (study.Trial, error)
	// Abandon ends a trial whose node can never be measured; it is never suggested
	// again.
	Abandon(ctx context.Context, trial int, note, by string) (study.Trial, error)
	// Reopen takes back how a trial ended: it is pending again, and its value is retracted.
	Reopen(ctx context.Context, trial int, note, by string) (study.Trial, error)
	// Retract withdraws a measurement by its number, and Reinstate takes that back.
	Retract(ctx context.Context, observation int, note, by string) (study.Record, error)
	Reinstate(ctx context.Context, observation int, by string) (study.Record, error)
	// Pause stops suggestions until Resume; Close stops them permanently.
	Pause(ctx context.Context, note, by string) error
	Resume(ctx context.Context, by string) error
	Close(ctx context.Context, note, by string) error
	// Archive makes the study read-only, and hides it from lists, until Restore.
	Archive(ctx context.Context, note, by string) error
	Restore(ctx context.Context, by string) error
	// Change changes settings by a JSON merge patch, as study.Settings.Merge does. They are
	// checked as when a study is created. It returns the new settings.
	Change(ctx context.Context, patch []byte, note, by string) (study.Settings, error)
	// Queue adds nodes of one's own choice, which the next asks get first, and Unqueue takes
	// some out. Both return the queue, and Queue without nodes nothing but that.
	Queue(ctx context.Context, nodes []string, note, by string) ([]study.QueuedNode, error)
	Unqueue(ctx context.Context, nodes []string, by string) ([]study.QueuedNode, error)
	// Retry has a model fitted again that could not be fitted, or that is in quarantine
	// because a server ended while it was at work on it.
	Retry(ctx context.Context, by string) error

	// Settings returns the settings of the study when it was opened, or changed through this
	// value.
	Settings() study.Settings
	// Show returns the current state.
	Show(ctx context.Context) (*Overview, error)
	// Events yields the events after a sequence number.
	Events(ctx context.Context, after int64) iter.Seq2[study.Event, error]
	// Network returns the graph and the node table.
	Network(ctx context.Context) (*graphio.Network, error)
	// Export writes all events as JSON lines, with the graph or without.
	Export(ctx context.Context, w io.Writer, withGraph bool) error
	// Verify replays all events in this process and, if suggestions is set, makes
	// every suggestion again and compares. progress may be nil; total is 0 where
	// the number of events is not known.
	Verify(ctx context.Context, suggestions bool, progress func(done, total int64)) (study.Verification, error)
}

// Summary describes a study in a list.
type Summary struct {
	Name    string       `json:"name"`
	Status  study.Status `json:"status"`
	Stopped *study.Stop  `json:"stopped,omitempty"` // who paused, closed or archived the study; nil: it is open
	Problem string       `json:"problem,omitempty"` // of a damaged study: the reason
	// why a server has no model although there are measurements: it could not be fitted, or is in quarantine; empty: it has, or was not asked
	// for one
	Model   string                   `json:"model,omitempty"`
	Goal    string                   `json:"goal,omitempty"`
	Events  int64                    `json:"events"`
	Values  int                      `json:"values"` // measurements that are not retracted
	Trials  map[study.TrialState]int `json:"trials"`
	Spent   float64                  `json:"spent"`
	Left    *float64                 `json:"left,omitempty"`   // remaining budget; nil: no limit
	Queued  int                      `json:"queued,omitempty"` // nodes that the next asks get first
	Best    *study.Record            `json:"best,omitempty"`
	Classes []study.ClassCount       `json:"classes,omitempty"` // of a study of classes, with the number of measurements of each
	Created time.Time                `json:"created"`
	Updated time.Time                `json:"updated"`
}

// Overview is the whole state of a study.
type Overview struct {
	Version int `json:"version"`
	Summary
	Settings     study.Settings `json:"settings"`
	AllTrials    []study.Trial  `json:"all_trials"`
	Observations []study.Record `json:"observations"`
}

// Progress reports long work to the caller. Each function, unless nil, is called
// when the work begins, and the function that it returns when the work has
// succeeded.
type Progress struct {
	Wait func() (ready func())                  // the client waits for a server that loads a graph or fits a model
	Load func() (loaded func(*graphio.Network)) // the graph of a study is being loaded
	// Asked is called while a server reserves many nodes, with the number so far.
	Asked func(reserved, count int)
}

// Loading reports that a graph is being loaded.
func (p Progress) Loading() (loaded func(*graphio.Network)) {
	if p.Load == nil {
		return func(*graphio.Network) {}
	}
	return p.Load()
}
