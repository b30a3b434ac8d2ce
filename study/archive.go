package study

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
)

// An archive is JSON lines: a head, a line for every event, and a foot by which
// a file that was cut off or altered is known.
const (
	archiveFormat = "grfgp-study"
	archiveBegin  = `{"format":"` + archiveFormat + `"`
)

type archiveHead struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Graph   []byte `json:"graph,omitempty"` // as it was packed; left out: the reader has it
}

type archiveFoot struct {
	Events int    `json:"events"`
	SHA256 string `json:"sha256"` // of all lines before
}

// Archive is a study in a file.
type Archive struct {
	Graph  []byte // as it was packed; nil: left out
	Events []Event
	State  *State // after the events
}

// Export writes events, and the packed graph unless it is nil.
func Export(w io.Writer, graph []byte, events iter.Seq2[Event, error]) error {
	sum := sha256.New()
	buf := bufio.NewWriter(w)
	line := json.NewEncoder(io.MultiWriter(buf, sum))
	if err := line.Encode(archiveHead{archiveFormat, Version, graph}); err != nil {
		return err
	}
	n := 0
	for e, err := range events {
		if err != nil {
			return err
		}
		if err := line.Encode(e); err != nil {
			return err
		}
		n++
	}
	if err := json.NewEncoder(buf).Encode(archiveFoot{n, hex.EncodeToString(sum.Sum(nil))}); err != nil {
		return err
	}
	return buf.Flush()
}

// ReadArchive reads what Export wrote, and replays it: what it returns is a study
// that can be gone on with. Errors wrap ErrCorrupt.
func ReadArchive(r io.Reader) (*Archive, error) {
	a := archiveReader{lines: bufio.NewReader(r), sum: sha256.New()}
	var head archiveHead
	err := a.read()
	if bytes.HasPrefix(a.line, []byte(archiveBegin)) && err != nil {
		return nil, err
	}
	if err != nil || json.Unmarshal(a.line, &head) != nil || head.Format != archiveFormat {
		return nil, fmt.Errorf("%w: it does not begin as an exported study does; name a file that 'grfgp study export' wrote", ErrCorrupt)
	}
	if head.Version != Version {
		return nil, fmt.Errorf("%w: it is of version %d, and this program reads %d; is there a newer one?", ErrCorrupt, head.Version, Version)
	}
	out := &Archive{Graph: head.Graph, State: new(State)}
	for {
		if err := a.read(); err != nil {
			return nil, err
		}
		if foot, ok := a.foot(); ok {
			return out, foot.check(len(out.Events), hex.EncodeToString(a.before), a.lines)
		}
		var e Event
		if err := json.Unmarshal(a.line, &e); err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrCorrupt, a.at, err)
		}
		if err := out.State.Apply(e); err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrCorrupt, a.at, err)
		}
		out.Events = append(out.Events, e)
	}
}

func (f archiveFoot) check(events int, sum string, rest *bufio.Reader) error {
	switch _, err := rest.ReadByte(); {
	case f.Events != events:
		return fmt.Errorf("%w: it holds %d events of %d; export it again", ErrCorrupt, events, f.Events)
	case f.SHA256 != sum:
		return fmt.Errorf("%w: it was altered after it was exported; export it again", ErrCorrupt)
	case events == 0:
		return fmt.Errorf("%w: it holds no events", ErrCorrupt)
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("%w: something follows its last line", ErrCorrupt)
	}
	return nil
}

// archiveReader reads lines and sums them up.
type archiveReader struct {
	lines  *bufio.Reader
	sum    hash.Hash
	line   []byte
	before []byte // sum of the lines before
	at     int
}

func (a *archiveReader) read() (err error) {
	a.at++
	a.before = a.sum.Sum(nil)
	a.line, err = a.lines.ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it ends at line %d, before its last one, and was cut off; export it again", ErrCorrupt, a.at)
	}
	a.sum.Write(a.line)
	return err
}

func (a *archiveReader) foot() (f archiveFoot, ok bool) {
	if !bytes.HasPrefix(a.line, []byte(`{"events":`)) {
		return f, false
	}
	return f, json.Unmarshal(a.line, &f) == nil
}

// Rename gives the study another name.
func (a *Archive) Rename(name string) error {
	e := a.Events[0]
	created := e.Data.(Created)
	created.Settings.Name = name
	e.Data = created
	if err := new(State).check(e); err != nil {
		return err
	}
	a.Events[0], a.State.Settings.Name = e, name
	return nil
}

// Write appends all events to an empty log.
func (a *Archive) Write(ctx context.Context, log Log) error {
	err := log.Append(ctx, a.Events...)
	if errors.Is(err, ErrSequence) {
		return fmt.Errorf("%w: there is a study called %q already; take another name", ErrConflict, a.State.Settings.Name)
	}
	return err
}
