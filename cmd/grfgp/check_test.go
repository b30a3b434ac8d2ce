package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// folder writes files into a fresh folder and returns a path of each.
func folder(t *testing.T, files map[string]string) func(name string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(name string) string { return filepath.Join(dir, name) }
}

var checkFiles = map[string]string{
	"roads.csv":  "\ufefffrom;to;length_m;weight\r\nA;B;10;1,5\r\nB;C;20;0,75\r\nB;A;10;1,5\r\nC;C;1;1\r\n\r\nD;E;3;5\r\n",
	"nodes.csv":  "id,lat,lon,allowed\nlone,48,9,yes\nA,48.1,9.1,yes\nB,48.2,9.2,no\n",
	"speeds.csv": "station,speed\nA,50\nC,NA\nA,54\nZ,1\nB,40\n",
	"far.csv":    "from,to,km\nA,B,12\n",
	"bad.csv":    "u,v,w\na,b,1\nb,c,x\n",
	"badm.csv":   "node,value\na,fast\nb,2\n",
}

const checkedRoads = `edges           roads.csv
  format        delimited text, delimiter semicolon, decimal comma, names from line 1
  source        column 1 "from" (by name)
  target        column 2 "to" (by name)
  weight        column 4 "weight" (by name)
  not used      length_m
  weights       as given: larger means more similar
  ledger        7 lines = 1 header + 3 edges + 1 repeat + 1 self loop + 1 blank
  note          column length_m looks like a distance and is not used; the weight is column weight
  note          repeated edges: 1; their weights were added up
  note          1 edge is listed in both directions, and others in one: edges have no direction here, and lead both ways
  note          edges from a node to itself: 1; left out; keep them with --keep-loops
  note          nodes that are in the edges but not in the node table: 3, such as "C", "D" and "E"; they are taken as not allowed
  note          nodes of the node table that have no edge to another node: 1, such as "lone"; check their ids against those of the edges

nodes           nodes.csv
  format        delimited text, delimiter comma, names from line 1
  id            column 1 "id" (by name)
  lat           column 2 "lat" (by name)
  lon           column 3 "lon" (by name)
  allowed       column 4 "allowed" (by name)
  ledger        4 lines = 1 header + 3 rows

measurements    speeds.csv
  format        delimited text, delimiter comma, names from line 1
  node          column 1 "station" (by name)
  value         column 2 "speed" (by name)
  ledger        6 lines = 1 header + 2 rows + 1 repeat + 1 missing value + 1 unknown id
  missing       1 value
  note          1 of 5 rows has an id that is not in the graph, such as "Z"; they are left out
  note          a node without an edge is part of the graph if a node table lists it

graph           6 nodes, 3 edges
  degrees       0 to 2, median 1
  weights       0.75 to 5
  components    3, of 3, 2 and 1 nodes (6 in all)
  isolated      1 node
  measured      2 of 6 nodes (33.3 %), 3 measurements
  values        40 to 52, mean 46, sd 6
  unmeasured    components without a measurement: 2, of 2 and 1 nodes (3 in all); predictions there equal the prior: the overall mean with the largest uncertainty

predict         less than 0.1 s and 10 MiB, everything automatic (method dense)
validate        less than 0.1 s and 10 MiB, everything automatic (method dense)
device          processor only
`

func TestCheck(t *testing.T) {
	t.Parallel()
	path := folder(t, checkFiles)
	args := []string{"check", "--edges", path("roads.csv"), "--nodes", path("nodes.csv"), "--measurements", path("speeds.csv"), "--on-unknown",
		"skip"}
	r := runLine(t, "", args...)
	got := strings.ReplaceAll(r.out, path("")+string(filepath.Separator), "")
	cost := regexp.MustCompile(`(?m)(about|less).* everything|^device .*`) // a matter of the root package, and of the machine
	if cost.ReplaceAllString(got, "") != cost.ReplaceAllString(checkedRoads, "") || r.code != exitOK {
		t.Errorf("exit %d\n%s\nwant\n%s", r.code, got, checkedRoads)
	}

	r = runLine(t, "", append(args, "--json")...)
	var answer checkAnswer
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil || answer.Version != 1 {
		t.Fatalf("%v in %s", err, r.out)
	}
	if !answer.Edges.Ledger.Balanced() || answer.Edges.Ledger.Total != 7 || answer.Measurements.Ledger.Unknown != 1 ||
		answer.Nodes.Nodes != 3 {
		t.Errorf("%+v", answer)
	}
	if answer.Graph.Components.Count != 3 || answer.Measured.Unmeasured.Nodes != 3 || answer.Features != nil || len(answer.Runs) != 2 ||
		answer.Runs[0].Bytes == 0 {
		t.Errorf("%+v %+v %+v", answer.Graph, answer.Measured, answer.Runs)
	}
}

