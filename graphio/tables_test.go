package graphio

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"grfgp/graph"
)

func readNodes(text string, opts Options) (*NodeTable, error) {
	return ReadNodes(context.Background(), Reader("n", strings.NewReader(text)), opts)
}

func readMeasurements(g *graph.Graph, text string, opts Options) (*Measurements, error) {
	return ReadMeasurements(context.Background(), Reader("m", strings.NewReader(text)), g, opts)
}

func TestReadNodes(t *testing.T) {
	t.Parallel()
	n, err := readNodes("Station;Name;Latitude;Longitude;cost;allowed;region;note\n"+
		"007;Ulm;48,4;9,99;10;yes;south;x\n8;;NA;10;;no;;y\n\n007;Ulm;48,4;9,99;10;yes;south;z\n9;Kiel;54;10;2;TRUE;north\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := n.Report.Ledger.String(), "6 lines = 1 header + 3 rows + 1 repeat + 1 blank"; got != want {
		t.Errorf("ledger %s, want %s", got, want)
	}
	if n.IDs.At(0) != "007" || !slices.Equal(n.Name, []string{"Ulm", "", "Kiel"}) || !slices.Equal(n.Group, []string{"south", "", "north"}) ||
		!slices.Equal(n.Allowed, []bool{true, false, true}) {
		t.Errorf("labels %q, groups %q, allowed %v", n.Name, n.Group, n.Allowed)
	}
	if n.Lat[0] != 48.4 || !math.IsNaN(n.Lat[1]) || n.Lon[2] != 10 || n.Cost[2] != 2 || !math.IsNaN(n.Cost[1]) || n.X != nil {
		t.Errorf("lat %v, lon %v, cost %v, x %v", n.Lat, n.Lon, n.Cost, n.X)
	}
	if n.Report.Missing != 4 || n.Report.Decimal != "comma" || !slices.Equal(n.Report.Unused, []string{"note"}) {
		t.Errorf("%d missing, decimal %q, unused %q", n.Report.Missing, n.Report.Decimal, n.Report.Unused)
	}
}

func TestNodeErrors(t *testing.T) {
	t.Parallel()
	const skip = `; correct the line, or leave such rows out with Options.BadRows = "skip"`
	for _, c := range []struct {
		name, text string
		opts       Options
		kind       error
		want       string
	}{
		{"contradiction", "id,lat,lon\na,1,2\nb,1,2\na,1,3\n", Options{}, ErrData, `n:4:1: id "a" is already on line 2, with other values` +
			skip},
		{"latitude", "id,lat,lon\na,122,37\n", Options{}, ErrData,
			`n:2:3: lat "122" is out of range; are lat and lon swapped? planar coordinates are called x and y`},
		{"allowed", "id,allowed\na,maybe\n", Options{}, ErrData,
			`n:2:3: allowed "maybe" is neither yes nor no; write yes or no, true or false, 1 or 0`},
		{"no id", "id,x,y\n,1,2\n", Options{}, ErrData, "n:2:1: the id is empty" + skip},
		{"two ids", "id_number,station\n1,2\n", Options{}, ErrUsage,
			`n: the ids may be in column id_number or station; say which with Options.Columns["id"] = "id_number" or Options.Columns["id"] = ` +
				`"station"`},
		{"no rows", "id,lat\n", Options{}, ErrData, "n: it contains no nodes, only a header; name another file"},
		{"graph", "%%MatrixMarket matrix coordinate pattern general\n1 1 0\n", Options{}, ErrData,
			"n: is MatrixMarket, but a table of nodes is expected; give a table of delimited text, or read it as a graph with ReadGraph"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readNodes(c.text, c.opts)
			checkError(t, err, c.kind, c.want)
		})
	}
}

func ring(ids ...string) *graph.Graph {
	labels, _ := graph.IDsOf(ids)
	var e graph.Edges
	for i := range ids {
		e.U, e.V = append(e.U, uint32(i)), append(e.V, uint32((i+1)%len(ids)))
	}
	g, _, err := graph.FromEdges(labels, e, graph.BuildOptions{})
	if err != nil {
		panic(err)
	}
	return g
}

