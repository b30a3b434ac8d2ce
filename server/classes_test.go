package server_test

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/server"
	"grfgp/store"
	"grfgp/study"
)

// ofClasses makes a study one of classes: the two halves of the ring.
func ofClasses(s *study.Settings) {
	s.Goal, s.Classes = bayesopt.Learn, []string{"left", "right"}
	s.Spec = grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Scales: "one"}, Roles: "none"}
}

// half is the class of a node of a ring.
func half(node string, nodes int) string {
	var k int
	fmt.Sscanf(node, "n%d", &k)
	if k < nodes/2 {
		return "left"
	}
	return "right"
}

// Classes travel with the results, and probabilities with the predictions; every answer is
// as the document says.
func TestClasses(t *testing.T) {
	t.Parallel()
	const nodes = 24
	kept := openStore(t, store.Memory)
	h := newHost(t, func(o *server.Options) { o.NewEngine, o.Store = nil, kept })
	d := readDocument(t)
	h.Create(nodes, ofClasses)
	var shown struct {
		Settings study.Settings
		Classes  []study.ClassCount
	}
	h.Must("GET", "/v1/studies/s", nil, &shown)
	if !shown.Settings.Labels || !slices.Equal(shown.Classes, []study.ClassCount{{Class: "left"}, {Class: "right"}}) {
		t.Errorf("%+v", shown)
	}
	var ask study.Ask
	h.Must("POST", "/v1/studies/s/asks", map[string]any{"count": 2}, &ask)
	for body, words := range map[string]string{`{"value":3}`: "classes", `{"value":0}`: "classes",
		`{"class":"middle"}`: "no class of this study"} {
		if p := h.refused("wrong-kind", 422, "PUT", "/v1/studies/s/trials/1/result", body); !strings.Contains(p.Detail, words) {
			t.Errorf("%s: %+v", body, p)
		}
	}
	h.refused("malformed", 400, "PUT", "/v1/studies/s/trials/1/result", `{"value":3,"class":"left"}`)
	h.refused("malformed", 400, "PUT", "/v1/studies/s/trials/1/result", `{"failed":true,"class":"left"}`)
	h.refused("wrong-kind", 422, "POST", "/v1/studies/s/observations", `{"observations":[{"node":"n1","value":2}]}`)
	h.refused("malformed", 400, "POST", "/v1/studies/s/observations", `{"observations":[{"node":"n1","value":2,"class":"left"}]}`)
	h.refused("malformed", 400, "POST", "/v1/studies/s/observations", `{"observations":[{"node":"n1"}]}`)
	h.refused("no-model", 409, "GET", "/v1/studies/s/predictions", nil)
	h.refused("no-model", 409, "GET", "/v1/studies/s/calibration", nil)

	for _, i := range ask.Trials {
		a := h.Must("PUT", fmt.Sprintf("/v1/studies/s/trials/%d/result", i.Trial), map[string]any{"class": half(i.Node, nodes)}, nil)
		d.conforms(t, "PUT", "/v1/studies/{s}/trials/{t}/result", a)
	}
	a := h.Must("POST", "/v1/studies/s/observations", `{"observations":[{"node":"n1","class":"left"},{"node":"n5","class":"left"},`+
		`{"node":"n7","class":"left"},{"node":"n9","class":"left"},{"node":"n14","class":"right"},{"node":"n16","class":"right"},`+
		`{"node":"n18","class":"right"},{"node":"n20","class":"right"}]}`, nil)
	d.conforms(t, "POST", "/v1/studies/{s}/observations", a)
	h.Must("POST", "/v1/studies/s/asks", map[string]any{"count": 1}, &ask)
	if i := ask.Trials[0]; i.Expected == "" || i.Probability == nil || i.Mean != nil {
		t.Errorf("%+v", i)
	}
	for _, path := range []string{"", "/trials", "/observations", "/predictions", "/predictions?sort=-probability&limit=3", "/calibration",
		"/history?random=yes", "/candidates?count=2", "/nodes?node=n1&node=n17", "/events"} {
		route, _, _ := strings.Cut(path, "?")
		d.conforms(t, "GET", "/v1/studies/{s}"+route, h.Must("GET", "/v1/studies/s"+path, nil, nil))
	}
	h.refused("wrong-kind", 422, "GET", "/v1/studies/s/effects", nil)
	h.refused("malformed", 400, "GET", "/v1/studies/s/predictions?sort=mean", nil)

	var p struct {
		Classes []string
		Nodes   []struct {
			Class, Told   string
			Probability   float64
			Probabilities []float64
			Mean          *float64
		}
	}
	h.Must("GET", "/v1/studies/s/predictions?node=n1&node=n17", nil, &p)
	one, other := p.Nodes[0], p.Nodes[1]
	if !slices.Equal(p.Classes, shown.Settings.Classes) || one.Told != "left" || one.Class != "left" || one.Mean != nil ||
		one.Probabilities[0] != one.Probability {
		t.Errorf("%+v", p)
	}
	if other.Told != "" && half("n17", nodes) != other.Told || other.Class != "right" || !(other.Probability > 0.5) {
		t.Errorf("%+v", other)
	}
	var c struct {
		Accuracy  float64
		Confusion [][]int
		Left      []struct{ Node, Class, Predicted string }
		Baselines map[string]struct{ Accuracy float64 }
	}
	h.Must("GET", "/v1/studies/s/calibration", nil, &c)
	sum := 0
	for _, row := range c.Confusion {
		for _, n := range row {
			sum += n
		}
	}
	if len(c.Left) == 0 || sum != len(c.Left) || c.Accuracy <= 0.5 || len(c.Baselines) != 2 {
		t.Errorf("%+v", c)
	}
	rows := func(path string) [][]string {
		table, err := csv.NewReader(strings.NewReader(string(h.Do("GET", path, nil).Body))).ReadAll()
		if err != nil || len(table) < 2 {
			t.Fatalf("%s: %v, %v", path, table, err)
		}
		return table
	}
	if table := rows("/v1/studies/s/predictions?format=csv"); fmt.Sprint(
		table[0]) != "[node class probability measured told n p_left p_right]" || len(table) != nodes+1 {
		t.Errorf("%v", table[:2])
	}
	if table := rows("/v1/studies/s/observations?format=csv"); table[1][2] != "" ||
		!slices.Contains(shown.Settings.Classes, table[1][len(table[1])-1]) {
		t.Errorf("%v", table[:2])
	}
	if a := h.Must("GET", "/v1/studies/s/predictions?format=columns", nil, nil); !strings.Contains(string(a.Body),
		`"classes":["left","right"]`) {
		t.Error("the columns do not name the classes")
	}

	if a := h.Must("GET", "/v1/studies/s/map?wait=yes", nil, nil); !strings.Contains(string(a.Body), `"classes":["left","right"]`) ||
		!strings.Contains(string(a.Body), `"name":"mark_probability"`) {
		t.Error("the map does not have the classes")
	}
	var facts struct {
		Nodes []struct {
			Told    string
			Value   *float64
			Chances []struct {
				Class       string
				Probability float64
			}
		}
	}
	h.Must("GET", "/v1/studies/s/nodes?node=n1", nil, &facts)
	if n := facts.Nodes[0]; n.Told != "left" || n.Value != nil || len(n.Chances) != 2 || n.Chances[0].Class != "left" ||
		n.Chances[0].Probability != one.Probability {
		t.Errorf("%+v", n)
	}

	// Another process goes on as this one would: the same node comes next.
	var before, after struct{ Candidates []struct{ Node string } }
	h.Must("GET", "/v1/studies/s/candidates?count=3", nil, &before)
	again := newHost(t, func(o *server.Options) { o.NewEngine, o.Store = nil, kept })
	again.Must("GET", "/v1/studies/s/candidates?count=3", nil, &after)
	if len(before.Candidates) != 3 || !slices.Equal(before.Candidates, after.Candidates) {
		t.Errorf("%v, after a restart %v", before, after)
	}
}

