package formats

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// readTable reads a file of testdata, or wherever it is, by its path or as a stream.
func readTable(t *testing.T, path string, stream bool, opts Options) (*File, error) {
	t.Helper()
	if !strings.Contains(path, string(filepath.Separator)) {
		path = filepath.Join("testdata", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := Detect(path, data[:min(len(data), Head)])
	if f == nil {
		t.Fatalf("%s is not recognized", path)
	}
	in := Input{Name: path, Path: path}
	if stream {
		in = Input{Name: path, Data: data}
	}
	return f.Read(context.Background(), in, opts)
}

// tableText is a table as text: names, and then the rows.
func tableText(t *Table) string {
	var b strings.Builder
	for _, row := range append([][]string{t.Names}, t.Rows...) {
		b.WriteString(strings.Join(row, "|") + "\n")
	}
	return b.String()
}

// Files that other programs wrote are the CSV that their owners would have written.
func TestContainers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, table string
		want        string
		notes       []string
	}{
		{"types.parquet", "", `id|value|small|name|day|at|price|grade|ok|tiny|clock
9007199254740993|44.5|0.1|é|2024-01-31|2024-01-31 06:30:00.25|12.50|good|true|200|23:59:59
-2||||1969-12-31|1969-12-31 23:59:59|-0.05||false||
3|1e-07|2.5|||||bad||0|00:00:00
`, []string{"columns that hold lists or groups are left out: list, pair", "columns that hold binary data are left out: bytes"}},
		{"city.db", "types", `node|day|at|price|odd "name
9007199254740993|2024-01-31|2024-01-31 06:30:00|12.5|x
`, []string{"columns that hold binary data are left out: shape"}},
		{"city.db", "fast", `node|speed
9007199254740993|44.5
5|61
`, nil},
		{"city.db", "Speeds", `node|speed|when|quality|checked
9007199254740993|44.5|2024-01-31 06:30:00|good|1
2||2024-02-01 00:00:00|bad|0
3|0.30000000000000004|1999-12-31 23:59:59.5|good|1
4|1e-07||good|1
5|61|2024-02-29 00:00:00||0
`, nil},
		{"two_sheets.xlsx", "My speeds", `
node|speed|when|quality|checked
9007199254740993|44.5|2024-01-31 06:30:00|good|TRUE
2||2024-02-01|bad|FALSE
3|0.3|1999-12-31 23:59:59.5|good|TRUE
4|1e-07||good|TRUE
5|61|2024-02-29||FALSE
`, nil},
		{"one_sheet.xlsx", "", `
node|speed|day|clock|note|ok
007|44.5|2024-01-31|06:30:00|a & b|TRUE
008||2024-01-31 18:45:00|23:59:59||FALSE

009||||line
break
010
`, []string{"hidden sheets that are not read: 1", "cells with an error such as #N/A: 1; they are missing values", "formulas without a stored result: 1; they are missing values until the file is opened and saved by a spreadsheet program"}},
	} {
		for _, stream := range []bool{false, true} {
			f, err := readTable(t, c.file, stream, Options{Table: c.table})
			if err != nil {
				t.Errorf("%s: %v", c.file, err)
				continue
			}
			if got := tableText(f.Rows); got != c.want {
				t.Errorf("%s, table %q, stream %v:\n%s\nwant\n%s", c.file, c.table, stream, got, c.want)
			}
			if !slices.Equal(f.Notes, c.notes) {
				t.Errorf("%s: notes %q, want %q", c.file, f.Notes, c.notes)
			}
		}
	}
}

// Larger files, in several groups of rows.
func TestParquetGroups(t *testing.T) {
	t.Parallel()
	f, err := readTable(t, "groups.parquet", false, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Rows.Rows) != 3000 {
		t.Fatalf("%d rows", len(f.Rows.Rows))
	}
	for i, row := range f.Rows.Rows {
		if want := fmt.Sprintf("%d|%d.%d", i, i/2, i%2*5); strings.Join(row, "|") != want && strings.Join(row, "|")+".0" != want {
			t.Fatalf("row %d is %v, want %s", i, row, want)
		}
	}
}

