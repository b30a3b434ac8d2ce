package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"grfgp"
	"grfgp/server"
	"grfgp/study"
)

// document is the OpenAPI document.
type document struct {
	Paths      map[string]map[string]json.RawMessage
	Components struct{ Schemas map[string]*schema }
}

type operation struct {
	Summary   string
	Responses map[string]struct {
		Content map[string]struct{ Schema *schema }
	}
}

// schema is as much of JSON Schema as the document uses.
type schema struct {
	Ref        string `json:"$ref"`
	Type       any
	Enum       []string
	Properties map[string]*schema
	Required   []string
	Items      *schema
	Additional any `json:"additionalProperties"`
}

func readDocument(t testing.TB) *document {
	t.Helper()
	d := new(document)
	if err := json.Unmarshal(server.OpenAPI(), d); err != nil {
		t.Fatal(err)
	}
	return d
}

// inDocument is a path as the document writes it.
func inDocument(path string) string {
	return strings.NewReplacer("{$}", "", "...}", "}").Replace(path)
}

func TestOpenAPIHasAllRoutes(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	described := map[string]bool{}
	for path, operations := range d.Paths {
		var params []struct{ Name, In string }
		if raw, ok := operations["parameters"]; ok {
			if err := json.Unmarshal(raw, &params); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Count(path, "{"); got != len(params) {
			t.Errorf("%s has %d parameters and describes %d", path, got, len(params))
		}
		for method, raw := range operations {
			if method == "parameters" {
				continue
			}
			var o operation
			if err := json.Unmarshal(raw, &o); err != nil {
				t.Fatal(err)
			}
			if _, ok := o.Responses["default"]; !ok || o.Summary == "" || len(o.Responses) < 2 {
				t.Errorf("%s %s is not described in full", method, path)
			}
			described[strings.ToUpper(method)+" "+path] = true
		}
	}
	for _, r := range server.RouteList() {
		key := r.Method + " " + inDocument(r.Path)
		if !described[key] {
			t.Errorf("%s is not in the document", key)
		}
		delete(described, key)
	}
	for key := range described {
		t.Errorf("%s is in the document and no route", key)
	}
}

// check reports where a value is not as the schema says.
func (d *document) check(s *schema, v any, at string) error {
	if s == nil {
		return nil
	}
	if s.Ref != "" {
		name := s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
		if d.Components.Schemas[name] == nil {
			return fmt.Errorf("%s: there is no schema %s", at, name)
		}
		return d.check(d.Components.Schemas[name], v, at)
	}
	if s.Enum != nil {
		if text, ok := v.(string); !ok || !slices.Contains(s.Enum, text) {
			return fmt.Errorf("%s is %v, none of %v", at, v, s.Enum)
		}
		return nil
	}
	if s.Type != nil && !isType(s.Type, v) {
		return fmt.Errorf("%s is %v, no %v", at, v, s.Type)
	}
	switch v := v.(type) {
	case []any:
		for k, item := range v {
			if err := d.check(s.Items, item, fmt.Sprintf("%s/%d", at, k)); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range s.Required {
			if _, ok := v[name]; !ok {
				return fmt.Errorf("%s has no %s", at, name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			p, known := s.Properties[name]
			if !known && s.Additional == false {
				return fmt.Errorf("%s has %s, of which the document knows nothing", at, name)
			}
			if err := d.check(p, v[name], at+"/"+name); err != nil {
				return err
			}
		}
	}
	return nil
}

func isType(kind, v any) bool {
	if kinds, ok := kind.([]any); ok {
		return slices.ContainsFunc(kinds, func(k any) bool { return isType(k, v) })
	}
	switch v := v.(type) {
	case nil:
		return kind == "null"
	case bool:
		return kind == "boolean"
	case string:
		return kind == "string"
	case float64:
		return kind == "number" || kind == "integer" && v == float64(int64(v))
	case []any:
		return kind == "array"
	}
	return kind == "object"
}

// conforms checks an answer against the document. Path is that of the route.
func (d *document) conforms(t testing.TB, method, path string, a answer) {
	t.Helper()
	var o operation
	if err := json.Unmarshal(d.Paths[path][strings.ToLower(method)], &o); err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	response, ok := o.Responses[fmt.Sprint(a.Status)]
	if !ok {
		t.Errorf("%s %s: the document knows no status %d", method, path, a.Status)
		return
	}
	kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	content, ok := response.Content[kind]
	if !ok && a.Status != 304 {
		t.Errorf("%s %s: the document knows no %q", method, path, kind)
	}
	if kind != "application/json" {
		return
	}
	var v any
	if err := json.Unmarshal(a.Body, &v); err != nil {
		t.Errorf("%s %s: %v", method, path, err)
	}
	if err := d.check(content.Schema, v, ""); err != nil {
		t.Errorf("%s %s: %v", method, path, err)
	}
}

// Every route is used once, by those who do it right, and answers as the document
// says.
func TestAnswersAreAsDescribed(t *testing.T) {
	t.Parallel()
	basemap := withBasemap(t)
	h := newHost(t, func(o *server.Options) {
		engine := o.NewEngine
		basemap(o)
		o.NewEngine = engine
		o.Store = openStore(t, filepath.Join(t.TempDir(), "s.db"))
	})
	d := readDocument(t)
	h.Create(30)
	export := h.Must("GET", "/v1/studies/s/export", nil, nil).Body
	graph, unused := h.PutRing(30), h.PutRing(31)
	csv := []with{"Content-Type: text/csv"}
	files, filesType := form(t, formPart{"edges", "from,to,length_m,lanes\nn0,n1,10,2\n"}, formPart{"measurements", speeds})
	used := map[string]bool{}
	for _, r := range []struct {
		method, path, route string
		body                any
		headers             []with
	}{
		{"GET", "/", "/", nil, nil},
		{"GET", "/v1/basemap/10/165/397", "/v1/basemap/{z}/{x}/{y}", nil, nil},
		{"GET", "/healthz", "", nil, nil},
		{"GET", "/readyz", "", nil, nil},
		{"GET", "/metrics", "", nil, nil},
		{"POST", "/v1/backup", "", nil, nil},
		{"GET", "/v1/meta", "", nil, nil},
		{"GET", "/v1/openapi.json", "", nil, nil},
		{"GET", "/v1/graphs", "", nil, nil},
		{"POST", "/v1/graphs", "", ring(7), csv},
		{"POST", "/v1/graphs", "", ring(7), csv},
		{"GET", "/v1/graphs/" + graph, "/v1/graphs/{g}", nil, nil},
		{"GET", "/v1/graphs/" + graph + "/columns", "/v1/graphs/{g}/columns", nil, nil},
		{"POST", "/v1/drafts", "", files, []with{filesType}},
		{"POST", "/v1/demo", "", nil, nil},
		{"GET", "/v1/graphs/" + graph + "/places", "/v1/graphs/{g}/places", nil, nil},
		{"GET", "/v1/graphs/" + graph + "/edges", "/v1/graphs/{g}/edges", nil, nil},
		{"GET", "/v1/studies", "", nil, nil},
		{"POST", "/v1/studies", "", map[string]any{"name": "t", "graph": graph, "goal": "threshold=2", "budget": 3, "allowed": []string{"n1"}},
			nil},
		{"POST", "/v1/imports?name=u", "/v1/imports", export, []with{"Content-Type: application/x-ndjson"}},
		{"GET", "/v1/studies/s", "/v1/studies/{s}", nil, nil},
		{"POST", "/v1/studies/s/pause", "/v1/studies/{s}/pause", map[string]any{"note": "lunch", "by": "anna"}, nil},
		{"POST", "/v1/studies/s/asks", "/v1/studies/{s}/asks", nil, nil},
		{"POST", "/v1/studies/s/resume", "/v1/studies/{s}/resume", nil, nil},
		{"POST", "/v1/studies/s/retry", "/v1/studies/{s}/retry", map[string]any{"by": "anna"}, nil},
		{"POST", "/v1/studies/t/close", "/v1/studies/{s}/close", nil, nil},
		{"POST", "/v1/studies/s/observations", "/v1/studies/{s}/observations", map[string]any{"observations": []map[string]any{
			{"node": "n0", "value": 1}, {"node": "n1", "value": 2}, {"node": "n2", "value": 3}, {"node": "n3", "value": 2},
			{"node": "n4", "value": 1}}}, nil},
		{"POST", "/v1/studies/s/asks", "/v1/studies/{s}/asks", map[string]any{"count": 4, "holder": "anna", "lease": "2h"},
			[]with{"Idempotency-Key: k"}},
		{"PUT", "/v1/studies/s/trials/1/result", "/v1/studies/{s}/trials/{t}/result", map[string]any{"value": 2.5, "by": "anna", "note": "rain"},
			nil},
		{"POST", "/v1/studies/s/trials/2/lease", "/v1/studies/{s}/trials/{t}/lease", map[string]any{"lease": "5h"}, nil},
		{"POST", "/v1/studies/s/trials/3/release", "/v1/studies/{s}/trials/{t}/release", nil, nil},
		{"POST", "/v1/studies/s/trials/4/abandon", "/v1/studies/{s}/trials/{t}/abandon", map[string]any{"note": "flooded"}, nil},
		{"POST", "/v1/studies/s/trials/4/reopen", "/v1/studies/{s}/trials/{t}/reopen", map[string]any{"note": "dry again"}, nil},
		{"GET", "/v1/studies/s/trials", "/v1/studies/{s}/trials", nil, nil},
		{"GET", "/v1/studies/s/trials?format=csv", "/v1/studies/{s}/trials", nil, nil},
		{"GET", "/v1/studies/s/trials/1", "/v1/studies/{s}/trials/{t}", nil, nil},
		{"GET", "/v1/studies/s/observations", "/v1/studies/{s}/observations", nil, nil},
		{"GET", "/v1/studies/s/observations?format=csv", "/v1/studies/{s}/observations", nil, nil},
		{"DELETE", "/v1/studies/s/observations/6?note=wrong&by=anna", "/v1/studies/{s}/observations/{o}", nil, nil},
		{"POST", "/v1/studies/s/observations/6/reinstate", "/v1/studies/{s}/observations/{o}/reinstate", map[string]any{"by": "anna"}, nil},
		{"GET", "/v1/studies/s/predictions", "/v1/studies/{s}/predictions", nil, nil},
		{"GET", "/v1/studies/s/predictions?format=csv", "/v1/studies/{s}/predictions", nil, nil},
		{"GET", "/v1/studies/s/predictions?format=columns", "/v1/studies/{s}/predictions", nil, nil},
		{"GET", "/v1/studies/s/history?random=yes", "/v1/studies/{s}/history", nil, nil},
		{"GET", "/v1/studies/s/calibration", "/v1/studies/{s}/calibration", nil, nil},
		{"GET", "/v1/studies/s/effects", "/v1/studies/{s}/effects", nil, nil},
		{"GET", "/v1/studies/s/candidates?count=3", "/v1/studies/{s}/candidates", nil, nil},
		{"GET", "/v1/studies/s/map?wait=yes", "/v1/studies/{s}/map", nil, nil},
		{"GET", "/v1/studies/s/nodes?find=n1&number=3&node=n2", "/v1/studies/{s}/nodes", nil, nil},
		{"GET", "/v1/studies/s/events", "/v1/studies/{s}/events", nil, nil},
		{"GET", "/v1/studies/s/export?graph=no", "/v1/studies/{s}/export", nil, nil},
		{"POST", "/v1/studies/s/queue", "/v1/studies/{s}/queue", map[string]any{"nodes": []string{"n20", "n21"}, "note": "near", "by": "anna"},
			nil},
		{"GET", "/v1/studies/s/queue", "/v1/studies/{s}/queue", nil, nil},
		{"DELETE", "/v1/studies/s/queue?node=n20&by=anna", "/v1/studies/{s}/queue", nil, nil},
		{"POST", "/v1/studies/s/asks", "/v1/studies/{s}/asks", map[string]any{"nodes": []string{"n22"}, "holder": "anna"}, nil},
		{"POST", "/v1/studies/s/asks", "/v1/studies/{s}/asks", map[string]any{"count": 2}, []with{"Prefer: respond-async"}},
		{"GET", "/v1/studies/s/operations", "/v1/studies/{s}/operations", nil, nil},
		{"GET", "/v1/studies/s/operations/1?wait=1s", "/v1/studies/{s}/operations/{n}", nil, nil},
		{"DELETE", "/v1/studies/s/operations/1", "/v1/studies/{s}/operations/{n}", nil, nil},
		{"PATCH", "/v1/studies/s", "/v1/studies/{s}", map[string]any{"settings": map[string]any{"budget": 50, "seed": 4}, "by": "anna"}, nil},
		{"GET", "/v1/studies/s", "/v1/studies/{s}", nil, nil},
		{"POST", "/v1/studies/s/archive", "/v1/studies/{s}/archive", map[string]any{"note": "done"}, nil},
		{"GET", "/v1/studies?archived=yes", "/v1/studies", nil, nil},
		{"POST", "/v1/studies/s/restore", "/v1/studies/{s}/restore", nil, nil},
		{"DELETE", "/v1/studies/u?confirm=u&by=anna", "/v1/studies/{s}", nil, nil},
		{"DELETE", "/v1/graphs/" + unused, "/v1/graphs/{g}", nil, nil},
	} {
		a := h.Do(r.method, r.path, r.body, r.headers...)
		if a.Status >= 300 {
			t.Errorf("%s %s: %d %s", r.method, r.path, a.Status, a.Body)
			continue
		}
		route := r.route
		if route == "" {
			route = r.path
		}
		d.conforms(t, r.method, route, a)
		used[r.method+" "+route] = true
	}
	for _, r := range server.RouteList() {
		if key := r.Method + " " + inDocument(r.Path); !used[key] && r.Path != "/assets/{path...}" && r.Path != "/worker.js" {
			t.Errorf("%s was not used", key)
		}
	}
}

// The document names every field of a Spec and of settings, so that what a client may
// send, and what it gets, is described.
func TestOpenAPIHasAllSettings(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	for name, v := range map[string]any{"Spec": grfgp.Spec{}, "Settings": study.Settings{}} {
		s := d.Components.Schemas[name]
		for _, field := range reflect.VisibleFields(reflect.TypeOf(v)) {
			key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			// studies have neither a device nor times
			if _, ok := s.Properties[key]; !field.Anonymous && key != "-" && key != "device" && !ok && !strings.HasPrefix(key, "time") {
				t.Errorf("%s has %s, which the document does not name", name, key)
			}
		}
	}
}
