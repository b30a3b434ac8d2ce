package table

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

var wide = []Column{{Name: "node"}, {Name: `odd, "name"`}, {Name: " space"}, {Name: "mean", Kind: Number, Digits: 8},
	{Name: "lat", Kind: Number}, {Name: "n", Kind: Whole}, {Name: "measured", Kind: Truth}}

// randomRows returns rows of wide: texts that need quotes in CSV and texts that look as if they did, numbers of all
// magnitudes, and missing cells.
func randomRows(n int) []Row {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "7", " ", "\u00a0", "\u2003", "\t", ",", `"`, "\n", "\r", "\r\n", `\.`, `\`, ".", "ü", "日本", "\xff", ";", "'",
		"=1", "\u2028", "\x00", "\v"}
	text := func() Cell {
		out := ""
		for range random.IntN(4) {
			out += pieces[random.IntN(len(pieces))]
		}
		return TextCell(out)
	}
	number := func() Cell {
		switch random.IntN(8) {
		case 0:
			return NumberCell([]float64{0, math.Copysign(0, -1), 1, -1, 1e21, 1e-5, 123456789, 99999999.5, math.MaxFloat64,
				math.SmallestNonzeroFloat64, math.NaN(), math.Inf(1), math.Inf(-1)}[random.IntN(13)])
		case 1:
			return NumberCell(math.Float64frombits(random.Uint64()))
		case 2:
			return NumberAt(nil)
		case 3:
			return NumberCell(float64(random.IntN(1000)) / 8)
		}
		return NumberCell(random.NormFloat64())
	}
	all := make([]Row, n)
	for k := range all {
		whole := WholeCell(random.IntN(1<<40) - 1<<39)
		if random.IntN(4) == 0 {
			whole = WholeAt(nil)
		}
		all[k].Cells = []Cell{text(), text(), text(), number(), number(), whole, TruthCell(random.IntN(2) == 0)}
		if random.IntN(6) == 0 {
			all[k].Cells[random.IntN(len(wide))] = Cell{}
		}
		if random.IntN(3) > 0 {
			all[k].Geometry = Point(random.Float64(), 7)
		}
	}
	return all
}

// csvOf returns what encoding/csv writes for the texts of the cells.
func csvOf(t testing.TB, rows []Row) []byte {
	t.Helper()
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	if err := plainCSV(w, wide, rows); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// plainCSV writes a table by encoding/csv, with a text per cell.
func plainCSV(w *csv.Writer, columns []Column, rows []Row) error {
	cells := make([]string, len(columns))
	for k, c := range columns {
		cells[k] = c.Name
	}
	if err := w.Write(cells); err != nil {
		return err
	}
	for _, row := range rows {
		for k, column := range columns {
			c := row.Cells[k]
			switch {
			case !c.known:
				cells[k] = ""
			case column.Kind == Number && column.Digits > 0:
				cells[k] = strconv.FormatFloat(c.number, 'g', column.Digits, 64)
			case column.Kind == Number:
				cells[k] = strconv.FormatFloat(c.number, 'g', -1, 64)
			case column.Kind == Whole:
				cells[k] = strconv.FormatInt(int64(c.number), 10)
			case column.Kind == Truth:
				cells[k] = strconv.FormatBool(c.number != 0)
			default:
				cells[k] = c.text
			}
		}
		if err := w.Write(cells); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// inBlocks writes rows in blocks of several sizes, all of which are filled before any is written.
func inBlocks(t testing.TB, f Format, columns []Column, rows []Row) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := New(&out, f, columns)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []Block
	for size := 0; len(rows) > 0; size = (size + 1) % 7 { // the first block is empty
		b := w.NewBlock()
		if err := b.Add(Row{Cells: make([]Cell, len(columns)), Geometry: "of another use"}); err != nil {
			t.Fatal(err)
		}
		b.Reset()
		for _, row := range rows[:min(size, len(rows))] {
			if err := b.Add(row); err != nil {
				t.Fatal(err)
			}
		}
		rows = rows[min(size, len(rows)):]
		blocks = append(blocks, b)
	}
	for _, b := range blocks {
		if err := w.WriteBlock(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// CSV is what encoding/csv writes, to the byte.
func TestCSVBytes(t *testing.T) {
	t.Parallel()
	rows := randomRows(5000)
	want := csvOf(t, rows)
	var out bytes.Buffer
	w, err := New(&out, CSV, wide)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	compare := func(got []byte) {
		t.Helper()
		for k := range want {
			if k >= len(got) || got[k] != want[k] {
				t.Fatalf("byte %d: %.60q, want %.60q", k, got[min(k, len(got)):], want[k:])
			}
		}
		if len(got) > len(want) {
			t.Fatalf("%d bytes too many", len(got)-len(want))
		}
	}
	compare(out.Bytes())
	compare(inBlocks(t, CSV, wide, rows))
}

// Rows in blocks are the bytes of rows one by one.
func TestBlocks(t *testing.T) {
	t.Parallel()
	rows := randomRows(300)
	for k := range rows {
		for c := range rows[k].Cells[:3] {
			if k%2 == 0 { // Parquet and JSON texts are UTF-8
				rows[k].Cells[c] = TextCell(fmt.Sprint("é", k))
			}
		}
	}
	for _, f := range []Format{CSV, GeoJSON, Parquet} {
		for _, count := range []int{0, 1, len(rows)} {
			var out bytes.Buffer
			w, err := New(&out, f, wide)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range rows[:count] {
				if err := w.Write(row); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if got := inBlocks(t, f, wide, rows[:count]); !bytes.Equal(got, out.Bytes()) {
				t.Errorf("%s of %d rows: %d bytes in blocks, other %d bytes row by row", f, count, len(got), out.Len())
			}
		}
	}
}

// A row of CSV costs no memory once a block has grown.
func TestCSVAllocations(t *testing.T) {
	w, err := New(io.Discard, CSV, wide)
	if err != nil {
		t.Fatal(err)
	}
	rows, b := randomRows(100), w.NewBlock()
	write := func() {
		b.Reset()
		for _, row := range rows {
			if err := b.Add(row); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.WriteBlock(b); err != nil {
			t.Fatal(err)
		}
	}
	write()
	if n := testing.AllocsPerRun(20, write); n > 0 {
		t.Errorf("%v allocations for %d rows", n, len(rows))
	}
}

// BenchmarkCSV compares rows of predictions in blocks with encoding/csv and a text per cell, both on one processor.
func BenchmarkCSV(b *testing.B) {
	columns := []Column{{Name: "node"}}
	for _, name := range []string{"mean", "sd", "lower", "upper", "reading_lower", "reading_upper"} {
		columns = append(columns, Column{Name: name, Kind: Number, Digits: 8})
	}
	columns = append(columns, Column{Name: "measured", Kind: Truth}, Column{Name: "value", Kind: Number, Digits: 8},
		Column{Name: "n", Kind: Whole})
	random := rand.New(rand.NewPCG(1, 2))
	rows := make([]Row, 4096)
	for k := range rows {
		cells := []Cell{TextCell(fmt.Sprint("n", 1000000+k))}
		for range 6 {
			cells = append(cells, NumberCell(random.NormFloat64()))
		}
		rows[k].Cells = append(cells, TruthCell(false), NumberAt(nil), WholeCell(0))
	}
	w, err := New(io.Discard, CSV, columns)
	if err != nil {
		b.Fatal(err)
	}
	block := w.NewBlock()
	var blocks, plain time.Duration
	for b.Loop() {
		start := time.Now()
		block.Reset()
		for _, row := range rows {
			if err := block.Add(row); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.WriteBlock(block); err != nil {
			b.Fatal(err)
		}
		blocks += time.Since(start)
		start = time.Now()
		if err := plainCSV(csv.NewWriter(io.Discard), columns, rows); err != nil {
			b.Fatal(err)
		}
		plain += time.Since(start)
	}
	b.ReportMetric(float64(blocks.Nanoseconds())/float64(b.N*len(rows)), "ns/row")
	b.ReportMetric(float64(blocks)/float64(plain), "of-encoding/csv")
}
