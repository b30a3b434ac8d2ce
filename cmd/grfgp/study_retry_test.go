package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A server that is killed while it fits a model has the study in quarantine when it
// starts again: nothing is lost, asks are drawn at random, and retry ends it.
func TestStudyRetry(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	file := filepath.Join(t.TempDir(), "q.db")
	start := func() *process {
		p := startServer(t, "--store "+file)
		d.store = p.url
		return p
	}
	p := start()
	d.ok("create q --generate grid:50x50 --method dense --goal maximize") // its eigenvectors take seconds
	go post(p.url+"/v1/studies/q/observations", `{"observations":[{"node":"0","value":1},{"node":"7","value":2},{"node":"19","value":4},`+
		`{"node":"300","value":3},{"node":"900","value":2},{"node":"2400","value":5}]}`)
	until(t, func() bool { return d.shown("q").Values == 6 })
	go post(p.url+"/v1/studies/q/asks", `{}`)
	until(t, func() bool {
		var view struct{ Engine struct{ State, Stage string } }
		resp, err := http.Get(p.url + "/v1/studies/q")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return json.NewDecoder(resp.Body).Decode(&view) == nil && view.Engine.State == "learning" &&
			strings.HasPrefix(view.Engine.Stage, "fitting")
	})
	p.end(os.Kill)

	p = start()
	if s := d.shown("q"); s.Values != 6 || !strings.Contains(s.Model, "the server ended while it was at work on the model") {
		t.Errorf("%+v", s.Summary)
	}
	if r := d.ok("ask q"); !strings.Contains(r.out+r.err, "drawn at random") {
		t.Errorf("ask: %s %s", r.out, r.err)
	}
	d.ok("tell q 1=2.5")
	d.ok("retry q")
	if s := d.shown("q"); s.Values != 7 || s.Model != "" {
		t.Errorf("%+v", s.Summary)
	}
	if code := p.end(syscall.SIGTERM); code != 0 {
		t.Errorf("exit %d", code)
	}

	start()
	if s := d.shown("q"); s.Values != 7 || s.Model != "" {
		t.Errorf("%+v", s.Summary)
	}
}

// post sends JSON to a server that may end meanwhile.
func post(url, body string) {
	if resp, err := http.Post(url, "application/json", strings.NewReader(body)); err == nil {
		resp.Body.Close()
	}
}

// until asks until something is so. Go's own limit of a test is the only one: machines are busy.
func until(t *testing.T, so func() bool) {
	t.Helper()
	for !so() {
		time.Sleep(time.Millisecond)
	}
}
