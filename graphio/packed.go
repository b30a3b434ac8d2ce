package graphio

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"os"
	"unsafe"

	"grfgp/graph"
	"grfgp/internal/mmap"
	"grfgp/internal/parallel"
)

// A packed graph is a file of the arrays of an ordered graph and of its node table. It
// is mapped into memory and used as it is, so that a graph of any size is ready as soon
// as its checksums are verified, and processes share its memory.
//
//	16 bytes   packedMagic
//	 8 bytes   length of the header, little-endian
//	 4 bytes   CRC-32C of the header
//	 4 bytes   zero
//	header     packedHead as JSON
//	sections   little-endian arrays, each at a multiple of packedAlign
//
// The same network always gives the same bytes.
const (
	packedMagic = "grfgp-packed-1\n\n"
	packedAlign = 64
	packedPiece = 16 << 20 // bytes that share a checksum
	packedStart = len(packedMagic) + 16
)

// packedHead describes the sections.
type packedHead struct {
	Nodes    int             `json:"nodes"`
	Edges    int             `json:"edges"`
	Hash     string          `json:"hash"` // of the graph
	Table    codecHead       `json:"table"`
	Sections []packedSection `json:"sections"` // in the order of packedSections
}

// packedSection is an array.
type packedSection struct {
	Name  string   `json:"name"`
	Bytes int      `json:"bytes"`
	CRC   []uint32 `json:"crc"` // of every piece
}

var packedSections = []string{"rows", "columns", "weights", "ids", "id ends", "input order", "node table"}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// native reports whether the arrays of this machine are those of a packed graph.
func native() bool {
	one := uint16(1)
	return bits.UintSize == 64 && *(*byte)(unsafe.Pointer(&one)) == 1
}

var errNotNative = errors.New("packed graphs need a 64-bit little-endian machine")

// WritePacked writes a network as a packed graph, which ReadGraph maps.
func WritePacked(ctx context.Context, w io.Writer, net *Network) error {
	if !native() {
		return errNotNative
	}
	a, err := net.Graph.Arrays()
	if err != nil {
		return fmt.Errorf("packing a graph: %w", err)
	}
	head := packedHead{Nodes: net.Graph.Len(), Edges: net.Graph.Edges(), Hash: hex.EncodeToString(a.Hash[:])}
	head.Table.describe(net.Nodes)
	var table encoder
	table.table(net.Nodes, head.Table.Columns, net.Graph.Nodes())
	sections := [][]byte{bytesOf(a.RowPtr), bytesOf(a.Col), bytesOf(a.Val), a.Text, bytesOf(a.End), bytesOf(a.From), table}
	for k, s := range sections {
		crc, err := checksums(ctx, s)
		if err != nil {
			return err
		}
		head.Sections = append(head.Sections, packedSection{packedSections[k], len(s), crc})
	}
	line, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("packing a graph: %w", err)
	}
	start := binary.LittleEndian.AppendUint64([]byte(packedMagic), uint64(len(line)))
	start = binary.LittleEndian.AppendUint32(start, crc32.Checksum(line, castagnoli))
	start = append(start, 0, 0, 0, 0)
	at := 0
	for _, part := range append([][]byte{append(start, line...)}, sections...) {
		if pad := padTo(at) - at; pad > 0 {
			if _, err := w.Write(make([]byte, pad)); err != nil {
				return fmt.Errorf("packing a graph: %w", err)
			}
			at += pad
		}
		for len(part) > 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := min(len(part), packedPiece)
			if _, err := w.Write(part[:n]); err != nil {
				return fmt.Errorf("packing a graph: %w", err)
			}
			at, part = at+n, part[n:]
		}
	}
	return nil
}

// padTo returns the first place from at on where a section may begin.
func padTo(at int) int { return (at + packedAlign - 1) / packedAlign * packedAlign }

// checksums returns that of every piece.
func checksums(ctx context.Context, data []byte) ([]uint32, error) {
	crc := make([]uint32, (len(data)+packedPiece-1)/packedPiece)
	err := parallel.Blocks(ctx, len(crc), func(_, k int) error {
		crc[k] = crc32.Checksum(data[k*packedPiece:min(len(data), (k+1)*packedPiece)], castagnoli)
		return nil
	})
	return crc, err
}

// bytesOf returns the memory of an array.
func bytesOf[T int | uint32 | float64](array []T) []byte {
	if len(array) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&array[0])), len(array)*int(unsafe.Sizeof(array[0])))
}

// arrayOf is the reverse of bytesOf.
func arrayOf[T int | uint32 | float64](data []byte) ([]T, error) {
	var one T
	size := int(unsafe.Sizeof(one))
	if len(data)%size != 0 {
		return nil, fmt.Errorf("an array of %d bytes, which is no multiple of %d", len(data), size)
	}
	if len(data) == 0 {
		return nil, nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&data[0])), len(data)/size), nil
}

// isPacked reports whether a source is a file that begins as packed graphs do.
func isPacked(src Source) bool {
	if src.reader != nil {
		return false
	}
	f, err := os.Open(src.path)
	if err != nil {
		return false // the reader of text says why
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false
	}
	head := make([]byte, len(packedMagic))
	n, _ := io.ReadFull(f, head)
	return n == len(head) && string(head) == packedMagic
}

