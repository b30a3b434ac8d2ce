package graphio

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
)

// matrixHeader is the first two lines of a MatrixMarket file.
type matrixHeader struct {
	banner, size  int64 // their line numbers
	field         string
	rows, entries int64
}

// readMatrixMarket reads the adjacency matrix of a graph: its rows and columns
// are the nodes "1" to "n".
func readMatrixMarket(ctx context.Context, in *input, opts Options) (*Network, error) {
	c := in.cut(opts.blockSize)
	h, err := readMatrixHeader(c)
	if err != nil {
		return nil, err
	}
	r := &Report{
		table: in.table, File: in.name, Format: formatMatrixMarket, Compression: in.compression, Ledger: Ledger{Unit: "lines"},
		Columns: []Column{{RoleSource, 1, "", "the row"}, {RoleTarget, 2, "", "the column"}},
	}
	l := &edgeLayout{
		rowLayout:   rowLayout{delim: byBlanks, columns: 2, needed: 2, bannerLine: h.banner, headerLine: h.size, firstRow: h.size},
		edgeColumns: edgeColumns{source: 0, target: 1, weight: -1},
		keepLoops:   opts.KeepLoops,
		nodes:       uint32(h.rows),
	}
	if h.field == "pattern" {
		r.Weights = "all edges are equal: the matrix is a pattern"
	} else {
		l.columns, l.needed = 3, 3
		if opts.Weights == WeightsIgnore {
			r.Weights = "all edges are equal, as requested"
		} else {
			l.weight, l.distance = 2, opts.Weights == WeightsDistance
			r.Columns = append(r.Columns, Column{RoleWeight, 3, "", "the entry"})
		}
	}
	list, err := readEdges(ctx, c, l, nil, r, opts)
	if err != nil {
		return nil, err
	}
	if found := int64(list.n) + r.Ledger.Bad; found != h.entries {
		next := "was the file cut short? fetch it again, or correct the line"
		if found > h.entries {
			next = "correct the line, or remove what does not belong there"
		}
		return nil, in.at(h.size, CodeDamaged, fmt.Sprintf("the size line promises %s, but there are %d", counted(h.entries, "entry"), found),
			do(next))
	}
	if h.rows > 1<<20 && h.rows > 100*h.entries {
		return nil, in.at(h.size, CodeContent, fmt.Sprintf("%d nodes, but only %d entries: nearly all nodes would have no edge", h.rows,
			h.entries), do("correct the size line"))
	}
	names := newNamer(opts.Nodes)
	for i := range uint32(h.rows) {
		names.node(i+1, nil)
	}
	none := &localIDs{}
	for _, chunk := range list.chunks {
		names.rename(chunk.U, chunk.V, none)
	}
	return buildNetwork(list, l.edgeColumns, names, r, opts)
}

// readMatrixHeader looks at the lines up to the size line.
func readMatrixHeader(c *cutter) (matrixHeader, error) {
	for size := lookAhead; ; size *= 2 {
		head, err := c.peek(size)
		if err != nil {
			return matrixHeader{}, err
		}
		h, found, err := c.in.parseMatrixHeader(head)
		if err != nil || found {
			return h, err
		}
		if c.end || size > longestLine {
			return h, c.in.fail(CodeDamaged, "there is no size line after the banner", do("write: rows columns entries"))
		}
	}
}

func (in *input) parseMatrixHeader(head []byte) (h matrixHeader, found bool, err error) {
	for at := int64(1); len(head) > 0; at++ {
		var line []byte
		_, line, head = cutLine(head)
		fail := func(what, next string) (matrixHeader, bool, error) {
			return h, false, in.at(at, CodeFormat, what, do(next))
		}
		switch text := string(bytes.TrimSpace(line)); {
		case text == "":
		case h.banner == 0:
			if what, next := h.readBanner(text); what != "" {
				return fail(what, next)
			}
			h.banner = at
		case strings.HasPrefix(text, "%"):
		default:
			if what := h.readSize(text); what != "" {
				return fail(what, "a graph needs a square adjacency matrix: rows columns entries, as in 4 4 5")
			}
			h.size = at
			return h, true, nil
		}
	}
	return h, false, nil
}

// readBanner reads "%%MatrixMarket matrix coordinate FIELD SYMMETRY".
func (h *matrixHeader) readBanner(text string) (what, next string) {
	words := strings.Fields(strings.ToLower(text))
	if len(words) != 5 || words[1] != "matrix" {
		return "the banner is not \"%%MatrixMarket matrix coordinate FIELD SYMMETRY\"", "write the file again"
	}
	switch words[2] {
	case "coordinate":
	case "array":
		return "a dense matrix (array), which is not supported", "write it as coordinates, one entry per line"
	default:
		return fmt.Sprintf("format %q is not known", words[2]), "write it as coordinates"
	}
	switch h.field = words[3]; h.field {
	case "pattern", "real", "integer", "double":
	default:
		return fmt.Sprintf("entries are %s, but a weight is a real number", h.field), "write real, integer or pattern entries"
	}
	switch words[4] {
	case "general", "symmetric":
	default:
		return fmt.Sprintf("the matrix is %s, but weights are the same in both directions", words[4]), "write it as general or symmetric"
	}
	return "", ""
}

func (h *matrixHeader) readSize(text string) (what string) {
	words := strings.Fields(text)
	var n [3]int64
	if len(words) != 3 {
		return fmt.Sprintf("a size line has three numbers, not %d", len(words))
	}
	for i, w := range words {
		v, err := strconv.ParseInt(w, 10, 64)
		if err != nil || v < 0 {
			return fmt.Sprintf("%s in the size line is not a whole number", quote([]byte(w)))
		}
		n[i] = v
	}
	const most = 999_999_999 // as smallInteger reads
	switch {
	case n[0] != n[1]:
		return fmt.Sprintf("the matrix has %d rows and %d columns: it is not square", n[0], n[1])
	case n[0] == 0 || n[0] > most:
		return fmt.Sprintf("%d nodes are out of range", n[0])
	}
	h.rows, h.entries = n[0], n[2]
	return ""
}
