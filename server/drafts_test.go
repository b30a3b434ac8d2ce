package server_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"grfgp/server"
	"grfgp/study"
)

type draftAnswer struct {
	Draft                string
	Nodes, Edges, Values int
	Allowed              *int
	Files                []struct {
		File   string
		Report struct{ Ledger map[string]any }
	}
	Questions []struct {
		File, Code, Text string
		Line             int
		Advice, Columns  []string
		Choices          []struct {
			Text string
			Set  []struct{ Option, Role, Value string }
		}
	}
	Notes []struct{ File, Text string }
}

func (h *host) draft(parts ...formPart) (a draftAnswer) {
	h.T.Helper()
	body, kind := form(h.T, parts...)
	h.Must("POST", "/v1/drafts", body, &a, kind)
	if (a.Draft == "") != (len(a.Questions) > 0) {
		h.T.Errorf("draft %q with questions %+v", a.Draft, a.Questions)
	}
	return a
}

const speeds = "detector,speed\nn0,50.5\nn1,48\nn2,31.5\nn3,62\nn5,44\n"

// Two files become a study, and nothing is stored before that.
func TestDraft(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	a := h.draft(formPart{"options", `{}`}, formPart{"edges", ring(8)}, formPart{"measurements", speeds}, formPart{"allowed", "n6\nn7\n"},
		formPart{"costs", "node,cost\nn6,2\nn7,3\n"})
	if a.Nodes != 8 || a.Edges != 8 || a.Values != 5 || *a.Allowed != 2 || len(a.Files) != 4 || a.Files[1].Report.Ledger["rows"] != 5.0 {
		t.Errorf("%+v", a)
	}
	var graphs struct{ Graphs []any }
	if h.Must("GET", "/v1/graphs", nil, &graphs); len(graphs.Graphs) != 0 {
		t.Errorf("%d graphs are stored", len(graphs.Graphs))
	}
	make := func(settings map[string]any) answer {
		return h.Do("POST", "/v1/studies?by=anna&draft="+a.Draft, settings)
	}
	if got := make(map[string]any{"name": "speeds", "goal": "maximize",
		"spec": map[string]any{"transform": "none", "values": "yes-no"}}); got.Status != 400 ||
		!strings.Contains(string(got.Body), "#/observations/0/value") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if h.Must("GET", "/v1/graphs", nil, &graphs); len(graphs.Graphs) != 0 {
		t.Error("a refused study left its graph behind")
	}
	for _, want := range []int{201, 200} { // again, as after a lost answer
		if got := make(map[string]any{"name": "speeds", "goal": "minimize"}); got.Status != want {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
	}
	var made struct {
		Values int
		Best   study.Record
	}
	if h.Must("GET", "/v1/studies/speeds", nil, &made); made.Values != 5 || made.Best.Node != "n2" || made.Best.By != "anna" {
		t.Errorf("%+v", made)
	}
	h.refused("no-draft", 404, "POST", "/v1/studies?draft=nothing", map[string]any{"name": "x"})

	// Measurements on a network that is known.
	b := h.draft(formPart{"options", fmt.Sprintf(`{"graph": %q}`, h.PutRing(8))}, formPart{"measurements", speeds})
	h.Must("POST", "/v1/studies?draft="+b.Draft, map[string]any{"name": "again"}, nil)
}

// Whatever is open about files is asked, with choices that settle it.
func TestDraftQuestions(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	roads := "from,to,length_m\nn0,n1,10\nn1,n2,20\nn2,n3,5\nn3,n0,7\n"
	for name, c := range map[string]struct {
		parts   []formPart
		file    string
		code    string
		text    string
		choices string // the settings of the choices
		answer  string // options that settle it
	}{
		"distance": {[]formPart{{"edges", roads}}, "edges", "ambiguous", "length_m", "weights=similarity weights=distance weights=ignore",
			`{"files":{"edges":{"weights":"distance"}}}`},
		"column": {[]formPart{{"edges", ring(5)}, {"measurements", "node,speed_a,speed_b\nn0,1.5,2.5\nn1,2.5,3\n"}}, "measurements",
			"ambiguous", "speed_a", "columns/value=speed_a columns/value=speed_b", `{"files":{"measurements":{"columns":{"value":"speed_b"}}}}`},
		"bad row": {[]formPart{{"edges", ring(5)}, {"measurements", "node,value\nn0,1.5\nn1,many\nn2,3.5\nn3,2.5\n"}}, "measurements", "row",
			"many", "bad_rows=skip", `{"files":{"measurements":{"bad_rows":"skip"}}}`},
		"unknown": {[]formPart{{"edges", ring(5)}, {"measurements", "node,value\nn0,1.5\nx1,2\n"}}, "measurements", "unknown",
			"not in the network", "bad_rows=skip", `{"files":{"measurements":{"bad_rows":"skip"}}}`},
		"missing": {[]formPart{{"edges", ring(5)}, {"measurements", "node,value\nn0,1.5\nn1,\n"}}, "measurements", "missing", "without a value",
			"bad_rows=skip", `{"files":{"measurements":{"bad_rows":"skip"}}}`},
		"codes": {[]formPart{{"edges", ring(5)}, {"measurements", "node,value\nn0,1.5\nn1,-9999\nn2,3.5\nn3,-999\n"}}, "measurements",
			"ambiguous", "stand for missing values", "missing=-9999,-999 missing=none",
			`{"files":{"measurements":{"missing":"-9999,-999","bad_rows":"skip"}}}`},
		"unit": {[]formPart{{"edges", ring(5)}, {"measurements", "node,speed\nn0,1.5 mph\nn1,2.5 mph\n"}}, "measurements", "content",
			"1.5 mph", "unit=mph columns/value= values=class", `{"files":{"measurements":{"unit":"mph"}}}`},
		"kind": {[]formPart{{"edges", ring(5)}, {"measurements", "node,value\nn0,1\nn1,0\nn2,1\n"}}, "measurements", "kind", "0 or 1",
			"values=yes-no values=gaussian", `{"values":"yes-no"}`},
		"tested": {[]formPart{{"options", `{"values":"share"}`}, {"edges", ring(5)}, {"measurements", "node,positive,n\nn0,1,4\nn1,0,7\n"}},
			"measurements", "option", "tested", "columns/tested=",
			`{"values":"share","files":{"measurements":{"columns":{"tested":"n","value":"positive"}}}}`},
		"cost": {[]formPart{{"edges", ring(3)}, {"costs", "node,euro\nn0,1\nn1,2\nn2,3\n"}}, "costs", "content", "no column of costs",
			"columns/cost=", `{"files":{"costs":{"columns":{"cost":"euro"}}}}`},
		"an edge": {[]formPart{{"edges", "graph [ edge [ source 1 target 2 weight 3 ] edge [ source 2 target 3 weight -3 ] ]"}}, "edges", "row",
			"edge 2: weight \"-3\" is negative", "bad_rows=skip", `{"files":{"edges":{"bad_rows":"skip"}}}`},
		"no ids": {[]formPart{{"edges", ring(3)}, {"measurements", "node,value\n7,1.5\n8,2.5\n"}}, "measurements", "ids", "none of its ids", "",
			""},
		"format":   {[]formPart{{"edges", "PK\x03\x04\x14\x00[Content_Types].xml"}}, "edges", "format", "spreadsheet", "", ""},
		"empty":    {[]formPart{{"edges", ""}}, "edges", "empty", "empty", "", ""},
		"unpriced": {[]formPart{{"edges", ring(3)}, {"costs", "node,cost\nn0,1\n"}}, "costs", "content", "has no cost", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := &host{h.On(t)}
			a := h.draft(c.parts...)
			if len(a.Questions) != 1 {
				t.Fatalf("%+v", a)
			}
			q := a.Questions[0]
			var choices []string
			for _, choice := range q.Choices {
				for _, s := range choice.Set {
					at := s.Option
					if s.Role != "" {
						at += "/" + s.Role
					}
					choices = append(choices, at+"="+s.Value)
				}
			}
			if got := strings.Join(choices, " "); q.File != c.file || q.Code != c.code || !strings.Contains(q.Text, c.text) || got != c.choices {
				t.Errorf("%+v: %s", q, got)
			}
			if strings.Contains(fmt.Sprint(a), "--") || strings.Contains(fmt.Sprint(a), "Options.") {
				t.Errorf("words of another program: %+v", a)
			}
			if c.answer == "" {
				return
			}
			parts := c.parts
			if parts[0][0] == "options" {
				parts = parts[1:]
			}
			h.draft(append([]formPart{{"options", c.answer}}, parts...)...)
		})
	}
}

