package formats

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// dbfField is a column of a dBASE table.
type dbfField struct {
	name  string
	kind  byte
	width int
}

// readDBF reads the rows of a dBASE table as properties; a row that is marked as deleted is nil.
// The encoding is what a .cpg file says, UTF-8 if the text is, or Latin 1.
func (l *layer) readDBF(ctx context.Context, data []byte, cpg string) ([][]string, error) {
	cut := fail(Damaged, "the file .dbf ends in the middle", "the file was cut short: fetch it again")
	if len(data) < 33 {
		return nil, cut
	}
	count, start, width := int64(binary.LittleEndian.Uint32(data[4:])), int(binary.LittleEndian.Uint16(data[8:])),
		int(binary.LittleEndian.Uint16(data[10:]))
	fields, sum := []dbfField(nil), 1
	for at := 32; ; at += 32 {
		if at >= len(data) {
			return nil, cut
		}
		if data[at] == '\r' {
			break
		}
		if len(data) < at+32 {
			return nil, cut
		}
		name, _, _ := bytes.Cut(data[at:at+11], []byte{0})
		fields = append(fields, dbfField{string(name), data[at+11], int(data[at+16])})
		sum += int(data[at+16])
	}
	switch {
	case sum != width || start < 32+32*len(fields)+1:
		return nil, fail(Damaged, fmt.Sprintf("the columns of the file .dbf take %d bytes of a row, but a row has %d", sum, width),
			"fetch it again")
	case int64(start)+count*int64(width) > int64(len(data)):
		return nil, cut
	}
	body := data[start : start+int(count)*width]
	decode, err := l.encoding(body, cpg)
	if err != nil {
		return nil, err
	}
	for _, f := range fields {
		l.properties.declare(decode([]byte(f.name)))
	}
	rows := make([][]string, count)
	for k := range rows {
		if k%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		record := body[k*width : (k+1)*width]
		if record[0] == '*' {
			continue
		}
		rows[k] = make([]string, len(l.properties.Names))
		at := 1
		for _, f := range fields {
			cell := record[at : at+f.width]
			at += f.width
			if value := f.value(cell, decode); value != "" {
				rows[k] = l.properties.set(rows[k], decode([]byte(f.name)), value)
			}
		}
	}
	return rows, nil
}

// value returns a cell as text; one that is missing is empty.
func (f dbfField) value(cell []byte, decode func([]byte) string) string {
	switch f.kind {
	case 'I':
		if len(cell) == 4 {
			return fmt.Sprint(int32(binary.LittleEndian.Uint32(cell)))
		}
	case 'N', 'F':
		if bytes.IndexByte(cell, '*') >= 0 {
			return "" // a number that did not fit
		}
	case 'L':
		switch strings.TrimSpace(string(cell)) {
		case "T", "t", "Y", "y":
			return "true"
		case "F", "f", "N", "n":
			return "false"
		}
		return ""
	case 'D':
		if day := strings.TrimSpace(string(cell)); len(day) == 8 && day != "00000000" {
			return day[:4] + "-" + day[4:6] + "-" + day[6:]
		}
		return ""
	}
	return strings.TrimSpace(strings.TrimRight(decode(cell), "\x00 "))
}

// encoding returns how text is decoded.
func (l *layer) encoding(body []byte, cpg string) (func([]byte) string, error) {
	asUTF8 := func(b []byte) string { return strings.ToValidUTF8(string(b), "\ufffd") }
	plain := strings.NewReplacer("-", "", "_", "", " ", "", "ansi", "", "cp", "", "windows", "", "ibm", "", "oem", "", "iso", "", "latin1",
		"88591").Replace(strings.ToLower(strings.TrimSpace(cpg)))
	switch plain {
	case "":
		if utf8.Valid(body) {
			return asUTF8, nil
		}
		l.note("text of the file .dbf is read as Western European (Windows 1252): there is no file .cpg that says its encoding")
		return decodeBy(charmap.Windows1252), nil
	case "utf8", "65001":
		if utf8.Valid(body) {
			return asUTF8, nil
		}
		return nil, fail(Damaged, "text of the file .dbf is not UTF-8, as the file .cpg says",
			"write its true encoding into the file .cpg, such as 1252")
	case "ascii", "usascii":
		return decodeBy(charmap.Windows1252), nil
	}
	for _, e := range charmap.All {
		table, ok := e.(*charmap.Charmap)
		if !ok {
			continue
		}
		name := strings.NewReplacer("-", "", " ", "").Replace(strings.ToLower(table.String()))
		if slices.Contains([]string{"windows" + plain, "ibmcodepage" + plain, "iso" + plain, plain}, name) {
			return decodeBy(table), nil
		}
	}
	return nil, fail(Unsupported, fmt.Sprintf("text of the file .dbf is in the encoding %s, which is not read", quote(strings.TrimSpace(cpg))),
		"convert it: ogr2ogr -lco ENCODING=UTF-8 NEW.shp FILE.shp")
}

func decodeBy(table *charmap.Charmap) func([]byte) string {
	return func(b []byte) string {
		var out strings.Builder
		for _, c := range b {
			out.WriteRune(table.DecodeByte(c))
		}
		return out.String()
	}
}