// Values in the encodings that files of newer versions have, and LZ4.
func TestParquetEncodings(t *testing.T) {
	t.Parallel()
	f, err := readTable(t, "encodings.parquet", false, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.Rows.Names, "|"); got != "node|far|value|single|name|third|kind|small" || len(f.Rows.Rows) != 150 {
		t.Fatalf("%d rows of %s", len(f.Rows.Rows), got)
	}
	for i, row := range f.Rows.Rows {
		name := fmt.Sprintf("road %d", i*i)
		if i%7 == 0 {
			name = ""
		}
		want := fmt.Sprintf("%d|%d|%s|%s|%s|%t|kind %d|%d", i, i*7919%10007-5000, shortest(1/float64(i+1), 64),
			shortest(float64(float32(float64(i)/3)), 32), name, i%3 == 0, i%5, i)
		if got := strings.Join(row, "|"); got != want {
			t.Fatalf("row %d is %s, want %s", i, got, want)
		}
	}
}

// Several tables are a question, one is taken, and what cannot be read says why.
func TestContainerErrors(t *testing.T) {
	t.Parallel()
	wal := filepath.Join(t.TempDir(), "used.db")
	odd := filepath.Join(t.TempDir(), "50% of #1 what?.db")
	data, err := os.ReadFile("testdata/one_table.db")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{odd: data, wal: data, wal + "-wal": []byte("changes")} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cut := func(name string, keep int) string {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, data[:min(keep, len(data))], 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		file, table string
		kind        Kind
		want        string
	}{
		{"one_table.db", "", "", ""},
		{"one_table.db", "roads", "", ""},
		{odd, "", "", ""},
		{"one_table.db", "rivers", Unknown, `it has no table "rivers", but "roads" (source, target, weight); say which`},
		{"city.db", "", Ambiguous, `it has 4 tables: "fast" (node, speed), "roads" (source, target, weight), "speeds" (node, speed, when, ` +
			`quality, checked), "types"`},
		{
			"two_sheets.xlsx", "", Ambiguous,
			`it has 2 sheets: "roads" (source, target, weight), "My speeds" (node, speed, when, quality, checked)`},
		{"one_sheet.xlsx", "old", "", ""},
		{"roads.arrow", "", Unsupported, "pandas.read_feather"},
		{wal, "", Damaged, "its last changes are in used.db-wal"},
		{cut("types.parquet", 500), "", Damaged, "cut short or damaged"},
		{"brotli.parquet", "", Unsupported, "it is compressed by Brotli"},
		{cut("city.db", 5000), "roads", Damaged, "cannot be read"},
		{cut("one_sheet.xlsx", 4000), "", Damaged, "damaged"},
	} {
		_, err := readTable(t, c.file, false, Options{Table: c.table})
		var e *Error
		switch {
		case c.kind == "" && err != nil, c.kind != "" && (!errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(err.Error(), c.want) ||
			len(e.Remedies) == 0):
			t.Errorf("%s, table %q: %v", c.file, c.table, err)
		}
	}
	left, err := filepath.Glob(filepath.Join("testdata", "*.db-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("files are left behind: %v", left)
	}
}

// workbookOf returns an Excel file of one sheet.
func workbookOf(sheet string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range [][2]string{
		{"xl/workbook.xml", `<workbook xmlns:r="r"><sheets><sheet name="s" sheetId="1" r:id="a"/></sheets></workbook>`},
		{"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="a" Target="worksheets/sheet1.xml"/></Relationships>`},
		{"xl/worksheets/sheet1.xml", `<worksheet><sheetData>` + sheet + `</sheetData></worksheet>`},
	} {
		w, err := z.Create(f[0])
		if err == nil {
			_, err = w.Write([]byte(f[1]))
		}
		if err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func TestExcelCells(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, sheet, want, fails string }{
		{"inline", `<row r="1"><c r="A1" t="inlineStr"><is><r><t>a</t></r><r><t>b</t></r><rPh><t>no</t></rPh></is></c></row>`, "\nab\n", ""},
		{"without references", `<row><c><v>1</v></c><c><v>2.50</v></c></row><row><c/><c><v>3</v></c></row>`, "\n1|2.5\n|3\n", ""},
		{"gaps", `<row r="3"><c r="AB3"><v>1</v></c></row>`, "\n\n\n" + strings.Repeat("|", 27) + "1\n", ""},
		{"17 digits", `<row><c><v>0.10000000000000001</v></c><c><v>1E3</v></c><c><v>12345678901234567</v></c></row>`,
			"\n0.1|1000|12345678901234567\n", ""},
		{"far row", `<row r="9999999"><c><v>1</v></c></row>`, "", "there is no row"},
		{"far column", `<row r="1"><c r="ZZZZ1"><v>1</v></c></row>`, "", "there is no cell"},
		{"no cell", `<row r="1"><c r="1A"><v>1</v></c></row>`, "", "there is no cell"},
		{"out of order", `<row r="2"><c><v>1</v></c></row><row r="1"><c><v>1</v></c></row>`, "", "out of order"},
		{"no text", `<row><c t="s"><v>7</v></c></row>`, "", "there is no shared text"},
		{"nothing", ``, "", "it has no sheet with anything in it"},
	} {
		f, err := readXLSX(t.Context(), Input{Data: workbookOf(c.sheet)}, Options{})
		if (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if err == nil && tableText(f.Rows) != c.want {
			t.Errorf("%s: %q, want %q", c.name, tableText(f.Rows), c.want)
		}
	}
}

func TestExcelDates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		id   int
		code string
		days float64
		old  bool
		want string
	}{
		{14, "", 45322, false, "2024-01-31"},
		{22, "", 45322.75, false, "2024-01-31 18:00:00"},
		{20, "", 0.25, false, "06:00:00"},
		{200, "yyyy-mm-dd", 1, false, "1900-01-01"},
		{200, "yyyy-mm-dd", 61, false, "1900-03-01"},
		{200, "dd/mm/yyyy", 43860, true, "2024-01-31"},
		{200, `"day "0`, 45322, false, ""},
		{200, "[Red]0.00", 45322, false, ""},
		{200, "General", 45322, false, ""},
		{2, "", 45322, false, ""},
		{200, "[h]:mm", 0.5, false, "12:00:00"},
	} {
		kind, got := dateStyle(c.id, map[int]string{200: c.code}), ""
		if kind != noDate {
			got = kind.format(c.days, c.old)
		}
		if got != c.want {
			t.Errorf("format %d %q of %g: %q, want %q", c.id, c.code, c.days, got, c.want)
		}
	}
}

// fuzzContainer runs a reader on anything: it may refuse, but not panic, and its tables are sound.
func fuzzContainer(f *testing.F, format *Format, files ...string) {
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := format.Read(t.Context(), Input{Name: "f", Data: data}, Options{})
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || len(e.Remedies) == 0 {
				t.Fatalf("%v", err)
			}
			return
		}
		for _, row := range got.Rows.Rows {
			if got.Rows.Names != nil && len(row) != len(got.Rows.Names) {
				t.Fatalf("%d cells under %d names", len(row), len(got.Rows.Names))
			}
		}
	})
}

func FuzzParquet(f *testing.F) {
	fuzzContainer(f, parquetFormat, "types.parquet", "roads.parquet", "encodings.parquet")
}
func FuzzSQLite(f *testing.F) { fuzzContainer(f, sqliteFormat, "one_table.db") }
func FuzzExcel(f *testing.F) {
	for _, sheet := range []string{`<row r="1"><c r="A1" t="b"><v>1</v></c><c t="d"><v>2024-01-31T00:00:00</v></c></row>`,
		`<row r="9999999"/>`} {
		f.Add(workbookOf(sheet))
	}
	fuzzContainer(f, xlsxFormat, "one_sheet.xlsx", "two_sheets.xlsx")
}
