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

// An archive is JSON lines: a head, one line per event, and a foot with a checksum
// by which truncated and altered files are recognised.
const (
	archiveFormat = "grfgp-study"
	archiveBegin  = `{"format":"` + archiveFormat + `"`
)

type archiveHead struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Graph   []byte `json:"graph,omitempty"` // packed; omitted: the reader has it
}

type archiveFoot struct {
	Events int    `json:"events"`
	SHA256 string `json:"sha256"` // of all lines before this one
}

// Archive is an exported study.
type Archive struct {
	Graph  []byte // packed by graphio.Encode; nil: not in the archive
	Events []Event
	State  *State // after the events
}

// Export writes an archive for ReadArchive: the events of a study, and its packed
// graph (graphio.Encode) unless that is nil.
func Export(w io.Writer, graph []byte, events iter.Seq2[Event, error]) error {
	sum := sha256.New()
	buf := bufio.NewWriter(w)
	line := json.NewEncoder(io.MultiWriter(buf, sum))
	if err := line.Encode(archiveHead{archiveFormat, formatVersion, graph}); err != nil {
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

// ReadArchive reads an archive written by Export and replays its events. Errors
// about the content wrap ErrCorrupt.
func ReadArchive(r io.Reader) (*Archive, error) {
	a := archiveReader{lines: bufio.NewReader(r), sum: sha256.New()}
	var head archiveHead
	err := a.read()
	if bytes.HasPrefix(a.line, []byte(archiveBegin)) && err != nil {
		return nil, err
	}
	if err != nil || json.Unmarshal(a.line, &head) != nil || head.Format != archiveFormat {
		return nil, fmt.Errorf("%w: the file is not an exported study; give a file that an export wrote", ErrCorrupt)
	}
	if head.Version != formatVersion {
		return nil, fmt.Errorf("%w: the file has version %d, and this program reads version %d; use a newer program", ErrCorrupt, head.Version,
			formatVersion)
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
		return fmt.Errorf("%w: the file holds %d of %d events; export the study again", ErrCorrupt, events, f.Events)
	case f.SHA256 != sum:
		return fmt.Errorf("%w: the file was altered after the export; export the study again", ErrCorrupt)
	case events == 0:
		return fmt.Errorf("%w: the file holds no events", ErrCorrupt)
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("%w: there is more text after the last line of the export", ErrCorrupt)
	}
	return nil
}

// archiveReader reads lines and computes their checksum.
type archiveReader struct {
	lines  *bufio.Reader
	sum    hash.Hash
	line   []byte
	before []byte // checksum of the lines before
	at     int
}

func (a *archiveReader) read() (err error) {
	a.at++
	a.before = a.sum.Sum(nil)
	a.line, err = a.lines.ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: the file is truncated at line %d; export the study again", ErrCorrupt, a.at)
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

// Rename changes the name of the study.
func (a *Archive) Rename(name string) error {
	e := a.Events[0]
	created := e.Data.(Created)
	created.Settings.Name = name
	e.Data = created
	if err := new(State).check(e); err != nil {
		return err
	}
	a.Events[0], a.State.Settings.Name = e, name
	for k, e := range a.Events {
		if changed, ok := e.Data.(Changed); ok {
			changed.Settings.Name = name
			a.Events[k].Data = changed
		}
	}
	return nil
}

// CheckNodes returns an error, which wraps ErrCorrupt, if an event has a node that the graph
// of the study does not have.
func (a *Archive) CheckNodes(ids NodeIDs) error {
	for _, e := range a.Events {
		if err := e.checkNodes(ids); err != nil {
			return err
		}
	}
	return nil
}

// Write appends all events to an empty log.
func (a *Archive) Write(ctx context.Context, log Log) error {
	err := appendTo(ctx, log, a.State.Summary(), a.Events...)
	if errors.Is(err, ErrSequence) {
		return fmt.Errorf("%w: there is a study called %q already; use another name", ErrConflict, a.State.Settings.Name)
	}
	return err
}
