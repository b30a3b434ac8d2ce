package formats

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// xlsxFormat is a workbook of Excel, LibreOffice or openpyxl: a zip archive of XML files, of
// which a sheet is the table.
var xlsxFormat = &Format{
	Name: "Excel",
	Detect: func(name string, head []byte) bool {
		return bytes.HasPrefix(head, []byte("PK\x03\x04")) && (hasExtension(name, ".xlsx", ".xlsm") || bytes.Contains(head, []byte("xl/w")))
	},
	Read:   readXLSX,
	ByPath: true,
}

// The largest sheet of Excel, and the largest file in an archive that is read.
const (
	xlsxRows    = 1 << 20
	xlsxColumns = 1 << 14
	xlsxFile    = 4 << 30
)

// openZip opens an archive; release closes its file.
func openZip(in Input) (z *zip.Reader, release func(), err error) {
	if in.Path == "" {
		z, err = zip.NewReader(bytes.NewReader(in.Data), int64(len(in.Data)))
		return z, func() {}, err
	}
	f, err := os.Open(in.Path)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		z, err = zip.NewReader(f, info.Size())
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return z, func() { f.Close() }, nil
}

// workbook is an open file.
type workbook struct {
	ctx      context.Context
	zip      *zip.Reader
	sheets   []xlsxSheet
	strings  []string
	dates    []xlsxDate // by style
	from1904 bool
	budget   budget

	errors, formulas int // cells with an error, and formulas without a result
	anError          string
}

type xlsxSheet struct {
	name, file string
	hidden     bool
}

func readXLSX(ctx context.Context, in Input, opts Options) (*File, error) {
	z, release, err := openZip(in)
	if err != nil {
		return nil, xlsxError(err)
	}
	defer release()
	w := &workbook{ctx: ctx, zip: z}
	for _, step := range []func() error{w.readSheets, w.readStrings, w.readStyles} {
		if err := step(); err != nil {
			return nil, xlsxError(err)
		}
	}
	var tables []named
	var sheets []xlsxSheet
	hidden := 0
	for _, s := range w.sheets {
		first, err := w.rows(s, true)
		if err != nil {
			return nil, xlsxError(err)
		}
		switch {
		case len(first) == 0: // empty
		case s.hidden && s.name != opts.Table:
			hidden++
		default:
			tables, sheets = append(tables, named{s.name, first[len(first)-1]}), append(sheets, s)
		}
	}
	k, err := chooseTable(tables, opts.Table, "sheet")
	if err != nil {
		return nil, err
	}
	w.errors, w.formulas = 0, 0 // those of the first rows
	rows, err := w.rows(sheets[k], false)
	if err != nil {
		return nil, xlsxError(err)
	}
	f := &File{Rows: &Table{Rows: rows, Unit: "row"}}
	if hidden > 0 && opts.Table == "" {
		f.Notes = append(f.Notes, fmt.Sprintf("hidden sheets that are not read: %d", hidden))
	}
	if w.errors > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("cells with an error such as %s: %d; they are missing values", w.anError, w.errors))
	}
	if w.formulas > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("formulas without a stored result: %d; they are missing values until the file is opened and "+
			"saved by a spreadsheet program", w.formulas))
	}
	return f, nil
}

// each calls do for each element of a file of the archive that begins. It returns false if
// there is no such file.
func (w *workbook) each(file string, do func(d *xml.Decoder, e xml.StartElement) error) (bool, error) {
	k := slices.IndexFunc(w.zip.File, func(f *zip.File) bool { return strings.EqualFold(f.Name, file) })
	if k < 0 {
		return false, nil
	}
	r, err := w.zip.File[k].Open()
	if err != nil {
		return true, err
	}
	defer r.Close()
	left := &io.LimitedReader{R: r, N: xlsxFile}
	d := xml.NewDecoder(left)
	for count := 0; ; count++ {
		if count%4096 == 0 {
			if err := w.ctx.Err(); err != nil {
				return true, err
			}
		}
		token, err := d.Token()
		if left.N == 0 {
			return true, tooLarge(fmt.Sprintf("%s in it has more than %d GiB", file, xlsxFile>>30))
		}
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return true, err
		}
		if e, ok := token.(xml.StartElement); ok {
			if err := do(d, e); errors.Is(err, errEnough) {
				return true, nil
			} else if err != nil {
				return true, err
			}
		}
	}
}

