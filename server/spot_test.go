package server_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/server"
	"grfgp/server/servertest"
	"grfgp/study"
)

// spot is what the API tells of a trial or a candidate.
type spot struct {
	Node, Label, Why, Rule, State                 string
	Lat, Lon, X, Y                                *float64
	Lower, Upper, Lower999, Upper999, Above, Mean *float64
	Nearest                                       *struct {
		Node, Label, Unit string
		Distance          float64
	}
}

// A trial has the name and the place of its node, what may be measured there, and how far it is
// to the nearest measurement.
func TestSpots(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Must("POST", "/v1/studies", map[string]any{"name": "s", "graph": h.Coast(40), "goal": "minimize"}, nil)
	h.Observe(five)                                       // at n0 to n4
	h.Must("GET", "/v1/studies/s/map?wait=yes", nil, nil) // for places as well as predictions
	h.Must("POST", "/v1/studies/s/asks", map[string]any{"nodes": []string{"n14", "n6"}, "holder": "anna"}, nil)
	var got struct{ Trials []spot }
	h.Must("GET", "/v1/studies/s/trials", nil, &got)
	first := got.Trials[0]
	if first.Label != "Pier 14" || *first.Lat != 37.14 || *first.Lon != -121.9 || first.X == nil || first.Y == nil {
		t.Errorf("where: %+v", first)
	}
	if n := first.Nearest; n == nil || n.Node != "n4" || n.Label != "Pier 4" || n.Unit != "m" || math.Abs(n.Distance-11_119.5) > 1 {
		t.Errorf("nearest: %+v", n)
	}
	if *first.Upper-*first.Lower < 1.9 || *first.Upper999 <= *first.Upper || *first.Lower999 >= *first.Lower {
		t.Errorf("expected: %v to %v, %v to %v", *first.Lower, *first.Upper, *first.Lower999, *first.Upper999)
	}
	for _, part := range []string{"Chosen by anna.", "Nobody has measured within 11 km.", "could be anything from 0.",
		"so it may be the lowest."} {
		if !strings.Contains(first.Why, part) {
			t.Errorf("%q says nothing of %q", first.Why, part)
		}
	}
	if first.Rule != "chosen by anna" || got.Trials[1].Why == first.Why {
		t.Errorf("%q, %q", first.Rule, got.Trials[1].Why)
	}
	h.Must("PUT", "/v1/studies/s/trials/1/result", map[string]any{"value": 2}, nil)
	got.Trials = nil
	h.Must("GET", "/v1/studies/s/trials", nil, &got)
	if done := got.Trials[0]; done.Label != "Pier 14" || done.Why != "chosen by anna" || done.Nearest != nil || done.Lower != nil {
		t.Errorf("done: %+v", done)
	}

	var nodes struct {
		Nodes []struct {
			Label   string
			Lat     float64
			Nearest struct{ Node string }
		}
	}
	h.Must("GET", "/v1/studies/s/predictions?node=n20", nil, &nodes)
	if n := nodes.Nodes[0]; n.Label != "Pier 20" || n.Lat != 37.2 || n.Nearest.Node != "n14" {
		t.Errorf("%+v", n)
	}
	table := string(h.Must("GET", "/v1/studies/s/predictions?format=csv&sort=-mean", nil, nil).Body)
	if !strings.HasPrefix(table, "node,label,lat,lon,mean,sd,lower,upper,reading_lower,reading_upper,measured,value,n\nn") ||
		strings.Count(table, "\n") != 41 {
		t.Errorf("%.200s", table)
	}
}

