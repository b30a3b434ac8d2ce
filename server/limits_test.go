package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"grfgp/server"
	"grfgp/store"
)

// TestZeroLimitsAreDefaults runs a server of which only the store is given.
func TestZeroLimitsAreDefaults(t *testing.T) {
	t.Parallel()
	s := server.New(server.Options{Store: openStore(t, store.Memory)})
	defer s.Close()
	if got, want := metaLimits(t, s)["concurrent"], server.DefaultLimits().Concurrent; got != fmt.Sprint(want) {
		t.Errorf("%v requests at once, want %d", got, want)
	}
}

// TestNoLimits reads and lists through a server that limits nothing.
func TestNoLimits(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(o *server.Options) {
		const no = server.NoLimit
		o.Limits = server.Limits{Body: no, Graph: no, Rows: no, Page: no, Concurrent: no, Streams: no, MapNodes: no, Patience: no, BodyTime: no,
			IdleTime: no}
	})
	h.Create(12)
	h.Observe(five)
	h.Must("POST", "/v1/studies/s/asks", `{"count":3}`, nil)
	for _, path := range []string{"trials?limit=5", "map", "events", "trials?format=csv", "predictions"} {
		h.Must("GET", "/v1/studies/s/"+path, nil, nil)
	}
}

// metaLimits returns the limits that the server reports, as text.
func metaLimits(t *testing.T, s *server.Server) map[string]string {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/v1/meta", nil))
	var meta struct{ Limits map[string]any }
	if err := json.Unmarshal(w.Body.Bytes(), &meta); err != nil || w.Code != http.StatusOK {
		t.Fatalf("status %d, %v: %s", w.Code, err, w.Body)
	}
	limits := map[string]string{}
	for name, v := range meta.Limits {
		limits[name] = fmt.Sprint(v)
	}
	return limits
}
