package server_test

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"grfgp/study"
)

// Pages put together are the whole, in every order and for every size.
func TestPages(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Create(30)
	h.Must("POST", "/v1/studies/s/asks", `{"count":7}`, nil)
	h.Must("POST", "/v1/studies/s/trials/3/release", nil, nil)
	h.Must("POST", "/v1/studies/s/trials/7/release", nil, nil)
	for _, test := range []struct {
		query string
		want  string
		total int
	}{
		{"order=asc", "[1 2 3 4 5 6 7]", 7},
		{"order=desc", "[7 6 5 4 3 2 1]", 7},
		{"state=pending", "[1 2 4 5 6]", 5},
		{"state=released&order=desc", "[7 3]", 2},
		{"state=released&state=pending", "[1 2 3 4 5 6 7]", 7},
		{"state=done", "[]", 0},
	} {
		for limit := 1; limit <= 8; limit++ {
			seen := []int{}
			for after := ""; ; {
				var page struct {
					Trials      []study.Trial
					Total, Next int
				}
				h.Must("GET", fmt.Sprintf("/v1/studies/s/trials?%s&limit=%d%s", test.query, limit, after), nil, &page)
				for _, trial := range page.Trials {
					seen = append(seen, trial.Trial)
				}
				if page.Total != test.total || len(page.Trials) > limit {
					t.Errorf("%s: %+v", test.query, page)
				}
				if page.Next == 0 {
					break
				}
				after = fmt.Sprintf("&after=%d", page.Next)
			}
			if fmt.Sprint(seen) != test.want {
				t.Errorf("%s by %d: %v, want %s", test.query, limit, seen, test.want)
			}
		}
	}
	h.refused("malformed", 400, "GET", "/v1/studies/s/trials?state=lost", nil)
}

func TestPredictionPages(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Create(30)
	h.refused("no-model", 409, "GET", "/v1/studies/s/predictions", nil)
	h.refused("no-model", 409, "GET", "/v1/studies/s/calibration", nil)
	h.refused("no-model", 409, "GET", "/v1/studies/s/effects", nil)
	h.Observe(five)
	type page struct {
		Total int
		Nodes []struct {
			Number                 int
			Node                   string
			Mean, SD, Lower, Upper float64
		}
		Next *int
	}
	var seen []int
	var means []float64
	for after := -1; ; {
		var p page
		h.Must("GET", fmt.Sprintf("/v1/studies/s/predictions?limit=7&after=%d", after), nil, &p)
		for _, n := range p.Nodes {
			seen, means = append(seen, n.Number), append(means, n.Mean)
			if want := fmt.Sprintf("n%d", n.Number); n.Node != want { // numbers are those of the file's order
				t.Errorf("node %d is %s, want %s", n.Number, n.Node, want)
			}
			if math.Abs(n.Upper-n.Mean-1.96*n.SD) > 1e-3 || math.Abs(n.Mean-n.Lower-1.96*n.SD) > 1e-3 {
				t.Errorf("interval %+v", n)
			}
		}
		if p.Next == nil {
			break
		}
		after = *p.Next
	}
	if len(seen) != 30 || !slices.IsSorted(seen) || seen[29] != 29 {
		t.Errorf("nodes %v", seen)
	}
	var top page
	if h.Must("GET", "/v1/studies/s/predictions?sort=-mean&limit=2", nil, &top); len(top.Nodes) != 2 ||
		top.Nodes[0].Mean != slices.Max(means) || means[top.Nodes[0].Number] != slices.Max(means) || top.Next != nil {
		t.Errorf("highest %+v", top)
	}
	if h.Must("GET", "/v1/studies/s/predictions?node=n7&node=n2", nil, &top); len(top.Nodes) != 2 || top.Nodes[0].Node != "n7" ||
		top.Nodes[1].Node != "n2" {
		t.Errorf("some %+v", top)
	}
	h.refused("not-found", 404, "GET", "/v1/studies/s/predictions?node=zz", nil)
	if c := readColumns(t, h.Must("GET", "/v1/studies/s/predictions?format=columns", nil, nil).Body); len(c.floats["mean"]) != 30 ||
		len(c.floats["sd"]) != 30 {
		t.Errorf("columns %s", c.head)
	} else {
		for k, v := range c.floats["mean"] {
			if math.Abs(float64(v)-means[k]) > 1e-6 {
				t.Errorf("mean %v of node %d, want %v", v, k, means[k])
			}
		}
	}
}

