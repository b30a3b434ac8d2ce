package server

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
)

// ColumnsType is the media type of tables in binary columns: the bytes GRFGPCO1, the
// length of a JSON header as uint32, the header, padded with blanks so that the
// columns begin at a multiple of 8 bytes, and the columns. Numbers are
// little-endian, each column begins at a multiple of 4 bytes, and offsets count from
// the end of the header.
const ColumnsType = "application/vnd.grfgp.columns"

const columnsKind = "GRFGPCO1"

// columns is a table under construction.
type columns struct {
	list []columnHead
	data []byte
}

type columnHead struct {
	Name   string `json:"name"`
	Type   string `json:"type"` // float32, uint32, uint16 or uint8
	Rows   int    `json:"rows"`
	Offset int    `json:"offset"`
}

// begin adds a column.
func (c *columns) begin(name, kind string, rows int) {
	for len(c.data)%4 != 0 {
		c.data = append(c.data, 0)
	}
	c.list = append(c.list, columnHead{name, kind, rows, len(c.data)})
}

func (c *columns) floats(name string, rows int, at func(k int) float64) {
	c.begin(name, "float32", rows)
	for k := range rows {
		c.data = binary.LittleEndian.AppendUint32(c.data, math.Float32bits(single(at(k))))
	}
}

// single returns the nearest finite float32.
func single(v float64) float32 {
	return float32(max(-math.MaxFloat32, min(math.MaxFloat32, v)))
}

func (c *columns) counts(name string, values []uint32) {
	c.begin(name, "uint32", len(values))
	for _, v := range values {
		c.data = binary.LittleEndian.AppendUint32(c.data, v)
	}
}

// shorts adds a column of numbers below 65536.
func (c *columns) shorts(name string, values []uint32) {
	c.begin(name, "uint16", len(values))
	c.data = slices.Grow(c.data, 2*len(values))
	for _, v := range values {
		c.data = binary.LittleEndian.AppendUint16(c.data, uint16(v))
	}
}

func (c *columns) bytes(name string, values []byte) {
	c.begin(name, "uint8", len(values))
	c.data = append(c.data, values...)
}

// send sends the header, which marshals to a JSON object, and the columns.
func (c *columns) send(w http.ResponseWriter, head any) error {
	text, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("columns: %w", err)
	}
	list, err := json.Marshal(c.list)
	if err != nil {
		return fmt.Errorf("columns: %w", err)
	}
	text = append(append(append(text[:len(text)-1], `,"columns":`...), list...), '}')
	for (len(columnsKind)+4+len(text))%8 != 0 {
		text = append(text, ' ')
	}
	start := binary.LittleEndian.AppendUint32([]byte(columnsKind), uint32(len(text)))
	w.Header().Set("Content-Type", ColumnsType)
	w.Header().Set("Content-Length", fmt.Sprint(len(start)+len(text)+len(c.data)))
	w.Write(append(start, text...))
	w.Write(c.data) // an error means that the client went away
	return nil
}
