package graphio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

// What people read when something is wrong. Each message says where, what, and
// what next.
func TestGraphErrors(t *testing.T) {
	t.Parallel()
	const (
		skip  = `; correct the line, or leave such rows out with Options.BadRows = "skip"`
		stack = ", which is not supported: its first column repeats the header; write one edge per line: source,target,weight; with pandas: " +
			"m.stack().rename_axis(['source', 'target']).reset_index(name='weight').to_csv('edges.csv', index=False)"
		three = `; use it as a similarity (larger means more similar) with Options.Weights = "similarity", use it as a distance (w = mean ` +
			`distance / distance) with Options.Weights = "distance", or treat all edges as equal with Options.Weights = "ignore"`
	)
	utf16 := "\xff\xfea\x00,\x00b\x00\n\x00"
	packed := zipped(strings.Repeat("0,1\n1,2\n", 1000))
	for _, c := range []struct {
		name, text string
		opts       Options
		kind       error
		want       string
	}{
		{"empty", "", Options{}, ErrData, "e: the file is empty; write it again, or name another file"},
		{"only a byte-order mark", "\xef\xbb\xbf", Options{}, ErrData,
			"e: the file is empty but for its byte-order mark; write it again, or name another file"},
		{"empty gzip", zipped(""), Options{}, ErrData, "e: the gzip stream is empty; compress the file again, or name another file"},
		{"cut gzip", packed[:len(packed)-12], Options{}, ErrData,
			"e: the gzip stream ends in the middle; the file was cut short, perhaps by an interrupted download: fetch it again"},
		{"damaged gzip", packed[:len(packed)-6] + "xxxxxx", Options{}, ErrData,
			"e: the gzip stream is damaged (gzip: invalid checksum); fetch or compress the file again"},
		{"cut zstd", "\x28\xb5\x2f\xfd\x04", Options{}, ErrData,
			"e: the zstd stream ends in the middle; the file was cut short, perhaps by an interrupted download: fetch it again"},
		{"packed twice", zipped(zipped("0,1\n")), Options{}, ErrData, "e: is compressed twice; unpack it once"},
		{"binary", "\x7fELF\x02\x01\x01\x00", Options{}, ErrData,
			"e: is a binary file of a kind that is not known: it holds NUL bytes; save it as CSV, GraphML or another format that is read"},
		{"UTF-16", utf16, Options{}, ErrData, "e: is text in UTF-16; convert it: iconv -f UTF-16 -t UTF-8 FILE > NEW, or save it as CSV (UTF-8)"},
		{"UTF-16 without mark", utf16[2:], Options{}, ErrData,
			"e: looks like text in UTF-16 without a byte-order mark; convert it: iconv -f UTF-16LE -t UTF-8 FILE > NEW"},
		{"UTF-16, big end first", "\x00a\x00,\x00b\x00\n", Options{}, ErrData,
			"e: looks like text in UTF-16 without a byte-order mark; convert it: iconv -f UTF-16BE -t UTF-8 FILE > NEW"},
		{"binary, half of it NUL", strings.Repeat("\x7fELF\x00\x00\x00\x00\x01\x00", 9), Options{}, ErrData,
			"e: is a binary file of a kind that is not known: it holds NUL bytes; save it as CSV, GraphML or another format that is read"},
		{"zip", "PK\x03\x04\x14\x00edges.csv", Options{}, ErrData, "e: is a zip archive; unpack it and name the file inside"},
		{"xlsx", "PK\x03\x04\x14\x00[Content_Types].xml", Options{}, ErrData,
			"e: is a spreadsheet, not text; open it and save the sheet as CSV (UTF-8)"},
		{"MATLAB", "MATLAB 5.0 MAT-file, Platform: x\x00\x01", Options{}, ErrData,
			"e: is a MATLAB file, which is not read; save its adjacency matrix with Python: scipy.sparse.save_npz('net.npz', " +
				"scipy.io.loadmat('FILE')['A'])"},
		{"HDF5", "\x89HDF\r\n\x1a\n\x00", Options{}, ErrData,
			"e: is an HDF5 file (MATLAB 7.3 and others), which is not read; write the edges as CSV"},
		{"pickle", "\x80\x04\x95\x1a\x00\x00\x00\x00", Options{}, ErrData,
			"e: is a Python pickle, which is not read: it is a program rather than data; write the graph with networkx.write_graphml"},
		{"bzip2", "BZh91AY&SY", Options{}, ErrData, "e: is compressed with bzip2, which is not supported; unpack it with bunzip2, or compress " +
			"it with gzip or zstd"},
		{"PDF", "%PDF-1.7\n", Options{}, ErrData, "e: is a PDF document; name a file that holds the data as text"},
		{"web page", "<!DOCTYPE html>\n<html>", Options{}, ErrData,
			"e: is a web page, not data; the download saved the page instead of the file: fetch the file itself"},
		{"JSON", `{"nodes": []}`, Options{}, ErrData, `e: is JSON, but neither nodes and links, nor records, nor columns of pandas; write a ` +
			`list of records: [{"source": "a", "target": "b", "weight": 1}, …], or write it as CSV`},
		{"Pajek", "*Vertices 2\n1 \"a\"\n", Options{}, ErrData,
			"e: it contains no edges; name another file, or build the edges from coordinates with NearestNeighbours"},
		{"old Mac", "0,1\r1,2\r", Options{}, ErrData, `e: its lines end in a carriage return alone, as on old Macs; convert it: tr '\r' '\n' ` +
			`< FILE > NEW`},
		{"only comments", "# a\n\n% b\n", Options{}, ErrData, "e: it contains no edges, only comments and blank lines; name another file"},
		{"only a header", "source,target\n", Options{}, ErrData,
			"e: it contains no edges, only a header; name another file, or build the edges from coordinates with NearestNeighbours"},
		{"only a header and hidden rows", "source,target\n#a,#b\n#b,#c\n", Options{}, ErrData,
			"e: it contains no edges, only a header; comments among the rows that look like rows: 2, first on line 2; put quotes around ids that " +
				"begin with # or %"},
		{"one column", "node\n1\n2\n", Options{}, ErrData,
			"e: an edge needs two ends, but there is only one column; name the delimiter with Options.Delimiter, or give a file of edges"},
		{"shapes without a header", "a1,b1,POINT (1 2)\nb1,c1,POINT (2 3)\n", Options{}, ErrUsage,
			`e: column 3 holds shapes, and no columns are named as the two ends of an edge, among 1, 2 and 3; give a file of edges, or name ` +
				`both ends with Options.Columns["source"] and Options.Columns["target"]`},
		{"adjacency list", "a b c d\nb c\nc a b e f\nd b f\n", Options{}, ErrData,
			"e: its lines have very different numbers of fields; put one edge on each line, give the file the ending .adjlist if it is an " +
				"adjacency list, or name the delimiter with Options.Delimiter"},
		{"adjacency matrix", "0 1 0 1\n1 0 1 0\n0 1 0 1\n1 0 1 0\n", Options{}, ErrData,
			`e: looks like a matrix of 4 columns, not like edges; write one edge per line (source,target,weight), or name the columns with ` +
				`Options.Columns["source"] = "1" and Options.Columns["target"] = "2"`},
		{"matrix with names", ",a,b,c\na,0,1,0\nb,1,0,1\nc,0,1,0\n", Options{}, ErrData, "e: is an adjacency matrix with names" + stack},
		{"matrix with names, of R", "a;b\na;0;1,5\nb;1,5;0\n", Options{}, ErrData, "e: is an adjacency matrix with names" + stack},
		{"dictionaries", "source,target,data\n1,2,{'weight': 3}\n", Options{}, ErrData,
			`e: edges carry Python dictionaries ("{'weight': 3}"); write plain columns, with networkx: write_weighted_edgelist or ` +
				`to_pandas_edgelist(G).to_csv`},
		{"row names of R", "from,to\n1,a,b\n2,b,c\n", Options{}, ErrData,
			`e: line 1 names 2 columns, but the rows have 3; write it with row.names = FALSE if R wrote it, name all columns, or take line 1 as ` +
				`a row with Options.Header = "no"`},

		{"distance", "u,v,length_m\n0,1,5\n", Options{}, ErrUsage,
			"e: column length_m looks like a distance; as a weight it would make distant nodes similar" + three},
		{"distance as the weight column", "u,v,km\n0,1,5\n", Options{Columns: map[Role]string{RoleWeight: "km"}}, ErrUsage,
			"e: column km looks like a distance; as a weight it would make distant nodes similar" + three},
		{"numbers without name", "0 1 0.5\n1 2 0.7\n", Options{}, ErrUsage,
			"e: column 3 holds numbers and has no name: it may be a weight or a distance" + three},
		{"numbers of a strange name", "source,target,gewicht\na,b,1\nb,c,2\n", Options{}, ErrUsage,
			"e: column gewicht holds numbers: it may be a weight, a distance or neither" + three},
		{"two columns of strange names", "u,v,p,q\na,b,1,2\n", Options{Weights: WeightsSimilarity}, ErrUsage,
			`e: the column of weights may be p or q; say which with Options.Columns["weight"] = "p" or Options.Columns["weight"] = "q"`},
		{"whole numbers without name", "0 1 5\n1 2 7\n", Options{}, ErrUsage,
			"e: column 3 holds numbers and has no name: it may be a weight or a distance" + three},
		{"triples", "ann,knows,bob\nbob,likes,ann\n", Options{}, ErrUsage,
			`e: the ends of an edge may be any two of 1, 2 and 3; name both, for example with Options.Columns["source"] = "1" and ` +
				`Options.Columns["target"] = "3"`},
		{"numbers between ids", "a 1 b\nb 2 a\n", Options{}, ErrUsage,
			`e: the ends of an edge may be any two of 1, 2 and 3; name both, for example with Options.Columns["source"] = "1" and ` +
				`Options.Columns["target"] = "3"`},
		{"two weights", "u,v,weight,strength\n0,1,5,6\n", Options{}, ErrUsage,
			`e: the weight may be weight or strength; say which with Options.Columns["weight"] = "weight" or ` +
				`Options.Columns["weight"] = "strength"`},
		{"no weights", "u,v\n0,1\n", Options{Weights: WeightsDistance}, ErrUsage,
			`e: the weights are to be read, but there is no column of numbers beside the ends; name it with Options.Columns["weight"]`},
		{"two pairs of ends", "from,to,source,target\na,b,c,d\n", Options{}, ErrUsage,
			`e: the ends of an edge may be from and to or source and target; say which with Options.Columns["source"] = "from" and ` +
				`Options.Columns["target"] = "to" or Options.Columns["source"] = "source" and Options.Columns["target"] = "target"`},
		{"names twice", "source,source,target\na,b,c\nd,e,f\n", Options{}, ErrUsage,
			`e: the ends of an edge may be 1 and target or 2 and target; say which with Options.Columns["source"] = "1" and ` +
				`Options.Columns["target"] = "target" or Options.Columns["source"] = "2" and Options.Columns["target"] = "target"`},
		{"any two columns", "p,q,r\na,b,1\nc,d,2\n", Options{}, ErrUsage,
			`e: the ends of an edge may be any two of p, q and r; name both, for example with Options.Columns["source"] = "p" and ` +
				`Options.Columns["target"] = "r"`},
		{"one end as told", "p,q,r\na,b,c\nd,e,f\n", Options{Header: HeaderYes, Columns: map[Role]string{RoleTarget: "p"}}, ErrUsage,
			`e: the ends of an edge may be any two of p, q and r; name both, for example with Options.Columns["source"] = "q" and ` +
				`Options.Columns["target"] = "p"`},
		{"one column of ids", "node,u_500,v_500\n1,0.5,0.25\n2,1.5,0.75\n", Options{}, ErrUsage,
			`e: only column node looks like the end of an edge, among node, u_500 and v_500; give a file of edges, or name both ends with ` +
				`Options.Columns["source"] and Options.Columns["target"]`},
		{"ids with fractions", "source,target,weight\n1.0,2.0,0.5\n2.0,3.0,0.5\n", Options{}, ErrUsage,
			`e: columns source and target are named as the ends of an edge, but hold numbers with a sign or a fraction; write ids as whole ` +
				`numbers, or take them as they are with Options.Columns["source"] = "source" and Options.Columns["target"] = "target"`},
		{"header or edge", "Person,Friend\nAnn,Bob\nCid,Dan\nEve,Fay\nGil,Hal\n", Options{}, ErrUsage,
			`e: line 1 ("Person" and "Friend") may be a header or the first edge; take it as a header with Options.Header = "yes", or take it as ` +
				`the first edge with Options.Header = "no"`},
		{"header or edge of a short file", "person,friend\nann,bob\nbob,cid\n", Options{}, ErrUsage,
			`e: line 1 ("person" and "friend") may be a header or the first edge; take it as a header with Options.Header = "yes", or take it as ` +
				`the first edge with Options.Header = "no"`},
		{"a node called as a column", "source,target\na,source\nb,c\n", Options{}, ErrUsage,
			`e: line 1 ("source" and "target") may be a header or the first edge: its words are known column names, but one of them also occurs ` +
				`in a row; take it as a header with Options.Header = "yes", or take it as the first edge with Options.Header = "no"`},
		{"numbered ids that are known names", "node1,node2\nnode3,node4\n", Options{}, ErrUsage,
			`e: line 1 ("node1" and "node2") may be a header or the first edge; take it as a header with Options.Header = "yes", or take it as ` +
				`the first edge with Options.Header = "no"`},
		{"header again", "source,target\na,b\nsource,target\nb,c\n", Options{}, ErrData,
			`e:3:1: repeats the header of line 1 (were files concatenated?); correct the line, or leave such rows out with ` +
				`Options.BadRows = "skip"`},
		{"no such column", "p,q\n1,2\n", Options{Columns: map[Role]string{RoleSource: "x"}}, ErrUsage,
			`e: there is no column "x" for source; the columns are p and q`},
		{"no names", "p,q\na,b\n", Options{Header: HeaderNo, Columns: map[Role]string{RoleSource: "x"}}, ErrUsage,
			`e: there is no column "x" for source; give a number from 1 to 2, or take names from the first line with Options.Header = "yes"`},
		{"column twice", "p,p,q\na,b,c\n", Options{Columns: map[Role]string{RoleSource: "p", RoleTarget: "q"}}, ErrUsage,
			`e: 2 columns are called "p"; give the number with Options.Columns["source"] = "1"`},
		{"no such role", "p,q\n", Options{Columns: map[Role]string{"colour": "p"}}, ErrUsage,
			`e: there is no role "colour" for a column; the roles are source, target, weight, distance, id, label, lat, lon, x, y, cost, allowed,` +
				` group, node, value, sd, class, time, exposure and tested`},
		{"both decimal signs", "u;v;w\na;b;1,5\nb;c;1.5\n", Options{}, ErrUsage,
			`e: some numbers have a point (1.5) and others a comma (1,5); write them alike, read decimal points with Options.Decimal = "point", ` +
				`or read decimal commas with Options.Decimal = "comma"`},
		{"decimal commas between commas", "u,v,w\na,b,1\n", Options{Decimal: DecimalComma}, ErrUsage,
			"e: decimal commas cannot be told from commas between fields; put another delimiter between fields"},

		{"not a number", "u,v,w\na,b,1\nb,c,abc\n", Options{}, ErrData, `e:3:5: weight "abc" is not a number` + skip},
		{"column in characters", "u,v,w\näöü,b,x\n", Options{}, ErrData, `e:2:7: weight "x" is not a number` + skip},
		{"hexadecimal", "u,v,w\na,b,0x1p4\n", Options{}, ErrData, `e:2:5: weight "0x1p4" is not a number` + skip},
		{"underscores", "u,v,w\na,b,1_000\n", Options{}, ErrData, `e:2:5: weight "1_000" is not a number` + skip},
		{"infinite", "u,v,w\na,b,Inf\n", Options{}, ErrData, `e:2:5: weight "Inf" is infinite` + skip},
		{"too large", "u,v,w\na,b,1e999\n", Options{}, ErrData, `e:2:5: weight "1e999" is infinite` + skip},
		{"negative", "u,v,w\na,b,-1\n", Options{}, ErrData, `e:2:5: weight "-1" is negative` + skip},
		{"missing", "u,v,w\na,b,NaN\n", Options{}, ErrData,
			`e:2:5: the weight is missing; fill it in, treat all edges as equal with Options.Weights = "ignore", or leave such rows out with ` +
				`Options.BadRows = "skip"`},
		{"thousands", "u,v,w\na,b,\"1,000\"\n", Options{}, ErrData,
			`e:2:6: weight "1,000" has a comma in it, but this file writes decimal points; write no thousands separators, or put another ` +
				`delimiter between fields if it is a decimal comma`},
		{"decimal commas far down", "u;v;w\n" + strings.Repeat("a;b;1.5\n", 2*sampleRows) + "b;c;1,5\n", Options{}, ErrData,
			`e:2002:5: weight "1,5" has a comma in it, but this file writes decimal points; write no thousands separators, or read it as a ` +
				`decimal comma with Options.Decimal = "comma"`},
		{"zero distance", "u,v,km\na,b,0\n", Options{Weights: WeightsDistance}, ErrData,
			"e:2:5: the distance is zero, which would make the weight infinite" + skip},
		{"negative distance", "u,v,km\na,b,-2\n", Options{Weights: WeightsDistance}, ErrData, `e:2:5: distance "-2" is negative` + skip},
		{"no source", "u,v\n,b\n", Options{}, ErrData, "e:2:1: the source is empty" + skip},
		{"too few", "u,v,w\na,b,1\nb\n", Options{}, ErrData,
			`e:3:2: 1 field, but 3 are expected; complete the line, or leave such rows out with Options.BadRows = "skip"`},
		{"too many", "u,v\na,b\nc,d,e\n", Options{}, ErrData,
			`e:3:5: 3 fields, but 2 are expected; the first extra field is "e"; put quotes around a field that holds the delimiter, or leave ` +
				`such rows out with Options.BadRows = "skip"`},
		{"open quote", "u,v\n\"a,b\n", Options{}, ErrData,
			"e:2:1: a quoted field does not end on its line; close the quote; a field may not hold a line break"},
		{"stray quote", "u,v\n\"a\"x,b\n", Options{}, ErrData, `e:2:4: text after the closing quote: "x,b"; write a quote within quotes as ""`},
		{"lone return", "u,v\na\rb,c\n", Options{}, ErrData, "e:2:2: a carriage return within the line; line ends must be LF or CRLF" + skip},
		{"weights too large together", "u,v,w\na,b,1e308\na,b,1e308\n", Options{}, ErrData,
			`e: the edges do not form a graph (not a valid graph: the weights at node "a" add up to more than 1.7976931348623157e+308: scale ` +
				`them down); correct the weights`},
		{"all bad", "u,v,w\na,b,x\n", Options{BadRows: BadRowsSkip}, ErrData,
			`e: it contains no edges; the first bad row is e:2:5: weight "x" is not a number`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadGraph(context.Background(), Reader("e", strings.NewReader(c.text)), c.opts)
			checkError(t, err, c.kind, c.want)
		})
	}
}