// TestCheckRanks: the plan of several processes has a row for each of them, which together own all nodes.
func TestCheckRanks(t *testing.T) {
	t.Parallel()
	r := runLine(t, "", "check", "--generate", "grid:60x70", "--ranks", "3")
	if r.code != exitOK || !regexp.MustCompile(`(?s)shared by 3 processes.*rank +nodes +memory +rim .*\n +2 +\d+ +\d`).MatchString(r.out) {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	r = runLine(t, "", "check", "--generate", "grid:60x70", "--ranks", "3", "--json")
	var answer checkAnswer
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil || answer.Ranks == nil || len(answer.Ranks.Shares) != 3 {
		t.Fatalf("%v in %s", err, r.out)
	}
	nodes := 0
	for _, s := range answer.Ranks.Shares {
		nodes += s.Len()
		if s.Rim == 0 || s.Bytes == 0 || s.Exchange != 16*int64(s.Rim+s.Lent) {
			t.Errorf("share %+v", s)
		}
	}
	if nodes != 4200 {
		t.Errorf("the processes own %d nodes of 4200", nodes)
	}
	if r := runLine(t, "", "check", "--generate", "grid:6x7", "--ranks", "-1"); r.code != exitUsage {
		t.Errorf("-1 ranks: exit %d", r.code)
	}
}

func TestCheckErrors(t *testing.T) {
	t.Parallel()
	path := folder(t, checkFiles)
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--edges far.csv", exitUsage, "far.csv: column km looks like a distance"},
		{"--edges bad.csv", exitBadData, `bad.csv:3:5: weight "x" is not a number`},
		{"--edges none.csv", exitUsage, "none.csv: there is no such file; check the name"},
		{"--edges roads.csv --measurements badm.csv", exitBadData, "badm.csv:2:3: value \"fast\" is not a number"},
		{"--edges roads.csv --measurements speeds.csv --repeats error", exitBadData, "was already measured on line 2"},
		{"--edges roads.csv --measurements speeds.csv --repeats never", exitUsage, `"never"`},
		{"--edges - --measurements -", exitUsage, "only one file can come from standard input"},
		{"--edges roads.csv --column colour=x", exitUsage, `there is no role "colour"`},
		{"--edges roads.csv --header perhaps", exitUsage, "give auto, yes or no"},
		{"--edges roads.csv --delimiter trees=tab", exitUsage, "give auto, comma"},
		{"--nodes nodes.csv --knn 2 --column lat=id", exitBadData, `lat "lone" is not a number`},
	} {
		args := []string{"check"}
		for _, arg := range strings.Fields(c.args) {
			if strings.HasSuffix(arg, ".csv") {
				arg = path(arg)
			}
			args = append(args, arg)
		}
		if r := runLine(t, "", args...); r.code != c.code || r.out != "" || !strings.Contains(r.err, c.want) {
			t.Errorf("check %s: exit %d, %q; want exit %d and %q", c.args, r.code, r.err, c.code, c.want)
		}
	}
}

// Flags for one file leave the others alone.
func TestCheckFlagsPerFile(t *testing.T) {
	t.Parallel()
	path := folder(t, map[string]string{"e.csv": "Ann,Bob\nBob,Cid\n", "m.csv": "Ann,3\nBob,4\n"})
	r := runLine(t, "", "check", "--edges", path("e.csv"), "--measurements", path("m.csv"), "--header", "edges=yes", "--delimiter",
		"measurements=comma", "--on-unknown", "skip")
	if r.code != exitOK || !strings.Contains(r.out, "2 lines = 1 header + 1 edge\n") ||
		!strings.Contains(r.out, "2 lines = 1 row + 1 unknown id\n") {
		t.Errorf("%+v", r)
	}
}

// The rejected rows of all files go to one file, which is only there on success.
func TestCheckRejects(t *testing.T) {
	t.Parallel()
	path := folder(t, checkFiles)
	args := []string{"check", "--edges", path("bad.csv"), "--rejects", path("rejects"), "--on-bad-row", "skip"}
	if r := runLine(t, "", append(args, "--measurements", path("badm.csv"))...); r.code != exitOK {
		t.Fatalf("%+v", r)
	}
	if got, err := os.ReadFile(path("rejects")); err != nil || string(got) != "b,c,x\na,fast\n" {
		t.Errorf("%q, %v", got, err)
	}
	if err := os.Remove(path("rejects")); err != nil {
		t.Fatal(err)
	}
	if r := runLine(t, "", append(args, "--measurements", path("none"))...); r.code != exitUsage {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(path("rejects")); err == nil {
		t.Error("a failed run left its rejects")
	}
}

func TestCheckStandardInput(t *testing.T) {
	t.Parallel()
	r := runLine(t, "a,b\nb,c\n", "check", "--edges", "-", "-q")
	if r.code != exitOK || !strings.Contains(r.out, "standard input") || r.err != "" {
		t.Errorf("%+v", r)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r := runLineContext(t, ctx, "a,b\n", "check", "--edges", "-"); r.code != exitInterrupted || r.out != "" {
		t.Errorf("%+v", r)
	}
}

func TestCheckNearest(t *testing.T) {
	t.Parallel()
	path := folder(t, checkFiles)
	r := runLine(t, "", "check", "--nodes", path("nodes.csv"), "--knn", "1", "--json")
	var answer checkAnswer
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil || answer.Edges != nil || answer.Graph.Edges != 2 ||
		answer.Nodes.Ledger.Rows != 3 {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestCheckHugeValues(t *testing.T) {
	t.Parallel()
	path := folder(t, map[string]string{"e.csv": "1,2\n2,3\n", "m.csv": "node,value\n1,1.7e308\n2,-1.7e308\n3,1.7e308\n"})
	r := runLine(t, "", "check", "--edges", path("e.csv"), "--measurements", path("m.csv"), "--json")
	var answer checkAnswer
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil || r.code != exitOK || answer.Measured.Max != 1.7e308 ||
		answer.Measured.SD < 1e308 {
		t.Errorf("%v, %+v", err, r)
	}
}
