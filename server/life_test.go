package server_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"grfgp/study"
)

// A study is deleted only if its name is repeated; streams of it end, and it can be made
// anew.
func TestDeleteStudy(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Create(30)
	if a := h.Do("DELETE", "/v1/studies/s", nil); a.Status != 400 || !strings.Contains(string(a.Body), "confirm=s") {
		t.Errorf("without its name: %d %s", a.Status, a.Body)
	}
	if a := h.Do("DELETE", "/v1/studies/s?confirm=S", nil); a.Status != 400 {
		t.Errorf("with another name: %d", a.Status)
	}
	if a := h.Do("DELETE", "/v1/studies/none?confirm=none", nil); a.Status != 404 {
		t.Errorf("no study: %d", a.Status)
	}
	var graphs struct{ Graphs []struct{ ID string } }
	if err := json.Unmarshal(h.Must("GET", "/v1/graphs", nil, nil).Body, &graphs); err != nil {
		t.Fatal(err)
	}
	graph := "/v1/graphs/" + graphs.Graphs[0].ID
	if a := h.Do("DELETE", graph, nil); a.Status != 409 {
		t.Errorf("a graph in use: %d %s", a.Status, a.Body)
	}
	h.Must("DELETE", "/v1/studies/s?confirm=s", nil, nil)
	for _, path := range []string{"/v1/studies/s", "/v1/studies/s/trials", "/v1/studies/s/events"} {
		if a := h.Do("GET", path, nil); a.Status != 404 {
			t.Errorf("%s of a deleted study: %d", path, a.Status)
		}
	}
	h.Must("DELETE", graph, nil, nil)
	if a := h.Do("GET", graph, nil); a.Status != 404 {
		t.Errorf("a deleted graph: %d", a.Status)
	}
	h.Create(30)
	if a := h.Must("GET", "/v1/studies/s", nil, nil); !strings.Contains(string(a.Body), `"seq":1`) {
		t.Errorf("%s", a.Body)
	}
}

// Clients that tell, and others that make and delete the study: no answer but 2xx, 404, 409
// and 503, and what is there at the end can be read.
func TestDeleteUnderLoad(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Create(60)
	graph := h.PutRing(60)
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Go(func() {
			for i := range 25 {
				var a answer
				switch {
				case k == 0:
					a = h.Do("DELETE", "/v1/studies/s?confirm=s", nil)
				case k == 1:
					a = h.Do("POST", "/v1/studies", map[string]any{"name": "s", "graph": graph, "goal": "maximize"})
				default:
					a = h.Do("POST", "/v1/studies/s/observations", map[string]any{"observations": []map[string]any{{"node": "n1", "value": i}}})
				}
				switch a.Status {
				case 200, 201, 404, 409, 503:
				default:
					t.Errorf("client %d: %d %s", k, a.Status, a.Body)
				}
			}
		})
	}
	wg.Wait()
	h.Do("POST", "/v1/studies", map[string]any{"name": "s", "graph": graph, "goal": "maximize"})
	var all []study.Event
	for e, err := range h.Store.Log("s").Events(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	if _, err := study.Replay(all...); err != nil || len(all) == 0 {
		t.Errorf("%d events, %v", len(all), err)
	}
}

// A change of the model is checked as when a study is created, and takes effect at once.
func TestChangeSettings(t *testing.T) {
	t.Parallel()
	h := newHost(t, realEngine)
	h.Create(20_000)
	for _, bad := range []struct {
		settings map[string]any
		status   int
	}{
		{map[string]any{"spec": map[string]any{"method": "grf", "walks": 16777216, "hops": 254}}, 422},
		{map[string]any{"spec": map[string]any{"rank": -1}}, 400},
		{map[string]any{"name": "t"}, 400},
		{map[string]any{"covariates": []string{"depth"}}, 400},
		{map[string]any{"colour": "red"}, 400},
	} {
		if a := h.Do("PATCH", "/v1/studies/s", map[string]any{"settings": bad.settings}); a.Status != bad.status {
			t.Errorf("%v: %d %s", bad.settings, a.Status, a.Body)
		}
	}
	before := h.Must("GET", "/v1/studies/s", nil, nil).Body
	if !strings.Contains(string(before), `"seq":1`) {
		t.Errorf("refused changes were stored: %s", before)
	}
	h.Must("PATCH", "/v1/studies/s", map[string]any{"settings": map[string]any{"allowed": []string{"n3", "n4"}, "budget": 7}, "by": "anna"},
		nil)
	var ask study.Ask
	if err := json.Unmarshal(h.Must("POST", "/v1/studies/s/asks", map[string]any{"count": 5}, nil).Body, &ask); err != nil {
		t.Fatal(err)
	}
	if len(ask.Trials) != 2 || ask.Short != "no_allowed_nodes" {
		t.Errorf("%+v", ask)
	}
}