// warnings returns the warnings of a report as a Go caller reads them.
func warnings(r *Report) (all []string) {
	for _, w := range r.Warnings {
		all = append(all, w.String())
	}
	return all
}

func checkError(t *testing.T, err, kind error, want string) {
	t.Helper()
	var typed *Error
	switch {
	case err == nil:
		t.Fatalf("no error, want %s", want)
	case err.Error() != want:
		t.Errorf("error\n%s\nwant\n%s", err, want)
	case !errors.As(err, &typed) || !errors.Is(err, kind):
		t.Errorf("%T of code %v, want kind %v", err, typed.Code, kind)
	case len(typed.Remedies) == 0:
		t.Errorf("%v does not say what next", err)
	}
}

// TestErrorFields checks what a program reads of an error, and that it can write
// the remedies in words of its own.
func TestErrorFields(t *testing.T) {
	t.Parallel()
	_, err := ReadGraph(context.Background(), Reader("e", strings.NewReader("u;v;w\na;b;1,5\nb;c;1.5\n")), Options{})
	var e *Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	want := Error{Code: CodeAmbiguous, Table: TableEdges, File: "e", What: "some numbers have a point (1.5) and others a comma (1,5)",
		Remedies: []Remedy{
			{Do: "write them alike"},
			{Do: "read decimal points", Set: []Setting{{OptionDecimal, "", "point"}}},
			{Do: "read decimal commas", Set: []Setting{{OptionDecimal, "", "comma"}}},
		}, Columns: []string{"u", "v", "w"}}
	if !reflect.DeepEqual(*e, want) {
		t.Errorf("%#v, want %#v", *e, want)
	}
	if got, want := e.Text(withoutOptions), "e: some numbers have a point (1.5) and others a comma (1,5); write them alike"; got != want {
		t.Errorf("without options %q, want %q", got, want)
	}
	spelled := Speller{func(table Table, s Setting) string { return fmt.Sprint(table, ".", s.Option, s.Role, s.Value) }, "+"}
	_, err = ReadGraph(context.Background(), Reader("e", strings.NewReader("from,to,source,target\na,b,c,d\n")), Options{})
	errors.As(err, &e)
	if got, want := e.Text(spelled), "e: the ends of an edge may be from and to or source and target; say which with "+
		"edges.Columnssourcefrom+edges.Columnstargetto or edges.Columnssourcesource+edges.Columnstargettarget"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFileErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"edges.csv.gz": zipped("0,1\n"), "sub/a.csv": "0,1\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ path, want string }{
		{"none.csv", "none.csv: there is no such file; check the name"},
		{"edges.csv", "edges.csv: there is no such file; did you mean edges.csv.gz?"},
		{"edges.csv.gz.zst", "edges.csv.gz.zst: there is no such file; did you mean edges.csv.gz?"},
		{"sub", "sub: is a directory; name a file in it, such as a.csv"},
		{"edges.csv.gz/x", "edges.csv.gz/x: cannot be opened: not a directory; check the name and the permissions"},
	} {
		t.Run(c.path, func(t *testing.T) {
			_, err := ReadGraph(context.Background(), File(filepath.Join(dir, c.path)), Options{})
			if err == nil {
				t.Fatal("no error")
			}
			if got := strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""); got != c.want {
				t.Errorf("error %s, want %s", got, c.want)
			}
			if !errors.Is(err, ErrUsage) {
				t.Errorf("%v is not a usage error", err)
			}
		})
	}
	_, err := ReadGraph(context.Background(), File(filepath.Join(dir, "none")), Options{})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v does not wrap the cause", err)
	}
}
