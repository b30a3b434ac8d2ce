package graphio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"grfgp/covariate"
	"grfgp/formats"
)

// outcome is all that a reader says about a text, as one string.
type outcome func(text string, opts Options) string

// sameEverywhere checks that neither the number of processors nor the size of
// blocks shows in what a reader says.
func sameEverywhere(t *testing.T, text string, opts Options, read outcome) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := read(text, opts)
	sizes := []int{1, 7, 64}
	if len(text) > lookAhead {
		sizes = []int{256, 4096, 100_000}
	}
	for _, size := range sizes {
		runtime.GOMAXPROCS(2)
		opts.blockSize = size
		if got := read(text, opts); got != want {
			t.Fatalf("blocks of %d bytes on 2 processors:\n%s\nwant\n%s", size, got, want)
		}
	}
}

// judged turns a report or an error into text, after looking at the rules that
// every reader keeps.
func judged(t *testing.T, report *Report, err error, rest ...string) string {
	if err != nil {
		var typed *Error
		if !errors.As(err, &typed) || typed.What == "" || len(typed.Remedies) == 0 || errors.Is(err, ErrData) == errors.Is(err, ErrUsage) {
			t.Fatalf("the error does not say what and what next: %#v", err)
		}
		return err.Error()
	}
	if !report.Ledger.Balanced() {
		t.Fatalf("%v does not add up", report.Ledger)
	}
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(append(rest, string(text)), "\n")
}

// choices derives options from a byte.
func choices(b byte) Options {
	opts := Options{}
	if b&1 != 0 {
		opts.BadRows = BadRowsSkip
	}
	opts.Weights = []Weights{WeightsAuto, WeightsSimilarity, WeightsDistance, WeightsIgnore}[b>>1&3]
	opts.Header = []Header{HeaderAuto, HeaderYes, HeaderNo, HeaderAuto}[b>>3&3]
	opts.KeepLoops, opts.IgnoreSD = b>>5&1 != 0, b>>5&1 != 0
	opts.Repeats = []Repeats{RepeatsMean, RepeatsKeep, RepeatsLast, RepeatsError}[b>>6&3]
	return opts
}

func graphOutcome(t *testing.T) outcome {
	return func(text string, opts Options) string {
		var rejects bytes.Buffer
		opts.Rejects = &rejects
		n, err := ReadGraph(context.Background(), Reader("f", strings.NewReader(text)), opts)
		if err != nil {
			return judged(t, nil, err)
		}
		l := n.Report.Ledger
		if l.Unit == "lines" {
			if want := lineCount(text); l.Total != want {
				t.Fatalf("%d lines in the ledger, %d in the file", l.Total, want)
			}
			if rejected := lineCount(rejects.String()); rejected != l.Bad {
				t.Fatalf("%d bad lines, but %d rejected", l.Bad, rejected)
			}
		}
		if int64(n.Graph.Edges()) != l.Edges || n.Graph.Len() != n.Report.Nodes {
			t.Fatalf("the graph has %d edges and %d nodes; the report says %+v", n.Graph.Edges(), n.Graph.Len(), n.Report)
		}
		return judged(t, n.Report, nil, edgesOf(n), rejects.String())
	}
}

func lineCount(text string) int64 {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return int64(n)
}

func FuzzDelimited(f *testing.F) {
	for _, text := range []string{
		"a,b\nb,c\n", "u,v,w\r\n0,1,0.5\r\n1,1,2\r\n", "# FromNodeId\tToNodeId\n0\t1\n#0\t2\n", "a;b;1,5\nb;c;2\n",
		"\"a \"\"x\"\"\",b\n\"open,b\n", "1 2\n\n 2  3 \n", "u,v,km\na,b,0\nb,c,-1\nc,d,NaN\n", "\ufeffsource|target|\n007|7|\n",
		"a,b\x00\n", "a\rb,c\n", "u,v\n0,1\n0,1,2\n0\n", "\xff,b\nb,c\n",
	} {
		for _, b := range []byte{0, 1, 3, 5, 33} {
			f.Add(text, b)
		}
	}
	f.Fuzz(func(t *testing.T, text string, b byte) {
		if strings.HasPrefix(strings.TrimLeft(text, "\ufeff \t\r\n"), "%%") || strings.Contains(text, "<") {
			return // the other formats have their own
		}
		sameEverywhere(t, text, choices(b), graphOutcome(t))
	})
}