// A study of values takes no classes.
func TestClassInAStudyOfValues(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Create(10)
	h.Must("POST", "/v1/studies/s/asks", nil, nil)
	h.refused("wrong-kind", 422, "PUT", "/v1/studies/s/trials/1/result", `{"class":"left"}`)
	h.refused("wrong-kind", 422, "POST", "/v1/studies/s/observations", `{"observations":[{"node":"n1","class":"left"}]}`)
	h.refused("invalid", 400, "POST", "/v1/studies", map[string]any{"name": "c", "graph": h.PutRing(10), "labels": true})
}

// A file of labels becomes a study of classes.
func TestDraftOfClasses(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(o *server.Options) { o.NewEngine = nil })
	labels := "node,kind\nn0,oak\nn1,\nn3,beech\n"
	a := h.draft(formPart{"options", `{"values": "class"}`}, formPart{"edges", ring(8)}, formPart{"measurements", labels},
		formPart{"costs", "node,cost\nn1,2\nn2,1\nn4,1\nn5,1\nn6,2\nn7,3\n"})
	if a.Values != 2 || a.Draft == "" {
		t.Fatalf("%+v", a)
	}
	var made struct{ Classes []study.ClassCount }
	h.Must("POST", "/v1/studies?draft="+a.Draft, map[string]any{"name": "trees", "goal": "learn", "labels": true}, nil)
	if h.Must("GET", "/v1/studies/trees", nil, &made); !slices.Equal(made.Classes,
		[]study.ClassCount{{Class: "oak", Count: 1}, {Class: "beech", Count: 1}}) {
		t.Errorf("%+v", made)
	}
	asked := h.draft(formPart{"options", `{}`}, formPart{"edges", ring(8)}, formPart{"measurements", labels})
	if c := asked.Questions[0].Choices; c[len(c)-1].Set[0].Value != "class" {
		t.Errorf("%+v", asked.Questions)
	}
	if b := h.draft(formPart{"options", `{"values": "class"}`}, formPart{"edges", ring(8)},
		formPart{"measurements", labels + "n99,oak\n"}); b.Draft != "" || b.Questions[0].Code != "unknown" {
		t.Errorf("%+v", b)
	}
}

// Observations of classes have the names of their nodes, too.
func TestNamesOfLabelledNodes(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(o *server.Options) { o.NewEngine = nil })
	h.Must("POST", "/v1/studies", map[string]any{"name": "s", "graph": h.Coast(6), "goal": "learn", "classes": []string{"a", "b"}}, nil)
	h.Must("POST", "/v1/studies/s/observations", `{"observations":[{"node":"n1","class":"a"}]}`, nil)
	var list struct {
		Observations []struct{ Node, Label, Class string }
	}
	h.Must("GET", "/v1/studies/s/observations", nil, &list)
	if o := list.Observations[0]; o.Node != "n1" || o.Label != "Pier 1" || o.Class != "a" {
		t.Errorf("%+v", list)
	}
}