func TestReadMeasurements(t *testing.T) {
	t.Parallel()
	g := ring("a", "b", "c", "7")
	for _, c := range []struct {
		name, text string
		opts       Options
		want       string // node=value±sd×count~scatter
		ledger     string
	}{
		{"plain", "node,value\nb,2\na,1\n", Options{}, "1=2 0=1", "3 lines = 1 header + 2 rows"},
		{"no header", "a 1.5\nb 2\n", Options{}, "0=1.5 1=2", "2 lines = 2 rows"},
		{"values first", "1.5 a\n2 b\n", Options{}, "0=1.5 1=2", "2 lines = 2 rows"},
		{"mean", "node,value\na,1\nb,5\na,3\n", Options{}, "0=2×2~2 1=5", "4 lines = 1 header + 2 rows + 1 repeat"},
		{"mean of four", "node,value\na,1\nb,5\na,3\na,4\na,8\n", Options{}, "0=4×4~26 1=5", "6 lines = 1 header + 2 rows + 3 repeats"},
		{"mean of the same", "node,value\na,0.1\nb,5\na,0.1\na,0.1\n", Options{}, "0=0.1×3 1=5", "5 lines = 1 header + 2 rows + 2 repeats"},
		{"mean with sd", "node,value,sd\na,1,2\na,6,1\nb,1,3\n", Options{}, "0=5±0.894427191×2 1=1±3", "4 lines = 1 header + 2 rows + 1 repeat"},
		{"mean of three with sd", "node,value,sd\na,1,2\na,6,1\na,14,0.5\nb,1,3\n", Options{}, "0=11.85714286±0.4364357805×3 1=1±3",
			"5 lines = 1 header + 2 rows + 2 repeats"},
		{"an exact reading wins", "node,value,sd\na,1,2\na,6,0\na,7,1\na,6,0\nb,1,3\n", Options{}, "0=6±0×4 1=1±3",
			"6 lines = 1 header + 2 rows + 3 repeats"},
		{"mean with an sd missing", "node,value,sd\na,1,2\na,3,\na,8,0\nb,1,\n", Options{}, "0=4±NaN×3 1=1±NaN",
			"5 lines = 1 header + 2 rows + 2 repeats"},
		{"sd of no use", "node,value,sd\na,1,2\na,6,0\na,8,0\nb,1,\n", Options{IgnoreSD: true}, "0=5×3~26 1=1",
			"5 lines = 1 header + 2 rows + 2 repeats"},
		{"last with sd", "node,value,sd\na,1,2\na,6,1\nb,1,3\n", Options{Repeats: RepeatsLast}, "0=6±1 1=1±3",
			"4 lines = 1 header + 2 rows + 1 repeat"},
		{"keep", "node,value\na,1\nb,5\na,3\n", Options{Repeats: RepeatsKeep}, "0=1 1=5 0=3", "4 lines = 1 header + 3 rows"},
		{"last", "node,value\na,1\nb,5\na,3\n", Options{Repeats: RepeatsLast}, "0=3 1=5", "4 lines = 1 header + 2 rows + 1 repeat"},
		{"missing", "station,reading\na,NA\nb,\nc,-\n7,2\na,1\n", Options{}, "3=2 0=1", "6 lines = 1 header + 2 rows + 3 missing values"},
		{"unknown", "node,value\nzz,1\na,2\nb,3\n", Options{Unknown: UnknownSkip}, "0=2 1=3", "4 lines = 1 header + 2 rows + 1 unknown id"},
		{"negative values", "node,value\na,-1\nb,-2e3\n", Options{}, "0=-1 1=-2000", "3 lines = 1 header + 2 rows"},
		{"names", "sensor_id,node,speed_mph,speed_sd\n1,a,50,2\n2,b,60,3\n", Options{}, "0=50±2 1=60±3", "3 lines = 1 header + 2 rows"},
		{"only column of numbers", "station,when,depth\na,x,1\nb,y,2\n", Options{}, "0=1 1=2", "3 lines = 1 header + 2 rows"},
		{"ids by overlap", "thing,other,value\nq,a,1\nr,b,2\n", Options{}, "0=1 1=2", "3 lines = 1 header + 2 rows"},
		{"columns as told", "q;a;1;5\nr;b;2;6\n", Options{Columns: map[Role]string{RoleNode: "2", RoleValue: "4", RoleSD: "3"}}, "0=5±1 1=6±2",
			"2 lines = 2 rows"},
		{"skipped", "node,value\na,1\nb,x\nc,inf\n", Options{BadRows: BadRowsSkip}, "0=1", "4 lines = 1 header + 1 row + 2 bad"},
		{"decimal commas", "node;value\na;1,5\nb;2\n", Options{}, "0=1.5 1=2", "3 lines = 1 header + 2 rows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := readMeasurements(g, c.text, c.opts)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for k, node := range m.Nodes {
				s := fmt.Sprintf("%d=%.10g", node, m.Values[k])
				if m.SD != nil {
					s += fmt.Sprintf("±%.10g", m.SD[k])
				}
				if m.Count[k] > 1 {
					s += fmt.Sprintf("×%d", m.Count[k])
				}
				if m.Scatter != nil && m.Scatter[k] != 0 {
					s += fmt.Sprintf("~%.10g", m.Scatter[k])
				}
				got = append(got, s)
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("measurements %s, want %s", text, c.want)
			}
			if l := m.Report.Ledger; l.String() != c.ledger || !l.Balanced() {
				t.Errorf("ledger %s, want %s", l, c.ledger)
			}
		})
	}
}