// errEnough ends each.
var errEnough = errors.New("enough")

// attr returns an attribute of an element, whatever its namespace.
func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// readSheets finds the sheets and their files.
func (w *workbook) readSheets() error {
	target := map[string]string{}
	if _, err := w.each("xl/_rels/workbook.xml.rels", func(_ *xml.Decoder, e xml.StartElement) error {
		if e.Name.Local == "Relationship" {
			to := attr(e, "Target")
			if !strings.HasPrefix(to, "/") {
				to = path.Join("xl", to)
			}
			target[attr(e, "Id")] = strings.TrimPrefix(to, "/")
		}
		return nil
	}); err != nil {
		return err
	}
	found, err := w.each("xl/workbook.xml", func(_ *xml.Decoder, e xml.StartElement) error {
		switch e.Name.Local {
		case "workbookPr":
			w.from1904 = attr(e, "date1904") == "1" || attr(e, "date1904") == "true"
		case "sheet":
			id := ""
			for _, a := range e.Attr {
				if a.Name.Local == "id" { // r:id; sheetId is another
					id = a.Value
				}
			}
			if file := target[id]; strings.Contains(file, "worksheets") {
				w.sheets = append(w.sheets, xlsxSheet{attr(e, "name"), file, attr(e, "state") != "" && attr(e, "state") != "visible"})
			}
		}
		return nil
	})
	if err == nil && !found {
		return errors.New("there is no workbook in it")
	}
	return err
}

// readStrings reads the texts that cells share.
func (w *workbook) readStrings() error {
	_, err := w.each("xl/sharedStrings.xml", func(d *xml.Decoder, e xml.StartElement) error {
		if e.Name.Local != "si" {
			return nil
		}
		text, err := richText(d)
		w.strings = append(w.strings, text)
		w.budget += budget(16 + len(text))
		if w.budget > mostText {
			return tooLarge("its texts are too many")
		}
		return err
	})
	return err
}

// richText joins the texts within an element up to its end, without hints for their
// pronunciation.
func richText(d *xml.Decoder) (string, error) {
	var b strings.Builder
	depth, inText, hint := 1, 0, 0
	for depth > 0 {
		token, err := d.Token()
		if err != nil {
			return "", err
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			switch t.Name.Local {
			case "t":
				inText = depth
			case "rPh":
				hint = depth
			}
		case xml.EndElement:
			if depth == inText {
				inText = 0
			}
			if depth == hint {
				hint = 0
			}
			depth--
		case xml.CharData:
			if inText > 0 && hint == 0 {
				b.Write(t)
			}
		}
	}
	return b.String(), nil
}

