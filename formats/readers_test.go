package formats

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestGEXF(t *testing.T) {
	t.Parallel()
	doc := func(text string) string {
		return `<?xml version="1.0"?><!-- x --><gexf version="1.2"><graph defaultedgetype="undirected">` + "\n" + text + `</graph></gexf>`
	}
	declared := `<attributes class="node"><attribute id="0" title="speed"><default>5</default></attribute></attributes>`
	for _, c := range []readCase{
		{name: "attributes", text: doc(declared + `<nodes><node id="a" label="Aachen"><attvalues><attvalue for="0" value="3"/></attvalues>` +
			`</node><node id="b" label="b"/></nodes><edges><edge source="a" target="b" weight="2"/><edge source="b" target="b"/></edges>`),
			want: `edges by edge: source,target,weight / a,b,2 / b,b,1; nodes by node: id,label,speed / a,Aachen,3 / b,,5`},
		{name: "drawn by Gephi", text: doc(`<nodes><node id="a"><viz:position x="1" y="2.5" z="0"/></node></nodes><edges><edge source="a" ` +
			`target="a" type="directed"/></edges>`),
			want: `edges by edge: source,target / a,a; nodes by node: id,x,y / a,1,2.5; the graph is directed; directions are dropped`},
		{name: "nodes within nodes", text: doc(`<nodes><node id="a"><nodes><node id="b"/></nodes><edges><edge source="a" target="b"/></edges>` +
			`</node></nodes>`),
			want: `edges by edge: source,target / a,b; nodes by node: id / a / b`},
		{name: "named by labels", opts: Options{ID: "label"},
			text: doc(`<nodes><node id="0" label="A"/><node id="1" label="B"/></nodes><edges><edge source="0" target="1"/></edges>`),
			want: `edges by edge: source,target / A,B; nodes by node: label / A / B`},
		{name: "changing with time", text: doc(`<nodes><node id="a"><attvalues><attvalue for="0" value="3" start="1"/><attvalue for="0" ` +
			`value="4" start="2"/></attvalues></node></nodes>`),
			want: `line 2: an attribute of this node has several values: the graph changes with time; export the graph at one time`},
		{name: "cut short", text: strings.TrimSuffix(doc(`<nodes><node id="a">`), `</graph></gexf>`),
			want: `line 2: the document ends in the middle; the file was cut short: fetch or write it again`},
		{name: "not well-formed", text: doc(`</nodes>`), want: `line 2: is not well-formed XML: element <graph> closed by </nodes>; correct ` +
			`the line, or write the file again`},
	} {
		c.run(t, gexfFormat, "f.xml")
	}
}

