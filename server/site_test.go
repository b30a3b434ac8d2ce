package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"grfgp/graphio"
	"grfgp/internal/city"
	"grfgp/server"
	"grfgp/store"
)

// site is a server to look at with a browser.
type site struct {
	*httptest.Server
	t     testing.TB
	token string
	store store.Store
}

// newSite starts a server on a store in memory.
func newSite(t testing.TB, change func(*server.Options)) *site {
	t.Helper()
	kept, err := store.Open(context.Background(), store.Memory, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	options := server.Options{Store: kept, Limits: server.DefaultLimits(), Version: "test"}
	if change != nil {
		change(&options)
	}
	s := server.New(options)
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		s.Close()
		web.CloseClientConnections()
		web.Close()
		kept.Close()
	})
	return &site{web, t, options.Token, kept}
}

// putCity stores the network of a made-up city and returns its id.
func (s *site) putCity(c *city.City) string {
	s.t.Helper()
	return s.putNetwork(&graphio.Network{Graph: c.Graph, Nodes: &graphio.Nodes{Labels: c.Graph.Labels(), X: c.X, Y: c.Y}})
}

func (s *site) putNetwork(net *graphio.Network) string {
	s.t.Helper()
	packed, err := graphio.Pack(net)
	if err != nil {
		s.t.Fatal(err)
	}
	id, err := s.store.PutGraph(context.Background(), packed)
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// call sends a request that must be answered well, and reads the answer.
func (s *site) call(method, path string, body, answer any) {
	s.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := http.NewRequest(method, s.URL+path, bytes.NewReader(text))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	w, err := s.Client().Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer w.Body.Close()
	var raw json.RawMessage
	err = json.NewDecoder(w.Body).Decode(&raw)
	if err != nil || w.StatusCode >= 300 {
		s.t.Fatalf("%s %s: %d %s %v", method, path, w.StatusCode, raw, err)
	}
	if answer != nil {
		if err := json.Unmarshal(raw, answer); err != nil {
			s.t.Fatal(err)
		}
	}
}

// study creates a study on a network.
func (s *site) study(name, network string, settings map[string]any) {
	s.t.Helper()
	all := map[string]any{"name": name, "graph": network, "seed": 1, "spec": map[string]any{"seed": 1}}
	for k, v := range settings {
		all[k] = v
	}
	s.call("POST", "/v1/studies", all, nil)
}

type reading struct {
	Node  string  `json:"node"`
	Value float64 `json:"value"`
}

func (s *site) observe(study string, readings ...reading) {
	s.t.Helper()
	s.call("POST", "/v1/studies/"+study+"/observations", map[string]any{"observations": readings, "by": "anna"}, nil)
}

type issued struct {
	Trial int    `json:"trial"`
	Node  string `json:"node"`
}

// ask reserves nodes.
func (s *site) ask(study string, count int, holder string) []issued {
	s.t.Helper()
	var answer struct{ Trials []issued }
	s.call("POST", "/v1/studies/"+study+"/asks", map[string]any{"count": count, "holder": holder}, &answer)
	return answer.Trials
}

func (s *site) tell(study string, trial int, value float64) {
	s.t.Helper()
	s.call("PUT", fmt.Sprintf("/v1/studies/%s/trials/%d/result", study, trial), map[string]any{"value": value, "by": "ben"}, nil)
}