// rows reads a sheet, or up to its first row with something in it.
func (w *workbook) rows(s xlsxSheet, first bool) ([][]string, error) {
	var rows [][]string
	row, at := -1, -1 // of the last row and cell
	found, err := w.each(s.file, func(d *xml.Decoder, e xml.StartElement) error {
		switch e.Name.Local {
		case "row":
			if first && len(rows) > 0 && slices.ContainsFunc(rows[len(rows)-1], func(c string) bool { return c != "" }) {
				return errEnough
			}
			next, at2 := row+1, -1
			if r := attr(e, "r"); r != "" {
				n, err := strconv.Atoi(r)
				if err != nil || n < 1 || n > xlsxRows {
					return fmt.Errorf("there is no row %s", quote(r))
				}
				next = n - 1
			}
			if next < len(rows) || next >= xlsxRows {
				return fmt.Errorf("row %d comes twice or out of order", next+1)
			}
			for len(rows) <= next {
				rows = append(rows, nil)
			}
			row, at = next, at2
			return w.budget.take(nil)
		case "c":
			if row < 0 {
				return errors.New("a cell is in no row")
			}
			column := at + 1
			if ref := attr(e, "r"); ref != "" {
				var ok bool
				if column, ok = columnOf(ref); !ok {
					return fmt.Errorf("there is no cell %s", quote(ref))
				}
			}
			if column >= xlsxColumns {
				return fmt.Errorf("row %d has more than %d columns", row+1, xlsxColumns)
			}
			at = column
			text, err := w.cell(d, e)
			if err != nil || text == "" {
				return err
			}
			had := len(rows[row])
			for len(rows[row]) <= column {
				rows[row] = append(rows[row], "")
			}
			rows[row][column] = text
			return w.budget.take(rows[row][had:])
		}
		return nil
	})
	if err == nil && !found {
		return nil, fmt.Errorf("the sheet %s is not in it", quote(s.name))
	}
	for len(rows) > 0 && len(rows[len(rows)-1]) == 0 {
		rows = rows[:len(rows)-1]
	}
	return rows, err
}

// columnOf returns the column of a reference such as "AB12", from 0.
func columnOf(ref string) (int, bool) {
	n := 0
	for i, c := range ref {
		switch {
		case c >= 'A' && c <= 'Z' && n <= xlsxColumns:
			n = 26*n + int(c-'A') + 1
		case i > 0 && c >= '0' && c <= '9':
			return n - 1, n >= 1
		default:
			return 0, false
		}
	}
	return n - 1, n >= 1
}

// cell reads a cell as text, up to its end.
func (w *workbook) cell(d *xml.Decoder, e xml.StartElement) (string, error) {
	kind := attr(e, "t")
	style, _ := strconv.Atoi(attr(e, "s")) // 0 without one
	value, formula, has := "", false, false
	for {
		token, err := d.Token()
		if err != nil {
			return "", err
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "v":
				if err := d.DecodeElement(&value, &t); err != nil {
					return "", err
				}
				has = value != ""
			case "is":
				if value, err = richText(d); err != nil {
					return "", err
				}
				has = true
			default:
				formula = formula || t.Name.Local == "f"
				if err := d.Skip(); err != nil {
					return "", err
				}
			}
		case xml.EndElement:
			if formula && !has {
				w.formulas++
			}
			return w.text(kind, value, style)
		}
	}
}

// text is the value of a cell of a kind and a style.
func (w *workbook) text(kind, value string, style int) (string, error) {
	switch kind {
	case "s":
		k, err := strconv.Atoi(value)
		if err != nil || k < 0 || k >= len(w.strings) {
			return "", fmt.Errorf("there is no shared text %s", quote(value))
		}
		return w.strings[k], nil
	case "str", "inlineStr":
		return value, nil
	case "b":
		return map[bool]string{true: "TRUE", false: "FALSE"}[value == "1"], nil
	case "e":
		if w.errors++; w.errors == 1 {
			w.anError = value
		}
		return "", nil
	case "d": // a date as ISO 8601
		return strings.TrimSuffix(strings.Replace(value, "T", " ", 1), " 00:00:00"), nil
	}
	if value == "" {
		return "", nil
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return "", fmt.Errorf("%s is no number", quote(value))
	}
	if style >= 0 && style < len(w.dates) && w.dates[style] != noDate {
		return w.dates[style].format(v, w.from1904), nil
	}
	if digits := strings.TrimPrefix(value, "-"); digits != "" && strings.Trim(digits, "0123456789") == "" && digits[0] != '0' {
		return value, nil
	}
	return shortest(v, 64), nil
}

func xlsxError(err error) error {
	var e *Error
	if errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &Error{Kind: Damaged, What: fmt.Sprintf("the spreadsheet is damaged or protected by a password (%v)", err),
		Remedies: []Remedy{{Do: "open it and save it again"}, {Do: "save the sheet as CSV (UTF-8)"}}, Err: err}
}
