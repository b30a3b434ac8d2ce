package e2e

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	own "grfgp/internal/parquet"
)

type parquetRow struct {
	Node   int64    `parquet:"node,delta"`
	Name   string   `parquet:"name,delta"`
	Kind   string   `parquet:"kind,dict"`
	Value  *float64 `parquet:"value,optional"`
	Split  float64  `parquet:"split,split"`
	Truth  bool     `parquet:"truth"`
	Single float32  `parquet:"single"`
}

// What another library writes is read: both kinds of pages, all ways of compression.
func TestParquetFromLibrary(t *testing.T) {
	rows := make([]parquetRow, 1000)
	for i := range rows {
		rows[i] = parquetRow{Node: int64(i * i), Name: fmt.Sprintf("road to %d", i/3), Kind: fmt.Sprint(i % 4), Split: 1 / float64(i+1),
			Truth: i%3 == 0, Single: float32(i) / 7}
		if v := float64(i) / 8; i%5 > 0 {
			rows[i].Value = &v
		}
	}
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd, &parquet.Lz4Raw} {
		for version := 1; version <= 2; version++ {
			var text bytes.Buffer
			w := parquet.NewGenericWriter[parquetRow](&text, parquet.Compression(codec), parquet.DataPageVersion(version),
				parquet.PageBufferSize(500), parquet.MaxRowsPerRowGroup(400))
			if _, err := w.Write(rows); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			f, err := own.Open(bytes.NewReader(text.Bytes()), int64(text.Len()))
			if err != nil {
				t.Fatalf("%v, pages of version %d: %v", codec, version, err)
			}
			at := make([]int, len(f.Columns))
			for g := range f.Groups() {
				for k, c := range f.Columns {
					if err := f.Read(t.Context(), g, k, func(v own.Value) error {
						r := rows[at[k]]
						at[k]++
						ok := false
						switch c.Name {
						case "node":
							ok = v.Whole() == r.Node
						case "name":
							ok = string(v.Bytes) == r.Name
						case "kind":
							ok = string(v.Bytes) == r.Kind
						case "value":
							ok = v.Known == (r.Value != nil) && (!v.Known || v.Float() == *r.Value)
						case "split":
							ok = v.Float() == r.Split
						case "truth":
							ok = (v.Bits == 1) == r.Truth
						case "single":
							ok = v.Float32() == r.Single
						}
						if !ok {
							return fmt.Errorf("row %d is %+v", at[k]-1, v)
						}
						return nil
					}); err != nil {
						t.Fatalf("%v, pages of version %d, column %s: %v", codec, version, c.Name, err)
					}
				}
			}
			for k, n := range at {
				if n != len(rows) {
					t.Errorf("%v, pages of version %d: %d values of column %d", codec, version, n, k)
				}
			}
		}
	}
}

// What is written is read by another library.
func TestParquetToLibrary(t *testing.T) {
	var text bytes.Buffer
	w, err := own.NewWriter(&text, []own.Column{{Name: "node", Type: own.ByteArray, Meaning: own.String}, {Name: "n", Type: own.Int64},
		{Name: "truth", Type: own.Boolean}})
	if err != nil {
		t.Fatal(err)
	}
	const n = own.GroupRows + 11
	for i := range n {
		w.Set(0, own.Value{Known: true, Bytes: fmt.Append(nil, "node ", i)})
		w.Set(1, own.Value{Known: i%3 > 0, Bits: uint64(i)})
		w.Set(2, own.Value{Known: true, Bits: uint64(i % 2)})
		if err := w.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	type row struct {
		Node  *string `parquet:"node,optional"`
		N     *int64  `parquet:"n,optional"`
		Truth *bool   `parquet:"truth,optional"`
	}
	rows, err := parquet.Read[row](bytes.NewReader(text.Bytes()), int64(text.Len()))
	if err != nil || len(rows) != n {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, r := range rows {
		if *r.Node != fmt.Sprint("node ", i) || (r.N != nil) != (i%3 > 0) || r.N != nil && *r.N != int64(i) || *r.Truth != (i%2 == 1) {
			t.Fatalf("row %d is %+v", i, r)
		}
	}
}