func TestMeasurementErrors(t *testing.T) {
	t.Parallel()
	const skip = `; correct the line, or leave such rows out with Options.BadRows = "skip"`
	const never = "ids are text and are never changed silently: rewrite one of the files"
	for _, c := range []struct {
		name, text string
		opts       Options
		kind       error
		want       string
	}{
		{"not a number", "node,value\n1,2\n2,fast\n", Options{}, ErrData, `m:3:3: value "fast" is not a number` + skip},
		{"not a number, by a likely name", "node,speed,lane\n1,2,1\n2,abc,1\n3,4,2\n", Options{}, ErrData, `m:3:3: value "abc" is not a number` +
			skip},
		{"not a number, the only column", "node,depth\n1,2\n2,abc\n3,4\n", Options{}, ErrData, `m:3:3: value "abc" is not a number` + skip},
		{"only a header", "node,speed\n", Options{}, ErrData, "m: it contains no measurements, only a header; name another file"},
		{"infinite", "node,value\n1,inf\n", Options{}, ErrData, `m:2:3: value "inf" is infinite` + skip},
		{"negative sd", "node,value,sd\n1,2,-1\n", Options{}, ErrData, `m:2:5: sd "-1" is negative` + skip},
		{"no node", "node,value\n,2\n", Options{}, ErrData, "m:2:1: the node is empty" + skip},
		{"twice", "node,value\n1,2\n1,3\n", Options{Repeats: RepeatsError}, ErrData,
			`m:3:1: node "1" was already measured on line 2; keep all its measurements with Options.Repeats = "keep", or take the last one with ` +
				`Options.Repeats = "last"`},
		{"two exact values", "node,value,sd\n1,2,1\n1,3,0\n1,4,0\n", Options{}, ErrData,
			`m:4:1: sd 0 means an exact value, but an earlier row gives node "1" another exact value; the first row of the node is line 2; ` +
				`correct the values or their sds, or leave such rows out with Options.BadRows = "skip"`},
		{"no mean", "node,value\n1,1.7e308\n1,-1.7e308\n1,1.7e308\n2,1\n", Options{}, ErrData,
			"m: the values of a node are too far apart for their mean to be a number; give the values in another unit"},
		{"no variance", "node,value\n1,1e200\n1,-1e200\n2,1\n", Options{}, ErrData,
			"m: the values of a node are too far apart for their variance to be a number; correct them, or give the values in another unit"},
		{"two values", "node,speed,pressure\n1,2,3\n", Options{}, ErrUsage,
			`m: the value may be speed or pressure; say which with Options.Columns["value"] = "speed" or Options.Columns["value"] = "pressure"`},
		{"coordinates", "node,x,y\n1,2,3\n", Options{}, ErrUsage,
			`m: the value may be x or y; say which with Options.Columns["value"] = "x" or Options.Columns["value"] = "y"`},
		{"no numbers", "node,topic\n1,a\n2,b\n", Options{}, ErrData,
			`m: there is no column of numbers beside the ids; the other columns hold text: topic (such as "a"); name the column of values with ` +
				`Options.Columns["value"], or read classes with ReadLabels`},
		{"all missing", "node,value\n1,NA\n2,NA\n", Options{}, ErrData,
			`m: all its values are missing; name the column of values with Options.Columns["value"]`},
		{"nothing", "node,value\n", Options{}, ErrData, "m: it contains no measurements, only a header; name another file"},
		{"leading zeros", "node,value\n001,2\n002,3\n", Options{}, ErrData,
			`m: none of its ids, such as "001" and "002", is a node of the graph, which has ids such as "1", "2" and "3"; 2 of 2 such ids differ ` +
				`from those of the graph only by leading zeros ("001" here, "1" in the graph); ` + never},
		{"decimals", "node,value\n1.0,2\n2.0,3\n", Options{}, ErrData,
			`m: none of its ids, such as "1.0" and "2.0", is a node of the graph, which has ids such as "1", "2" and "3"; 2 of 2 such ids differ ` +
				`from those of the graph only by a trailing .0 ("1.0" here, "1" in the graph); ` + never},
		{"prefix", "node,value\nn1,2\nn2,3\n", Options{}, ErrData,
			`m: none of its ids, such as "n1" and "n2", is a node of the graph, which has ids such as "1", "2" and "3"; 2 of 2 such ids differ ` +
				`from those of the graph only by letters before the number ("n1" here, "1" in the graph); ` + never},
		{"blanks", "node,value\n\"1 \",2\n\"2 \",3\n", Options{}, ErrData,
			`m: none of its ids, such as "1 " and "2 ", is a node of the graph, which has ids such as "1", "2" and "3"; 2 of 2 such ids differ ` +
				`from those of the graph only by blanks ("1 " here, "1" in the graph); ` + never},
		{"some other ids", "node,value\n1,2\n2,1\nAB,3\naB,4\naB,5\n", Options{BadRows: BadRowsSkip}, ErrData,
			`m: 3 of 5 rows have ids that are not in the graph, such as "AB" and "aB"; 2 of 2 such ids differ from those of the graph only in ` +
				`upper and lower case ("AB" here, "Ab" in the graph); ` + never + `, or leave such rows out with Options.Unknown = "skip"`},
		{"unknown choice", "node,value\n1,2\n", Options{Unknown: "drop"}, ErrUsage,
			`m: rows of unknown nodes cannot be treated as "drop"; give skip, or nothing to allow one in a hundred`},
		{"other ids", "node,value\nx,2\ny,3\n", Options{}, ErrData,
			`m: none of its ids, such as "x" and "y", is a node of the graph, which has ids such as "1", "2" and "3"; check that both files use ` +
				`the same ids; ` + never},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readMeasurements(ring("1", "2", "3", "Ab"), c.text, c.opts)
			checkError(t, err, c.kind, c.want)
		})
	}
}