func FuzzMatrixMarket(f *testing.F) {
	for _, text := range []string{
		"pattern symmetric\n4 4 3\n2 1\n3 2\n3 3\n", "real general\n% c\n3 3 2\n1 2 0.5\n2 1 0.5\n", "integer general\n2 2 1\n1 3 4\n",
		"array general\n2 2\n", "real symmetric\n\n3 3 9\n1 1 1\n",
	} {
		f.Add(text, byte(0))
		f.Add(text, byte(1))
	}
	f.Fuzz(func(t *testing.T, text string, b byte) {
		text = "%%MatrixMarket matrix coordinate " + text
		if h, found, err := new(input).parseMatrixHeader([]byte(text)); err == nil && found && h.rows > 1e5 {
			return // a label for each row: too slow to do thousands of times
		}
		sameEverywhere(t, text, choices(b), graphOutcome(t))
	})
}

func FuzzGraphML(f *testing.F) {
	f.Add(small, byte(0))
	f.Add(`<graphml><key id="k" for="edge" attr.name="weight"/><graph><edge source="a" target="b"><data key="k">x</data></edge></graph>`+
		`</graphml>`, byte(1))
	f.Add(`<graphml><graph><node id="a"><graph><node id="b"/><edge source="a" target="b"/></graph></node></graph></graphml>`, byte(3))
	f.Add(`<graphml><graph><edge source="a" target="a"/><edge source="" target="b"/>`, byte(33))
	f.Fuzz(func(t *testing.T, text string, b byte) {
		if !strings.HasPrefix(text, "<") {
			text = "<graphml>" + text
		}
		sameEverywhere(t, text, choices(b), graphOutcome(t))
	})
}

func FuzzTable(f *testing.F) {
	for _, text := range []string{
		"node,value,sd\na,1,2\nb,NA,1\na,3,\nzz,1,1\n", "a 1.5\nb 2,5\n", "id;lat;lon;allowed\na;1;2;yes\na;1;2;no\nb;200;1;x\n",
		"station_id,reading\r\n\"a\",1\r\n,2\r\n", "node,label,x,y\na,q,1,2\n", "id\n1\n2\n1\n",
		"id,word\na,x\nb,y\na,y\n", "id;built;tags\na;2001-02-03;x|y\nb;NA;y|z\na;;q\n", "id,a,a,type\n1,007,yes,\xff\n2,08,no,2\n",
	} {
		for _, b := range []byte{0, 1, 65, 129, 193} {
			f.Add(text, b)
		}
	}
	g := ring("a", "b", "1", "2")
	f.Fuzz(func(t *testing.T, text string, b byte) {
		sameEverywhere(t, text, choices(b), func(text string, opts Options) string {
			var rejects bytes.Buffer
			opts.Rejects = &rejects
			src := func() Source { return Reader("f", strings.NewReader(text)) }
			out := ""
			m, err := ReadMeasurements(context.Background(), src(), g, opts)
			if err != nil {
				out = judged(t, nil, err)
			} else {
				out = judged(t, m.Report, nil, rejects.String(), fmt.Sprint(m.Nodes, m.Values, m.SD, m.Count, m.Scatter))
				for k := range m.Nodes {
					if m.Count[k] < 1 || m.Nodes[k] < 0 || m.Nodes[k] >= g.Len() || m.Values[k]-m.Values[k] != 0 {
						t.Fatalf("measurement %d: node %d, value %v, count %d", k, m.Nodes[k], m.Values[k], m.Count[k])
					}
					if s := m.Scatter; s != nil && (!(s[k] >= 0) || s[k] > math.MaxFloat64 || s[k] > 0 && m.Count[k] == 1) || (s == nil) == (m.SD == nil) {
						t.Fatalf("measurement %d of %d readings: sds %v, scatters %v", k, m.Count[k], m.SD, s)
					}
				}
			}
			n, err := ReadNodes(context.Background(), src(), opts)
			if err != nil {
				return out + judged(t, nil, err)
			}
			for _, size := range []int{len(n.Name), len(n.Lat), len(n.Lon), len(n.X), len(n.Y), len(n.Cost), len(n.Allowed), len(n.Group)} {
				if size != 0 && size != n.IDs.Len() {
					t.Fatalf("a column of %d for %d nodes", size, n.IDs.Len())
				}
			}
			for _, c := range n.Columns {
				if err := c.Check(n.IDs.Len()); err != nil {
					t.Fatal(err)
				}
			}
			if len(n.Columns) != len(n.Report.Covariates) {
				t.Fatalf("%d columns, %d in the report", len(n.Columns), len(n.Report.Covariates))
			}
			if _, err := covariate.Encode(n.Covariates(), n.IDs.Len(), covariate.Options{}); err != nil {
				t.Fatal(err)
			}
			return out + judged(t, n.Report, nil, fmt.Sprint(n.Columns, n.Name, n.Lat, n.Lon, n.X, n.Y, n.Cost, n.Allowed, n.Group))
		})
	})
}