// Every goal has a reason of its own, which differs from card to card; so have nodes that are
// drawn at random.
func TestReasons(t *testing.T) {
	t.Parallel()
	for goal, part := range map[string]string{
		"maximize":    "so it may be the highest.",
		"minimize":    "so it may be the lowest.",
		"learn":       "so a reading here could tell much about the nodes around it.",
		"threshold=2": "and the chance of being above 2 is ",
	} {
		t.Run(goal, func(t *testing.T) {
			l := servertest.Village(t)
			l.Nodes.X, l.Nodes.Y = nil, nil
			h := l.Host(t, goal, "s")
			var got struct{ Candidates []spot }
			h.Must("GET", "/v1/studies/s/candidates?count=4", nil, &got)
			seen := map[string]bool{}
			for _, c := range got.Candidates {
				if !strings.Contains(c.Why, "could be") || c.Nearest == nil || c.Nearest.Unit != "hops" || c.Nearest.Distance < 1 || c.Lower == nil ||
					seen[c.Why] {
					t.Errorf("%+v", c)
				}
				seen[c.Why] = true
				if (c.Above != nil) != strings.HasPrefix(goal, "threshold") {
					t.Errorf("above: %v", c.Above)
				}
			}
			if all := fmt.Sprint(seen); !strings.Contains(all, part) {
				t.Errorf("%s does not say %q", all, part)
			}
		})
	}
	t.Run("random", func(t *testing.T) {
		h := newHost(t, func(o *server.Options) { o.NewEngine = nil })
		h.Create(30)
		var got struct{ Candidates []spot }
		h.Must("GET", "/v1/studies/s/candidates?count=2", nil, &got)
		if why := got.Candidates[0].Why; why != "Picked at random, because nothing has been measured yet." {
			t.Error(why)
		}
		h.Observe(map[string]float64{"n0": 1, "n1": 2})
		h.Must("GET", "/v1/studies/s/candidates?count=2", nil, &got)
		for _, c := range got.Candidates {
			if !strings.HasPrefix(c.Why, "Picked at random, because there are too few values to predict from. The nearest reading, at n") {
				t.Error(c.Why)
			}
		}
	})
}

// Nodes that are likely above the level of a study are listed and counted.
func TestAbove(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Create(30, func(s *study.Settings) { s.Goal = "threshold=1.81" })
	h.Observe(five)
	var got struct {
		Level float64
		Above int
		Nodes []struct {
			Node  string
			Above float64
		}
	}
	h.Must("GET", "/v1/studies/s/predictions?sort=-above&limit=3", nil, &got)
	if got.Level != 1.81 || got.Above != 19 || len(got.Nodes) != 3 || got.Nodes[0].Above < got.Nodes[2].Above || got.Nodes[0].Above < 0.5 {
		t.Errorf("%+v", got)
	}
	if table := string(h.Must("GET", "/v1/studies/s/predictions?format=csv", nil, nil).Body); !strings.HasPrefix(table,
		"node,mean,sd,lower,upper,reading_lower,reading_upper,above,measured,value,n\n") {
		t.Errorf("%.100s", table)
	}
	h.Create(30, func(s *study.Settings) { s.Name = "t" })
	h.Must("POST", "/v1/studies/t/observations", `{"observations":[{"node":"n0","value":1},{"node":"n1","value":2},{"node":"n2","value":1},`+
		`{"node":"n3","value":2},{"node":"n4","value":3}]}`, nil)
	h.refused("malformed", 400, "GET", "/v1/studies/t/predictions?sort=above", nil)
}

// What was measured before the first ask is no merit of the search.
func TestHistoryBeforeTheFirstAsk(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Create(30)
	h.Observe(five)
	var got struct {
		Before int
		Points []struct{ Best float64 }
		Random *struct{ Low, High []float64 }
	}
	h.Must("GET", "/v1/studies/s/history?random=yes", nil, &got)
	if got.Before != 5 || got.Random != nil {
		t.Errorf("nobody has asked: %+v", got)
	}
	h.Must("POST", "/v1/studies/s/asks", `{}`, nil)
	h.Must("PUT", "/v1/studies/s/trials/1/result", `{"value":2}`, nil)
	h.Must("GET", "/v1/studies/s/history?random=yes", nil, &got)
	if got.Before != 5 || len(got.Points) != 6 || got.Random == nil || len(got.Random.Low) != 1 || got.Random.Low[0] != 3 {
		t.Errorf("a random search begins with the 3 that was known: %+v", got)
	}
}

// BenchmarkNearest finds the nearest measurements of a hundred trials among a million nodes.
func BenchmarkNearest(b *testing.B) {
	g, err := graph.Grid(1000, 1000)
	if err != nil {
		b.Fatal(err)
	}
	net := &graphio.Network{Graph: g, Nodes: &graphio.NodeTable{IDs: g.IDs()}}
	b.Run("hops", func(b *testing.B) { server.RunNearest(b, net, 10_000) })
	for i := range g.Len() {
		net.Nodes.Lat, net.Nodes.Lon = append(net.Nodes.Lat, float64(i/1000)/100), append(net.Nodes.Lon, float64(i%1000)/100)
	}
	b.Run("places", func(b *testing.B) { server.RunNearest(b, net, 10_000) })
}