// One row in a hundred may be of an unknown node; the warning is one of those to be shown always.
func TestFewUnknown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rows, unknown int
		ok            bool
	}{{100, 1, true}, {99, 1, false}, {200, 2, true}, {200, 3, false}} {
		text := "node,value\n" + strings.Repeat("x,1\n", c.unknown) + strings.Repeat("1,2\n2,3\n", (c.rows-c.unknown)/2) +
			strings.Repeat("1,2\n", (c.rows-c.unknown)%2)
		m, err := readMeasurements(ring("1", "2", "4", "Ab"), text, Options{})
		if (err == nil) != c.ok {
			t.Errorf("%d of %d rows: %v", c.unknown, c.rows, err)
		}
		if err == nil && !slices.ContainsFunc(m.Report.Warnings, func(w Warning) bool { return w.Loss }) {
			t.Errorf("%d of %d rows: no loss among %q", c.unknown, c.rows, m.Report.Warnings)
		}
	}
}

func TestMeasurementWarnings(t *testing.T) {
	t.Parallel()
	const never = "ids are text and are never changed silently: rewrite one of the files"
	for _, c := range []struct{ name, text, want string }{
		{"single", "node,value\n1,2\n", "only one node was measured: there is nothing to learn from unless mean and noise are known"},
		{"constant", "node,value\n1,2\n2,2\n", "all values are 2: there is nothing to learn from unless mean and noise are known"},
		{"unknown", "node,value\n1,2\n2,3\nx,4\n", `1 of 3 rows has an id that is not in the graph, such as "x"; they are left out`},
		{"few match", "node,value\n1,2\n2,1\nAB,3\naB,4\naB,5\n",
			`2 of 2 such ids differ from those of the graph only in upper and lower case ("AB" here, "Ab" in the graph); ` + never},
		{"counted from 0", "node,value\n0,1\n1,2\n2,3\n", "the graph has no node 0: are ids here counted from 0, and there from 1? " + never},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := readMeasurements(ring("1", "2", "4", "Ab"), c.text, Options{Unknown: UnknownSkip})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(warnings(m.Report), c.want) {
				t.Errorf("warnings %q, want %q", m.Report.Warnings, c.want)
			}
			for _, known := range [][2]bool{{false, false}, {true, false}, {false, true}} {
				if err := m.Enough(known[0], known[1]); strings.Contains(c.want, "nothing to learn") != (err != nil) {
					t.Errorf("enough to learn from: %v", err)
				} else if err != nil {
					checkError(t, err, ErrData, "m: "+c.want+`; measure more nodes, or name another column with Options.Columns["value"]`)
				}
			}
			if err := m.Enough(true, true); err != nil {
				t.Errorf("with mean and noise known: %v", err)
			}
		})
	}
}