func TestGraphMLNodes(t *testing.T) {
	t.Parallel()
	for _, c := range []readCase{
		{name: "defaults and nodes within nodes", text: `<?xml version="1.0"?><graphml><key id="d0" for="node" attr.name="speed"><default>` +
			`5</default></key><key id="d1" for="edge" attr.name="w"/><graph><node id="a"><data key="d0"> 3 </data><graph><node id="b"/></graph>` +
			`</node><edge source="a" target="b"><data key="d1">1</data></edge></graph></graphml>`,
			want: `edges by edge: source,target; nodes by node: id,speed / a,3 / b,5`},
		{name: "other XML", text: "<?xml version=\"1.0\"?>\n<kml/>",
			want: `line 2: is XML, but begins with <kml>, not with <graphml>; save it as CSV`},
		{name: "cut short", text: "<graphml>\n<graph><node id=\"a\">",
			want: `line 2: the document ends in the middle; the file was cut short: fetch or write it again`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := GraphMLNodes.Tables(context.Background(), Input{Data: []byte(c.text)}, c.opts)
			got := fmt.Sprint(err)
			if err == nil {
				got = f.String()
			}
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestPajek(t *testing.T) {
	t.Parallel()
	for _, c := range []readCase{
		{name: "edges and arcs", text: "% c\n*Vertices 3\r\n1 \"a b\" 0.1 0.2 box ic Red\n2 \"c\"\n3 \"d\"\n*Arcs\n1 2 3\n*Edges\n2 -3\n",
			want: `edges by edge: source,target,weight / a b,c,3 / c,d,1; nodes by node: label,x,y / a b,0.1,0.2 / c / d; the graph is directed; ` +
				`directions are dropped; nodes are named by their label, which is different for each, and not by the id`},
		{name: "numbers alone", text: "*Network x\n*vertices 3\n*edgeslist\n1 2 3\n",
			want: `edges by edge: source,target / 1,2 / 1,3; nodes by node: id,label / 1, / 2, / 3,`},
		{name: "matrix", text: "*Vertices 2\n*Matrix\n0 1.5\n1.5 0\n",
			want: `edges by edge: source,target,weight / 1,2,1.5 / 2,1,1.5; nodes by node: id,label / 1, / 2,`},
		{name: "vector", text: "*Vertices 2\n*Edges\n1 2\n*Vector v\n*Vertices 2\n3\n4\n",
			want: `edges by edge: source,target / 1,2; nodes by node: id,label / 1, / 2,; left out: *Vector`},
		{name: "no such vertex", text: "*Vertices 2\n*Edges\n1 3\n",
			want: `line 3: "3" is not a vertex: a number from 1 to 2; correct the line, or write the file again`},
		{name: "short matrix", text: "*Vertices 2\n*Matrix\n0 1\n",
			want: `the matrix has 1 rows, and there are 2 vertices; was the file cut short? fetch it again`},
		{name: "two networks", text: "*Network a\n*Vertices 1\n*Network b\n*Vertices 1\n",
			want: `line 3: a second network in one file; save one network as a .net file`},
		{name: "absurd size", text: "*Vertices 1000000000000\n*Edges\n1 2\n",
			want: `line 1: 1000000000000 nodes, but only 1 edges: nearly all nodes would have no edge; correct the number of nodes`},
		{name: "absurd matrix", text: "*Vertices 1000000000000\n*Matrix\n",
			want: `line 2: a matrix of 1000000000000 vertices, which are too many; save the network with *Edges`},
	} {
		c.run(t, pajekFormat, "f.net")
	}
}

func TestMETIS(t *testing.T) {
	t.Parallel()
	for _, c := range []readCase{
		{name: "plain", text: "3 2\n2\n1 3\n2\n", want: `edges by edge: source,target / 1,2 / 2,3`},
		{name: "edge weights", text: "% c\n3 1 1\n2 7\n1 7\n\n",
			want: `edges by edge: source,target,weight / 1,2,7; nodes by node: id / 1 / 2 / 3`},
		{name: "all weights", text: "2 1 111 2\n4 5 6 2 9\n7 8 9 1 9\n",
			want: `edges by edge: source,target,weight / 1,2,9; nodes by node: id,vertex_size,vertex_weight_1,vertex_weight_2 / 1,4,5,6 / 2,7,8,9`},
		{name: "vertex weights", text: "2 1 10\n5 2\n6 1\n",
			want: `edges by edge: source,target / 1,2; nodes by node: id,vertex_weight / 1,5 / 2,6`},
		{name: "too few lines", text: "3 1\n2\n1\n", want: `line 1: the first line promises 3 nodes, but there are 2; was the file cut short? ` +
			`fetch it again, or correct the line`},
		{name: "too many lines", text: "2 1\n2\n1\n1\n", want: `line 4: the first line promises 2 nodes, but there are more lines; correct ` +
			`the line, or write the file again`},
		{name: "too few edges", text: "2 2\n2\n1\n", want: `line 1: the first line promises 2 edges, but there are 1; correct the line, or ` +
			`write the file again`},
		{name: "one end", text: "3 1\n2\n\n\n", want: `some edge is listed at one of its ends only, and METIS lists each at both; write the ` +
			`file again`},
		{name: "other ends", text: "4 2\n2\n3\n4\n1\n", want: `some edge is listed at one of its ends only, and METIS lists each at both; ` +
			`write the file again`},
		{name: "two weights", text: "2 1 1\n2 7\n1 8\n", want: `some edge has another weight at its other end; write the file again`},
		{name: "not a node", text: "2 1\n2\n5\n", want: `line 3: "5" are not the neighbours of node 2: numbers from 1 to 2; correct the line, ` +
			`or write the file again`},
		{name: "no weight", text: "2 1 1\n2\n1 7\n", want: `line 2: "2" are not the neighbours of node 1: numbers from 1 to 2, each followed ` +
			`by its weight; correct the line, or write the file again`},
		{name: "header", text: "2 x\n2\n1\n", want: `line 1: "2 x" is not a first line of METIS; write: nodes edges [fmt [weights]], as in 3 ` +
			`2 001`},
		{name: "by name", text: "3 2\n2\n1\n2\n", want: `some edge is listed at one of its ends only, and METIS lists each at both; write the ` +
			`file again`},
		{name: "absurd size", text: "1000000000000 1\n2\n1\n",
			want: `line 1: 1000000000000 nodes, but only 20 edges: nearly all nodes would have no edge; correct the number of nodes`},
	} {
		c.run(t, metisFormat, "f.metis")
	}
}

func TestDIMACS(t *testing.T) {
	t.Parallel()
	for _, c := range []readCase{
		{name: "paths", text: "c x\n\np sp 3 2\na 1 2 7\na 2 1 7\n",
			want: `edges by edge: source,target,length / 1,2,7 / 2,1,7; nodes by node: id / 1 / 2 / 3`},
		{name: "colours", text: "p edge 2 1\nn 2 5\ne 1 2\n", want: `edges by edge: source,target / 1,2; nodes by node: id,value / 1 / 2,5`},
		{name: "listed twice", text: "p col 2 1\ne 1 2\ne 2 1\n", want: `edges by edge: source,target / 1,2 / 2,1`},
		{name: "flow", text: "p max 2 1\nn 1 s\nn 2 t\na 1 2 5\n", want: `edges by edge: source,target,capacity / 1,2,5`},
		{name: "coordinates", text: "p aux sp co 1\nv 1 -73530767 41085396\n",
			want: `nodes by node: id,x,y / 1,-73530767,41085396; coordinates are taken as x and y; those of roads are often longitude and ` +
				`latitude in millionths of a degree`},
		{name: "formula", text: "p cnf 3 2\n1 -3 0\n", want: `line 1: "p cnf 3 2" is a problem of DIMACS that is not read; give a graph of ` +
			`shortest paths (sp), colouring (edge, col) or maximum flow (max), or write one edge per line: source,target,weight`},
		{name: "cut short", text: "p sp 3 5\na 1 2 7\n", want: `line 1: the line promises 5 edges, but there are 1; was the file cut short? ` +
			`fetch it again, or correct the line`},
		{name: "no such node", text: "p sp 3 1\na 1 9 7\n",
			want: `line 2: "9" is not a node: a number from 1 to 3; correct the line, or write the file again`},
		{name: "absurd size", text: "p edge 1000000000000 1\ne 1 2\n",
			want: `line 1: 1000000000000 nodes, but only 1 edges: nearly all nodes would have no edge; correct the number of nodes`},
	} {
		c.run(t, dimacsFormat, "f")
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []readCase{
		{name: "links", text: `{"directed": true, "nodes": [{"id": 1, "at": {"lat": 2}}, {"id": 2, "tags": ["x", "y"]}], "links": [{"source": ` +
			`1, "target": 2, "weight": 1e-3, "key": null}]}`,
			want: `edges by edge: source,target,weight,key / 1,2,1e-3,; nodes by node: id,at.lat,tags / 1,2 / 2,,x|y; the graph is directed; ` +
				`directions are dropped`},
		{name: "edges", text: `{"edges": [{"source": {"id": "a"}, "target": "b"}], "nodes": [{"id": "a"}, {"id": "b"}]}`,
			want: `edges by edge: source,target / a,b; nodes by node: id / a / b`},
		{name: "places", text: `{"nodes": [{"name": "a"}, {"name": "b"}], "links": [{"source": 0, "target": 1, "value": 4}]}`,
			want: `edges by edge: source,target,value / a,b,4; nodes by node: name / a / b; nodes are named by their name, which is different ` +
				`for each, and not by the index`},
		{name: "JSON Graph Format", text: `{"graph": {"directed": false, "nodes": {"a": {"label": "A", "metadata": {"h": 1}}, "b": ` +
			`{"metadata": {"id": "x"}}}, "edges": [{"source": "a", "target": "b", "metadata": {"weight": 2}}]}}`,
			want: `edges by edge: source,target,weight / a,b,2; nodes by node: id,label,h,id / a,A,1 / b,,,x`},
		{name: "metadata", text: `{"graph": {"nodes": [{"id": "a", "metadata": {"id": "x"}}], "edges": [{"source": "a", "target": "a", ` +
			`"metadata": {"source": "y"}}]}}`,
			want: `edges by edge: source,target,metadata.source / a,a,y; nodes by node: id,metadata.id / a,x`},
		{name: "records", text: `[{"node": "a", "v": 1.50}, {"v": null, "node": "b"}]`, want: `rows by record: node,v / a,1.50 / b,`},
		{name: "lines", text: "{\"node\": \"a\"}\n{\"node\": \"b\\n\", \"ok\": true}\n", want: "rows by record: node,ok / a / b\n,true"},
		{name: "columns", text: `{"u": {"0": "a", "1": "b"}, "v": {"0": "c", "1": null}}`, want: `rows by row: u,v / a,c / b,`},
		{name: "cells", text: `[["u", "v"], [1, 2]]`, want: `rows by row:  / u,v / 1,2`},
		{name: "neighbours", text: `{"a": ["b", "c"], "b": ["a", "c"]}`,
			want: `is JSON, but neither nodes and links, nor records, nor columns of pandas; write a list of records: [{"source": "a", "target": ` +
				`"b", "weight": 1}, …], or write it as CSV`},
		{name: "dictionary of dictionaries", text: `{"a": {"b": 1}, "b": {"a": 1}}`,
			want: `is JSON, but neither nodes and links, nor records, nor columns of pandas; write a list of records: [{"source": "a", "target": ` +
				`"b", "weight": 1}, …], or write it as CSV`},
		{name: "texts", text: `["a", "b"]`, want: `record 1: "\"a\"" is not an object with names and values; write the file again`},
		{name: "cut short", text: "[{\"a\": 1},\n{\"a\"", want: `line 2: the document ends in the middle; the file was cut short: fetch or ` +
			`write it again`},
		{name: "adjacency", text: `{"nodes": [{"id": 0}], "adjacency": [[]]}`,
			want: `is JSON with an adjacency, which is not read; write nodes and links: networkx.node_link_data(G)`},
		{name: "deep", text: `[` + strings.Repeat(`{"a":`, 30) + `1` + strings.Repeat(`}`, 30) + `]`,
			want: `objects within objects, more than 20 deep; flatten the records`},
	} {
		c.run(t, jsonFormat, "f")
	}
}

func TestNetworkx(t *testing.T) {
	t.Parallel()
	for _, c := range []readCase{
		{name: "kinds of values", text: `a b {'w': -1.5e-3, 'n': None, 't': True, 'l': [1, 'x'], 'p': (1,), 'd': {'k': 1}, 's': "it's \\ ` +
			`\u00e9 {}", 'e': ''}`,
			want: `edges by edge: source,target,w,n,t,l,p,d,s,e / a,b,-1.5e-3,,true,1|x,1,{'k': 1},it's \ é {},`},
		{name: "an attribute called source", text: "a b {'source': 'x', 'w': 1}\n", want: `edges by edge: source,target,source,w / a,b,x,1`},
		{name: "NumPy numbers", text: "a b {'w': np.float64(1.5)}\n", want: `edges by edge: source,target,w / a,b,1.5`},
		{name: "tabs", text: "a x\tb\t{'w': 1}\n", want: `edges by edge: source,target,w / a x,b,1`},
		{name: "objects", text: "a b {'w': <object>}\n", want: `line 1: "{'w': <object>}" is not a dictionary of numbers and texts; write ` +
			`plain columns: nx.to_pandas_edgelist(G).to_csv(path, index=False)`},
	} {
		c.run(t, edgelistFormat, "f")
	}
	long := "a b {}\n" + strings.Repeat("a b {'w': 1}\n", Head/10)
	for _, c := range []readCase{
		{name: "a line without dictionary", text: long + "c d\n",
			want: fmt.Sprintf(`line %d: "c d" is not two nodes and a dictionary; correct the line, or write the file again`, Head/10+2)},
		{name: "three nodes", text: long + "c d e {}\n", want: fmt.Sprintf(`line %d: "c d e " are not two nodes; write ids without blanks: `+
			`nx.write_edgelist(G, path, delimiter=',')`, Head/10+2)},
	} {
		c.run(t, edgelistFormat, "f")
	}
	for _, c := range []readCase{
		{name: "multiline", text: "# x\na 2\nb {'w': 1}\nc {}\nlone 0\n",
			want: `edges by edge: source,target,w / a,b,1 / a,c; nodes by node: id / a / b / c / lone`},
		{name: "cut short", text: "a 2\nb {}\n", want: `line 2: node "a" promises 1 more lines; was the file cut short? fetch it again`},
	} {
		c.run(t, multilineFormat, "f")
	}
	for _, c := range []readCase{
		{name: "blanks", text: "a b c\nb\nlone\n", want: `edges by edge: source,target / a,b / a,c; nodes by node: id / a / b / c / lone`},
		{name: "commas", text: "a x,b,c\nb,\n", want: `edges by edge: source,target / a x,b / a x,c`},
		{name: "attributes", text: "a b c {'w': 1}\n", want: `line 1: an adjacency list with attributes, which has no fixed form; write it ` +
			`with nx.write_edgelist or nx.write_graphml`},
	} {
		c.run(t, adjlistFormat, "f.adjlist")
	}
}

// npy returns a file of one array.
func npy(header string, values ...any) []byte {
	b := bytes.NewBufferString(npyMagic + "\x01\x00")
	binary.Write(b, binary.LittleEndian, uint16(len(header)))
	b.WriteString(header)
	for _, v := range values {
		binary.Write(b, binary.LittleEndian, v)
	}
	return b.Bytes()
}

func TestNumPy(t *testing.T) {
	t.Parallel()
	head := func(descr, shape string) string {
		return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }"
	}
	for _, c := range []readCase{
		{name: "directed", text: string(npy(head("<f4", "2, 2"), []float32{0, 1.5, 0, 0})),
			want: `edges by edge: source,target,weight / 0,1,1.5; nodes are numbered from 0, as the rows of the array; the matrix is not ` +
				`symmetric: directions are dropped`},
		{name: "yes and no, with a lone node", text: string(npy(head("|b1", "3, 3"), []byte{0, 1, 0, 1, 0, 0, 0, 0, 0})),
			want: `edges by edge: source,target / 0,1; nodes by node: id / 0 / 1 / 2; nodes are numbered from 0, as the rows of the array`},
		{name: "by column", text: string(npy("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 2), }", []int16{0, 0, -7, 0})),
			want: `edges by edge: source,target,weight / 0,1,-7; nodes are numbered from 0, as the rows of the array; the matrix is not ` +
				`symmetric: directions are dropped`},
		{name: "edges", text: string(npy(head("<i8", "3, 2"), []int64{0, 1, 1, 2, 2, 3})), want: `edges by row: source,target / 0,1 / 1,2 / 2,3`},
		{name: "texts", text: string(npy(head("<U2", "1, 2"), []int32{'a', 'b', 'c', 0})), want: `edges by row: source,target / ab,c`},
		{name: "cube", text: string(npy(head("<i8", "1, 1, 1"), int64(1))),
			want: `is an array of shape [1 1 1]: neither a square matrix, nor edges in 2 or 3 columns, nor a vector; save the adjacency matrix, ` +
				`or an array of source and target, or write a table with named columns as CSV`},
		{name: "complex", text: string(npy(head("<c16", "1"), []float64{1, 2})),
			want: `the array has elements of type c16; save it with astype(float)`},
		{name: "structured", text: string(npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", 1.0)),
			want: `the array is an array whose elements are not plain numbers; save an array of one type of numbers`},
		{name: "cut short", text: string(npy(head("<f8", "2, 2"), []float64{0, 1.5})),
			want: `the array should hold 4 elements, but has 16 bytes; was the file cut short? fetch or write it again`},
		{name: "absurd size", text: string(npy(head("<f8", "9999999999, 9999999999"))),
			want: `the array has a shape of (9999999999, 9999999999); write the file again`},
	} {
		c.run(t, npyFormat, "f")
	}
	archive := func(arrays ...any) string {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for k := 0; k < len(arrays); k += 2 {
			w, err := z.Create(arrays[k].(string) + ".npy")
			if err != nil {
				t.Fatal(err)
			}
			w.Write(arrays[k+1].([]byte))
		}
		z.Close()
		return b.String()
	}
	csr := npy(head("|S3", ""), []byte("csr"))
	square := npy(head("<i8", "2,"), []int64{2, 2})
	one, place := npy(head("<f8", "1,"), 2.5), npy(head("<i4", "1,"), int32(1))
	for _, c := range []readCase{
		{name: "compressed rows", text: archive("format", csr, "shape", square, "data", one, "indices", place, "indptr",
			npy(head("<i4", "3,"), []int32{0, 1, 1})), want: `edges by edge: source,target,weight / 0,1,2.5; nodes are numbered from 0, as the ` +
			`rows of the array; the matrix is not symmetric: directions are dropped`},
		{name: "wrong pointers", text: archive("format", csr, "shape", square, "data", one, "indices", place, "indptr",
			npy(head("<i4", "3,"), []int32{0, 9, 1})), want: `the arrays of the matrix do not fit together; write the file again`},
		{name: "no pointers", text: archive("format", csr, "shape", square, "data", one, "indices", place),
			want: `there is no array indptr of whole numbers; write the file again`},
		{name: "absurd size", text: archive("format", csr, "shape", npy(head("<i8", "2,"), []int64{1e12, 1e12}), "data", one, "indices", place,
			"indptr", place), want: `1000000000000 nodes, but only 1 edges: nearly all nodes would have no edge; correct the number of nodes`},
		{name: "oblong", text: archive("format", csr, "shape", npy(head("<i8", "2,"), []int64{2, 3}), "data", one, "indices", place, "indptr",
			place), want: `the matrix is not square; save the adjacency matrix, whose rows and columns are the nodes`},
		{name: "bomb", text: archive("format", csr, "shape", square, "data", npy(head("|b1", "20000000,"), make([]byte, 20_000_000))),
			want: `it unpacks to more than 100 times its size; save it with compressed=False if that is right`},
		{name: "arrays", text: archive("x", one, "y", one),
			want: `holds the arrays x, y, and is not a sparse matrix; save the adjacency matrix with scipy.sparse.save_npz, or one array with ` +
				`numpy.save`},
	} {
		c.run(t, npzFormat, "f")
	}
}

// No reader panics, and all tables and errors keep the rules.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil {
			for i := range len(all) + 1 {
				f.Add(data, byte(i))
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, which byte) {
		Detect("f", data[:min(len(data), Head)])
		readers := append(slices.Clone(all), GraphMLNodes)
		file, err := readers[int(which)%len(readers)].Tables(context.Background(), Input{Name: "f", Data: data}, Options{})
		if err != nil {
			var typed *Error
			if !errors.As(err, &typed) || typed.What == "" || len(typed.Remedies) == 0 {
				t.Fatalf("the error does not say what and what next: %#v", err)
			}
			return
		}
		for least, table := range []*Table{file.Rows, file.Nodes, file.Edges} {
			if table == nil {
				continue
			}
			for _, row := range table.Rows {
				if len(row) < least {
					t.Fatalf("a row of %d cells", len(row))
				}
			}
			if table.Unit == "" || len(table.Names) < least {
				t.Fatalf("a table of %q by %q", table.Names, table.Unit)
			}
		}
		if file.Edges == nil && file.Nodes == nil && file.Rows == nil {
			t.Fatal("a file without tables")
		}
	})
}

// Attributes that nearly no row has do not fill the memory.
func TestGaps(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&text, "{\"k%d\": 1}\n", i)
	}
	_, err := jsonFormat.Tables(context.Background(), Input{Data: []byte(text.String())}, Options{})
	if err == nil || !strings.Contains(err.Error(), "different attributes, and each record has few of them") {
		t.Error(err)
	}
}
