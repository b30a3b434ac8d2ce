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
	"slices"
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
//	sections   little-endian arrays, each at a multiple of packedAlign
//	header     packedHead as JSON, at such a multiple too
//	 8 bytes   place of the header, little-endian
//	 8 bytes   its length
//	 4 bytes   CRC-32C of the header
//	 4 bytes   zero
//	 8 bytes   packedEnd
//
// The header comes last, so that the sections can be written as they are made. The same
// network always gives the same bytes. A file with the coarser graphs of kernels of many scales begins
// with packedScaled instead, and has their sections after the others.
const (
	packedMagic  = "grfgp-packed-2\n\n"
	packedScaled = "grfgp-packed-3\n\n"
	packedEnd    = "gp-end-\n"
	packedAlign  = 64
	packedPiece  = 16 << 20 // bytes that share a checksum
	packedTail   = 24 + len(packedEnd)
)

// packedHead describes the sections.
type packedHead struct {
	Nodes    int             `json:"nodes"`
	Edges    int             `json:"edges"`
	Hash     string          `json:"hash"` // of the graph
	Table    codecHead       `json:"table"`
	Scales   *packedScales   `json:"scales,omitempty"`
	Sections []packedSection `json:"sections"` // in the order of packedSections, then of packedLevel for every level
}

// packedScales says which coarser graphs there are.
type packedScales struct {
	Rule   int `json:"rule"` // graph.LevelRule of the writer
	Levels int `json:"levels"`
}

// packedSection is an array.
type packedSection struct {
	Name  string   `json:"name"`
	Bytes int      `json:"bytes"`
	CRC   []uint32 `json:"crc"` // of every piece
}

var packedSections = []string{"rows", "columns", "weights", "id numbers", "ids", "id ends", "input order", "node table"}

// packedLevel are the sections of one level.
var packedLevel = []string{"rows", "columns", "weights", "cells", "masses", "prolong rows", "prolong columns", "prolong weights"}