// A spreadsheet must not take ids, nor what people wrote, for a formula; others come back
// as they were.
func TestCSVIsText(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	shown := map[string]string{"=1+1": "'=1+1", "@SUM(A1)": "'@SUM(A1)", "-2+3|cmd": "'-2+3|cmd"}
	ids := []string{"-2+3|cmd", "=1+1", "+1", "-1", "@SUM(A1)", "a=b", "\"quoted\"", "x,y"}
	var edges strings.Builder
	w := csv.NewWriter(&edges)
	w.Write([]string{"source", "target"})
	for k := range ids {
		w.Write([]string{ids[k], ids[(k+1)%len(ids)]})
	}
	w.Flush()
	var g struct{ ID string }
	h.Must("POST", "/v1/graphs", edges.String(), &g, "Content-Type: text/csv")
	h.Must("POST", "/v1/studies", study.Settings{Name: "s", Graph: g.ID}, nil)
	values := map[string]float64{}
	for k, id := range ids {
		values[id] = float64(k)
	}
	h.Observe(values)
	h.Must("POST", "/v1/studies/s/observations", `{"observations":[{"node":"-1","value":2}],"by":"=1+1","note":"-1"}`, nil)
	for _, list := range []string{"predictions", "observations", "trials"} {
		text := string(h.Must("GET", "/v1/studies/s/"+list+"?format=csv", nil, nil).Body)
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows[1:] {
			for k, cell := range row {
				switch name := rows[0][k]; {
				case name == "node" && !slices.ContainsFunc(ids, func(id string) bool { return cell == cmp.Or(shown[id], id) }):
					t.Errorf("%s: there is no node %q", list, cell)
				case name == "by" && strings.HasPrefix(cell, "="):
					t.Errorf("%s: %q is a formula", list, cell)
				case name == "note" && cell != "" && cell != "-1":
					t.Errorf("%s: the number -1 became %q", list, cell)
				case name == "measured" && cell != "true" && cell != "false":
					t.Errorf("%s: measured is %q", list, cell)
				}
			}
		}
		if list == "predictions" && (len(rows) != len(ids)+1 ||
			strings.Join(rows[0], ",") != "node,mean,sd,lower,upper,reading_lower,reading_upper,measured,value,n") {
			t.Errorf("predictions: %v", rows)
		}
	}
}

// What chance would have found grows with every try, and lies within what there is.
func TestRandomBand(t *testing.T) {
	t.Parallel()
	for _, goal := range []string{"maximize", "minimize"} {
		h := newHost(t)
		h.Must("POST", "/v1/studies", map[string]any{"name": "s", "graph": h.PutRing(1000), "goal": goal}, nil)
		h.Must("POST", "/v1/studies/s/asks", `{"count":95}`, nil)
		h.Observe(five) // what was there before the first ask is no part of the search
		for k := range 95 {
			h.Must("PUT", fmt.Sprintf("/v1/studies/s/trials/%d/result", k+1), `{"value":2}`, nil)
		}
		var history struct {
			Points []struct{ Best *float64 }
			Random struct{ Low, Middle, High []float64 }
		}
		h.Must("GET", "/v1/studies/s/history?random=yes", nil, &history)
		b := history.Random
		if len(history.Points) != 100 || len(b.Low) != 100 || len(b.Middle) != 100 || len(b.High) != 100 || history.Points[99].Best == nil {
			t.Fatalf("%s: %d points, %d in the band", goal, len(history.Points), len(b.Low))
		}
		// Means are evenly spread over one unit: the middle of the best of k is at 0.5^(1/k).
		for k := range 100 {
			found := b.Middle[k] - b.Middle[0] + 0.5
			if goal == "minimize" {
				found = 0.5 - (b.Middle[k] - b.Middle[0])
			}
			if want := math.Pow(0.5, 1/float64(k+1)); math.Abs(found-want) > 0.003 || b.Low[k] > b.Middle[k] || b.Middle[k] > b.High[k] {
				t.Errorf("%s, best of %d: %v, want %v; %v %v %v", goal, k+1, found, want, b.Low[k], b.Middle[k], b.High[k])
			}
		}
	}
}

// Looking at what would come next reserves nothing, and is what comes next.
func TestCandidatesComeNext(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Create(30)
	h.Observe(five)
	var looked, again struct{ Candidates []struct{ Node string } }
	h.Must("GET", "/v1/studies/s/candidates?count=4", nil, &looked)
	h.Must("GET", "/v1/studies/s/candidates?count=4", nil, &again)
	var a asked
	h.Must("POST", "/v1/studies/s/asks", `{"count":4}`, &a)
	for k, trial := range a.Trials {
		if looked.Candidates[k].Node != trial.Node || again.Candidates[k].Node != trial.Node {
			t.Errorf("candidate %d is %s and then %s, the trial %s", k, looked.Candidates[k].Node, again.Candidates[k].Node, trial.Node)
		}
	}
	h.refused("malformed", 400, "GET", "/v1/studies/s/candidates?count=101", nil)
}

// The same settings again are fine; others under the same name are a conflict.
func TestCreateAgain(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	settings := map[string]any{"name": "s", "graph": h.PutRing(10), "goal": "learn"}
	if a := h.Do("POST", "/v1/studies", settings); a.Status != 201 || a.Header.Get("Location") != "studies/s" {
		t.Errorf("new: %d %s", a.Status, a.Body)
	}
	if a := h.Do("POST", "/v1/studies", settings); a.Status != 200 || a.Header.Get("Location") != "" {
		t.Errorf("again: %d %s", a.Status, a.Body)
	}
	settings["goal"] = "maximize"
	h.refused("conflict", 409, "POST", "/v1/studies", settings)
	if a := h.Do("POST", "/v1/graphs", ring(10), "Content-Type: text/csv"); a.Status != 200 {
		t.Errorf("the graph again: %d", a.Status)
	}
	h.Must("POST", "/v1/studies", map[string]any{"name": "Übersicht-1", "graph": h.PutRing(10)}, nil)
	h.Must("GET", "/v1/studies/%C3%9Cbersicht-1", nil, nil)
}