// Times, exposures and wide tables: no panic, no line lost, and the same result however
// the file is cut.
func FuzzTimes(f *testing.F) {
	for _, text := range []string{
		"node,date,value\na,2024-01-01,1\nb,2024-W05,2\na,31 Jan 2024,3\n", "date,a,b,1\n2024-01-01 13:45Z,1,2,\n2024-01-02,NA,x,6\n",
		"node,2019,2020\na,1,2\nb,,4\n", "node,cases,expected,n\na,3,0.5,4\nb,2,0,1\na,1,1e308,1\n", "node;time;value\na;1,5;1\na;2;2\n",
		"node,year,month,value\na,2019,1,1\na,2020,2,3\n",
		"node,timestamp,value\na,1706659200,1\na,1706659260,0\n", "node,time,value\na,24:00,1\na,12:15 am,0\n",
		"node,date,value\na,01/31/0000,1\nb,9999-12-31,1\n",
	} {
		for b := range byte(32) {
			f.Add(text, b)
		}
	}
	g := ring("a", "b", "1", "2")
	f.Fuzz(func(t *testing.T, text string, b byte) {
		opts := Options{Times: []Times{TimesAuto, TimesKeep, TimesLatest, TimesIgnore}[b&3], Counts: b&4 != 0}
		opts.BadRows = []BadRows{BadRowsFail, BadRowsSkip}[b>>3&1]
		if b&16 != 0 {
			opts.Columns = map[Role]string{[]Role{RoleExposure, RoleTested, RoleTime, RoleTime}[b>>5&3]: "3"}
		}
		sameEverywhere(t, text, opts, func(text string, opts Options) string {
			m, err := ReadMeasurements(context.Background(), Reader("f", strings.NewReader(text)), g, opts)
			if err != nil {
				return judged(t, nil, err)
			}
			if n := len(m.Nodes); m.Time != nil && len(m.Time) != n || m.Exposures() != nil && len(m.Exposures()) != n || len(m.Count) != n {
				t.Fatalf("%d values, %d times, %d exposures, %d counts", n, len(m.Time), len(m.Exposures()), len(m.Count))
			}
			kind, why := m.Kind()
			out := fmt.Sprint(m.Nodes, m.Values, m.SD, m.Count, m.Scatter, m.Time, m.Exposures(), kind, why)
			for _, most := range []int{0, 2} {
				p := m.Periods(most)
				if p == nil {
					break
				}
				for k, of := range p.Of {
					if found, ok := p.Find(m.Time[k]); !ok || found != of || of >= p.Len() {
						t.Fatalf("time %v is in period %d of %d, and found in %d", m.Time[k], of, p.Len(), found)
					}
				}
				out += fmt.Sprint(p.Names, p.Times, p.Step)
			}
			return out + judged(t, m.Report, nil)
		})
	})
}

// Files of other programs: no panic, no row lost, and the same result however the rows
// are cut.
func FuzzForeign(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(formatFiles, "*.*"))
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if !strings.HasSuffix(file, ".py") {
			f.Add(string(text), byte(1))
			f.Add(string(text[:len(text)*2/3]), byte(2))
		}
	}
	f.Add(smallGML, byte(5))
	f.Add(`[["source","target"],["a","b"],[],["","c"]]`, byte(1))
	g := ring("a", "b", "N01", "2")
	f.Fuzz(func(t *testing.T, text string, b byte) {
		if formats.Detect("f", []byte(text)) == nil {
			return // the other readers have their own
		}
		sameEverywhere(t, text, choices(b), graphOutcome(t))
		sameEverywhere(t, text, choices(b), func(text string, opts Options) string {
			m, err := ReadMeasurements(context.Background(), Reader("f", strings.NewReader(text)), g, opts)
			if err != nil {
				return judged(t, nil, err)
			}
			return judged(t, m.Report, nil, fmt.Sprint(m.Nodes, m.Values, m.SD, m.Count))
		})
	})
}