// names returns the names of all sections, in order.
func (h *packedHead) names() []string {
	all := slices.Clone(packedSections)
	if h.Scales != nil {
		for k := range h.Scales.Levels {
			for _, name := range packedLevel {
				all = append(all, fmt.Sprintf("level %d %s", k+1, name))
			}
		}
	}
	return all
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// native reports whether the arrays of this machine are those of a packed graph.
func native() bool {
	one := uint16(1)
	return bits.UintSize == 64 && *(*byte)(unsafe.Pointer(&one)) == 1
}

var errNotNative = errors.New("packed graphs need a 64-bit little-endian machine")

// WritePacked writes a network as a packed graph, which ReadGraph maps. A graph that is
// not in locality order, see Options.Unordered, is put into it on the way, without a second copy of
// it in memory. Coarser graphs are written if the graph has them, see graph.Graph.WithLevels; it must be
// in order then.
func WritePacked(ctx context.Context, w io.Writer, net *Network) error {
	if !native() {
		return errNotNative
	}
	l := net.Graph.Layout()
	head := packedHead{Nodes: net.Graph.Len(), Edges: net.Graph.Edges()}
	head.Table.describe(net.Nodes)
	magic := packedMagic
	levels, scaled := net.Graph.StoredLevels()
	if scaled {
		if net.Graph.Ordered() != net.Graph {
			return errors.New("packing a graph: it has coarser graphs, but is not in locality order")
		}
		magic, head.Scales = packedScaled, &packedScales{graph.LevelRule, len(levels)}
	}

	// The hash is taken beside the writing: rows, entries and ids, in this order.
	h := l.Hasher()
	hashed := beside(h.Rows)
	p := &packer{ctx: ctx, to: w}
	err := p.write([]byte(magic))
	text, ends := l.Texts()
	for k, fill := range []func() error{
		func() error { return p.rows(l, head.Nodes) },
		func() error {
			<-hashed
			err := l.EachRows(ctx, func(cols []uint32, vals []float64) error {
				done := beside(func() { h.Entries(cols, vals) })
				err := p.write(bytesOf(cols))
				<-done
				return err
			})
			if err == nil {
				hashed = beside(h.IDs)
			}
			return err
		},
		func() error {
			return l.EachRows(ctx, func(_ []uint32, vals []float64) error { return p.write(bytesOf(vals)) })
		},
		func() error { return p.write(bytesOf(l.Numbers())) },
		func() error { return p.write(text) },
		func() error { return p.write(bytesOf(ends)) },
		func() error { return p.write(bytesOf(l.From())) },
		func() error { return p.table(l, net.Nodes, &head) },
	} {
		if err == nil {
			err = p.section(&head, packedSections[k], fill)
		}
	}
	if err == nil {
		err = p.levels(&head, levels)
	}
	<-hashed
	if err == nil {
		sum := h.Sum()
		head.Hash = hex.EncodeToString(sum[:])
		err = p.end(&head)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fmt.Errorf("packing a graph: %w", err)
}

// beside runs do in another goroutine; the channel is closed when it is done.
func beside(do func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	return done
}

// packer writes sections and takes their checksums.
type packer struct {
	ctx   context.Context
	to    io.Writer
	at    int // bytes written
	begun int // where the section begins
	crc   []uint32
}

// write appends to the section.
func (p *packer) write(data []byte) error {
	for len(data) > 0 {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		done := (p.at - p.begun) % packedPiece
		part := data[:min(len(data), packedPiece-done)]
		if done == 0 {
			p.crc = append(p.crc, 0)
		}
		last := &p.crc[len(p.crc)-1]
		*last = crc32.Update(*last, castagnoli, part)
		if _, err := p.to.Write(part); err != nil {
			return err
		}
		p.at, data = p.at+len(part), data[len(part):]
	}
	return nil
}

// align begins something new at the next place where that may be.
func (p *packer) align() error {
	pad := make([]byte, padTo(p.at)-p.at)
	p.begun, p.crc = p.at+len(pad), nil
	p.at = p.begun
	_, err := p.to.Write(pad)
	return err
}

// section writes an array and enters it into the header.
func (p *packer) section(head *packedHead, name string, fill func() error) error {
	if err := p.align(); err != nil {
		return err
	}
	if err := fill(); err != nil {
		return err
	}
	head.Sections = append(head.Sections, packedSection{name, p.at - p.begun, p.crc})
	return nil
}

// rows writes where the entries of each row begin, and one more.
func (p *packer) rows(l *graph.Layout, nodes int) error {
	const some = 1 << 16
	ends := make([]int, 1, some)
	for k, end := 0, 0; k < nodes; k++ {
		end += l.Degree(k)
		if ends = append(ends, end); len(ends) == some {
			if err := p.write(bytesOf(ends)); err != nil {
				return err
			}
			ends = ends[:0]
		}
	}
	return p.write(bytesOf(ends))
}

// levels writes coarser graphs.
func (p *packer) levels(head *packedHead, levels []graph.Level) error {
	names := head.names()[len(packedSections):]
	for k, l := range levels {
		a := l.Arrays()
		for q, data := range [][]byte{bytesOf(a.RowPtr), bytesOf(a.Col), bytesOf(a.Val), bytesOf(a.Cell), bytesOf(a.Mass),
			bytesOf(a.FromPtr), bytesOf(a.FromCol), bytesOf(a.FromVal)} {
			if err := p.section(head, names[k*len(packedLevel)+q], func() error { return p.write(data) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// levelsOf returns the coarser graphs of a graph, from their sections.
func levelsOf(g *graph.Graph, sections [][]byte) ([]graph.Level, error) {
	var levels []graph.Level
	below := g.Len()
	for ; len(sections) > 0; sections = sections[len(packedLevel):] {
		var a graph.LevelArrays
		var bad [8]error
		a.RowPtr, bad[0] = arrayOf[int](sections[0])
		a.Col, bad[1] = arrayOf[uint32](sections[1])
		a.Val, bad[2] = arrayOf[float64](sections[2])
		a.Cell, bad[3] = arrayOf[uint32](sections[3])
		a.Mass, bad[4] = arrayOf[float64](sections[4])
		a.FromPtr, bad[5] = arrayOf[int](sections[5])
		a.FromCol, bad[6] = arrayOf[uint32](sections[6])
		a.FromVal, bad[7] = arrayOf[float64](sections[7])
		if err := errors.Join(bad[:]...); err != nil {
			return nil, err
		}
		if len(a.RowPtr) == 0 {
			return nil, errors.New("a level has no rows")
		}
		l, err := graph.LevelFromArrays(below, a)
		if err != nil {
			return nil, err
		}
		levels, below = append(levels, l), l.Graph.Len()
	}
	return levels, nil
}

// table writes the node table in the order of the graph.
func (p *packer) table(l *graph.Layout, nodes *NodeTable, head *packedHead) error {
	if nodes == nil {
		return nil
	}
	order := make([]int, head.Nodes)
	for k := range order {
		order[k] = l.Node(k)
	}
	var table encoder
	table.table(nodes, head.Table.Columns, order)
	return p.write(table)
}

// end writes the header and what leads to it.
func (p *packer) end(head *packedHead) error {
	line, err := json.Marshal(head)
	if err != nil {
		return err
	}
	if err := p.align(); err != nil {
		return err
	}
	tail := binary.LittleEndian.AppendUint64(nil, uint64(p.at))
	tail = binary.LittleEndian.AppendUint64(tail, uint64(len(line)))
	tail = binary.LittleEndian.AppendUint32(tail, crc32.Checksum(line, castagnoli))
	tail = append(append(tail, 0, 0, 0, 0), packedEnd...)
	return p.write(append(line, tail...))
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
	return n == len(head) && (string(head) == packedMagic || string(head) == packedScaled)
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
			What: fmt.Sprintf("%d of its ids, such as %s, are not in the packed graph %s", extra, examples(table.IDs, net.Graph.Len()),
				src.name),
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
	head, at, err := packedHeadOf(data)
	if err != nil {
		return nil, err
	}
	sections, err := head.cut(ctx, data, at)
	if err != nil {
		return nil, err
	}
	var a graph.Arrays
	var bad [6]error
	a.RowPtr, bad[0] = arrayOf[int](sections[0])
	a.Col, bad[1] = arrayOf[uint32](sections[1])
	a.Val, bad[2] = arrayOf[float64](sections[2])
	a.Num, bad[3] = arrayOf[uint32](sections[3])
	a.Text = sections[4]
	a.End, bad[4] = arrayOf[int](sections[5])
	a.From, bad[5] = arrayOf[uint32](sections[6])
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
	if head.Scales != nil && head.Scales.Rule == graph.LevelRule {
		levels, err := levelsOf(g, sections[len(packedSections):])
		if err != nil {
			return nil, err
		}
		g = g.WithLevels(levels)
	}
	u := &decoder{rest: sections[7]}
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

// packedHeadOf returns the header and its place.
func packedHeadOf(data []byte) (*packedHead, int, error) {
	least := len(packedMagic) + packedTail
	if len(data) < least || string(data[len(data)-len(packedEnd):]) != packedEnd {
		return nil, 0, fmt.Errorf("it is cut off after %d bytes", len(data))
	}
	tail := data[len(data)-packedTail:]
	at, size := binary.LittleEndian.Uint64(tail), binary.LittleEndian.Uint64(tail[8:])
	if at > uint64(len(data)-packedTail) || size != uint64(len(data)-packedTail)-at || [4]byte(tail[20:]) != [4]byte{} {
		return nil, 0, errors.New("its end is damaged")
	}
	line := data[at : at+size]
	if crc32.Checksum(line, castagnoli) != binary.LittleEndian.Uint32(tail[16:]) {
		return nil, 0, errors.New("its header is damaged")
	}
	head := new(packedHead)
	if err := json.Unmarshal(line, head); err != nil {
		return nil, 0, fmt.Errorf("its header is damaged: %w", err)
	}
	magic := packedMagic
	if head.Scales != nil {
		magic = packedScaled
		if head.Scales.Levels < 0 || head.Scales.Levels > len(head.Sections) {
			return nil, 0, errors.New("its header is damaged")
		}
	}
	if string(data[:len(magic)]) != magic {
		return nil, 0, errors.New("its beginning is damaged")
	}
	return head, int(at), nil
}

// cut returns the sections before the header, after their checksums.
func (h *packedHead) cut(ctx context.Context, data []byte, end int) ([][]byte, error) {
	names := h.names()
	if len(h.Sections) != len(names) {
		return nil, fmt.Errorf("it has %d sections, want %d: it was written by another version", len(h.Sections), len(names))
	}
	var all [][]byte
	at := len(packedMagic)
	for k, s := range h.Sections {
		at = padTo(at)
		if s.Name != names[k] || s.Bytes < 0 {
			return nil, fmt.Errorf("section %d is %q of %d bytes, want %q", k+1, s.Name, s.Bytes, names[k])
		}
		if at > end || s.Bytes > end-at {
			return nil, fmt.Errorf("its section %q has no room", s.Name)
		}
		part := data[at : at+s.Bytes : at+s.Bytes]
		crc, err := checksums(ctx, part)
		if err != nil {
			return nil, err
		}
		if len(crc) != len(s.CRC) {
			return nil, fmt.Errorf("its section %q has %d checksums, want %d", s.Name, len(s.CRC), len(crc))
		}
		for q, sum := range crc {
			if s.CRC[q] != sum {
				return nil, fmt.Errorf("its section %q is damaged near byte %d of the file", s.Name, at+q*packedPiece)
			}
		}
		all, at = append(all, part), at+s.Bytes
	}
	if padTo(at) != end {
		return nil, fmt.Errorf("its sections end at byte %d, want %d", at, end)
	}
	return all, nil
}

// packedText is what other readers say about a packed graph.
func packedText(head []byte) bool {
	return bytes.HasPrefix(head, []byte(packedMagic[:len(packedMagic)-3]))
}