// readPacked maps a packed graph; the mapping lasts as long as the process.
func readPacked(ctx context.Context, src Source, opts Options) (*Network, error) {
	fail := func(err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &Error{Code: CodeDamaged, Table: TableEdges, File: src.name, What: "the packed graph cannot be used: " + err.Error(),
			Remedies: []Remedy{do("pack the graph again")}, Err: err}
	}
	file, err := mmap.Open(src.path)
	if err != nil {
		return nil, fail(err)
	}
	net, err := unpackGraph(ctx, file.Bytes(), src.name)
	if err != nil {
		file.Close()
		return nil, fail(err)
	}
	if opts.Nodes == nil {
		return net, nil
	}
	own := net.Nodes
	if own == nil {
		own = &NodeTable{IDs: net.Graph.IDs(), Report: net.Report}
	}
	table, err := JoinNodes(own, opts.Nodes)
	if err != nil {
		return nil, err
	}
	if extra := table.IDs.Len() - net.Graph.Len(); extra > 0 {
		return nil, &Error{Code: CodeIDs, Table: TableNodes, File: opts.Nodes.file(),
			What:     fmt.Sprintf("%d of its ids, such as %s, are not in the packed graph %s", extra, examples(table.IDs, net.Graph.Len()), src.name),
			Remedies: []Remedy{do("remove these rows"), do("pack the graph again, with this node table")}}
	}
	table.IDs, table.Report = net.Graph.IDs(), opts.Nodes.Report
	net.Nodes = table
	return net, nil
}

// unpackGraph checks a packed graph and returns it, without copying more than its node table.
func unpackGraph(ctx context.Context, data []byte, name string) (*Network, error) {
	if !native() {
		return nil, errNotNative
	}
	if len(data) < packedStart || string(data[:len(packedMagic)]) != packedMagic {
		return nil, fmt.Errorf("it is cut off after %d bytes", len(data))
	}
	size := binary.LittleEndian.Uint64(data[len(packedMagic):])
	if size > uint64(len(data)-packedStart) {
		return nil, fmt.Errorf("it is cut off within its header, after %d bytes", len(data))
	}
	line := data[packedStart : packedStart+int(size)]
	if crc32.Checksum(line, castagnoli) != binary.LittleEndian.Uint32(data[len(packedMagic)+8:]) {
		return nil, errors.New("its header is damaged")
	}
	var head packedHead
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, fmt.Errorf("its header is damaged: %w", err)
	}
	sections, err := head.cut(ctx, data, packedStart+int(size))
	if err != nil {
		return nil, err
	}
	var a graph.Arrays
	var bad [5]error
	a.RowPtr, bad[0] = arrayOf[int](sections[0])
	a.Col, bad[1] = arrayOf[uint32](sections[1])
	a.Val, bad[2] = arrayOf[float64](sections[2])
	a.Text = sections[3]
	a.End, bad[3] = arrayOf[int](sections[4])
	a.From, bad[4] = arrayOf[uint32](sections[5])
	if err := errors.Join(bad[:]...); err != nil {
		return nil, err
	}
	if n, err := hex.Decode(a.Hash[:], []byte(head.Hash)[:min(len(head.Hash), 2*len(a.Hash))]); err != nil || n != len(a.Hash) {
		return nil, errors.New("it has no hash")
	}
	if len(a.RowPtr) == 0 {
		return nil, errors.New("it has no rows")
	}
	g, err := graph.FromArrays(a)
	if err != nil {
		return nil, err
	}
	u := &decoder{rest: sections[6]}
	nodes, err := u.table(head.Table, g.IDs())
	if err != nil {
		return nil, err
	}
	report := &Report{table: TableEdges, File: name, Format: "packed graph", Nodes: g.Len(), Edges: head.Edges}
	report.Ledger.Unit, report.Ledger.Total, report.Ledger.Edges = "edges", int64(head.Edges), int64(head.Edges)
	if nodes != nil {
		nodes.Report = report
	}
	return &Network{Graph: g, Nodes: nodes, Report: report}, nil
}

// cut returns the sections after their checksums.
func (h *packedHead) cut(ctx context.Context, data []byte, at int) ([][]byte, error) {
	if len(h.Sections) != len(packedSections) {
		return nil, fmt.Errorf("it has %d sections, want %d: it was written by another version", len(h.Sections), len(packedSections))
	}
	var all [][]byte
	for k, s := range h.Sections {
		at = padTo(at)
		if s.Name != packedSections[k] || s.Bytes < 0 {
			return nil, fmt.Errorf("section %d is %q of %d bytes, want %q", k+1, s.Name, s.Bytes, packedSections[k])
		}
		if at > len(data) || s.Bytes > len(data)-at {
			return nil, fmt.Errorf("it is cut off after %d bytes, within the section %q", len(data), s.Name)
		}
		part := data[at : at+s.Bytes : at+s.Bytes]
		crc, err := checksums(ctx, part)
		if err != nil {
			return nil, err
		}
		for q, sum := range crc {
			if q >= len(s.CRC) || s.CRC[q] != sum {
				return nil, fmt.Errorf("its section %q is damaged near byte %d of the file", s.Name, at+q*packedPiece)
			}
		}
		all, at = append(all, part), at+s.Bytes
	}
	if at != len(data) {
		return nil, fmt.Errorf("%d bytes follow its last section", len(data)-at)
	}
	return all, nil
}

// packedText is what other readers say about a packed graph.
func packedText(head []byte) bool {
	return bytes.HasPrefix(head, []byte(packedMagic[:len(packedMagic)-3]))
}