// Standard deviations are a known noise, and means of readings that differ are
// no constant.
func TestEnough(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text         string
		mean, enough bool
	}{
		{"node,value,sd\n1,2,1\n", true, true},
		{"node,value,sd\n1,2,1\n", false, false},
		{"node,value\n1,1\n1,3\n2,2\n", false, true},
		{"node,value\n1,2\n1,2\n2,2\n", false, false},
	} {
		m, err := readMeasurements(ring("1", "2", "3"), c.text, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Enough(c.mean, false); (err == nil) != c.enough {
			t.Errorf("%q with a known mean, %v: %v", c.text, c.mean, err)
		}
	}
}

func TestNoiseVar(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"node,value\n1,2\n2,3\n":          "[] <nil>",
		"node,value,sd\n1,2,3\n2,3,0.5\n": "[9 0.25] <nil>",
		"node,value,sd\n1,2,3\n2,3,\n3,1,\n": "[] m: 2 of 3 values have no sd, or are means of measurements of which some have no sd; fill " +
			"them in, leave these rows out, or take the column out of the file",
	} {
		m, err := readMeasurements(ring("1", "2", "3"), text, Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, _, noise, _, _, err := m.Statistics()
		if got := fmt.Sprint(noise, " ", err); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// Edges and a node table that write ids differently.
func TestIDsOfNodesAndEdges(t *testing.T) {
	t.Parallel()
	const never = "ids are text and are never changed silently: rewrite one of the files"
	nodes, err := readNodes("id,lat,lon\n001,0,0\n002,0,1\nx,0,2\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	const differ = `2 of 2 such ids differ from those of the node table only by leading zeros ("1" here, "001" in the node table); ` + never
	n, err := readText("1,2\n2,x\n", Options{Nodes: nodes})
	if err != nil || !slices.Contains(warnings(n.Report), differ) {
		t.Errorf("%v; warnings %q, want %q", err, n.Report.Warnings, differ)
	}
	_, err = readText("1,2\n", Options{Nodes: nodes})
	checkError(t, err, ErrData, `edges.csv: none of its ids, such as "1" and "2", is in the node table, which has ids such as "001", "002" `+
		`and "x"; `+differ)
	_, err = readText("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n", Options{Nodes: nodes})
	checkError(t, err, ErrData, `edges.csv: none of its ids, such as "1" and "2", is in the node table, which has ids such as "001", "002" `+
		`and "x"; `+differ)
}

// What is wrong with a few ids is found without an index of all labels.
func TestStrangersAreIndexed(t *testing.T) {
	labels := graph.NewIDs(0)
	for i := range 20000 {
		labels.Intern(fmt.Appendf(nil, "%d", i))
	}
	var s unknownIDs
	s.add([]byte("00017"))
	s.add([]byte("x"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := s.explain(labels, "the graph")
	runtime.ReadMemStats(&after)
	if want := `1 of 2 such ids differs from those of the graph only by leading zeros ("00017" here, "17" in the graph)`; !strings.HasPrefix(
		got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	if bytes, most := after.TotalAlloc-before.TotalAlloc, uint64(32*labels.Len()); bytes > most {
		t.Errorf("%d bytes, want at most %d", bytes, most)
	}
}

// A second exact value that is refused does not take the place of the first.
func TestExactValuesAfterABadRow(t *testing.T) {
	t.Parallel()
	g, err := graph.Ring(5)
	if err != nil {
		t.Fatal(err)
	}
	text := "node,value,sd\n1,2,0\n1,4,0\n1,2,0\n2,5,1\n"
	m, err := ReadMeasurements(t.Context(), Reader("m", strings.NewReader(text)), g, Options{BadRows: BadRowsSkip})
	if err != nil {
		t.Fatal(err)
	}
	if m.Values[0] != 2 || m.Count[0] != 2 || m.Report.Ledger.Bad != 1 {
		t.Errorf("%+v, %+v", m, m.Report.Ledger)
	}
}