// Forms that are no forms of files, too large, or bombs.
func TestDraftLimits(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(o *server.Options) { o.Limits.Graph, o.Limits.Rows = 8<<20, 3 })
	refuse := func(kind string, status int, parts ...formPart) {
		t.Helper()
		body, is := form(t, parts...)
		h.refused(kind, status, "POST", "/v1/drafts", body, is)
	}
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	z.Write([]byte("a,b\n"))
	for range 6 << 10 {
		z.Write(bytes.Repeat([]byte{'\n'}, 1<<10))
	}
	z.Close()
	refuse("malformed", 400)
	refuse("malformed", 400, formPart{"edges", ring(3)}, formPart{"options", "{}"})
	refuse("malformed", 400, formPart{"options", "{"}, formPart{"edges", ring(3)})
	refuse("malformed", 400, formPart{"options", `{"files":{"roads":{}}}`}, formPart{"edges", ring(3)})
	refuse("malformed", 400, formPart{"measurements", speeds})
	refuse("malformed", 400, formPart{"edges", ring(3)}, formPart{"edges", ring(3)})
	refuse("not-found", 404, formPart{"options", `{"graph":"00"}`}, formPart{"measurements", speeds})
	refuse("too-large", 413, formPart{"edges", bomb.String()})
	refuse("too-large", 413, formPart{"edges", ring(8)}, formPart{"measurements", speeds})
	h.refused("media-type", 415, "POST", "/v1/drafts", ring(3), "Content-Type: text/csv")

	// A question is answered when the whole form has arrived, however much is left of it.
	long := "from,to,length_m\n" + strings.Repeat("n0,n1,10\n", 400_000)
	if a := h.draft(formPart{"edges", long}); len(a.Questions) != 1 {
		t.Errorf("%+v", a)
	}
	// There are not more drafts than a few.
	first := h.draft(formPart{"edges", ring(5)})
	for range 16 {
		h.draft(formPart{"edges", ring(6)})
	}
	h.refused("no-draft", 404, "POST", "/v1/studies?draft="+first.Draft, map[string]any{"name": "x"})
}

// Old drafts are forgotten.
func TestDraftsExpire(t *testing.T) {
	t.Parallel()
	c := newClock()
	h := newHost(t, func(o *server.Options) { o.Now = c.Now })
	a := h.draft(formPart{"edges", ring(5)})
	c.Pass(3600e9)
	h.Server.Evict()
	h.refused("no-draft", 404, "POST", "/v1/studies?draft="+a.Draft, map[string]any{"name": "x"})
}

// The demo is one study, whoever asks for it, and takes no name from others.
func TestDemo(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Must("POST", "/v1/studies", map[string]any{"name": "demo", "graph": h.PutRing(5)}, nil)
	for _, want := range []int{201, 200} {
		a := h.Must("POST", "/v1/demo?by=anna", nil, nil)
		var made struct {
			Name   string
			Values int
		}
		if err := json.Unmarshal(a.Body, &made); err != nil || a.Status != want || made.Name != "demo-2" || made.Values != 150 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
}
