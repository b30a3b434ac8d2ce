package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"grfgp"
	"grfgp/graphio"
	"grfgp/internal/parallel"
	"grfgp/server"
	"grfgp/server/servertest"
	"grfgp/store"
	"grfgp/study"
)

// realEngine makes a host fit real models, in 4 GiB.
func realEngine(o *server.Options) { o.NewEngine, o.Memory = nil, 4<<30 }

// stored writes a study into the store of a host without asking the server, which would refuse
// it, with values that are enough for a model.
func (s *host) stored(name, graph string, spec grfgp.Spec, values ...float64) {
	s.T.Helper()
	log := s.Store.Log(name)
	settings := study.Settings{Name: name, Graph: graph, Seed: 1, Spec: spec}
	if _, err := study.Create(s.T.Context(), log, settings, "", time.Now()); err != nil {
		s.T.Fatal(err)
	}
	e := study.Event{Seq: 2, Time: time.Now().UTC()}
	var p study.Observed
	for k, v := range values {
		p.Values = append(p.Values, study.Measurement{Node: fmt.Sprintf("n%d", k), Value: v})
	}
	e.Data = p
	if err := log.Append(s.T.Context(), e); err != nil {
		s.T.Fatal(err)
	}
}

var unlike = []float64{1, 2, 3, 2, 5, 1}

// hopeless are Specs whose models cannot be fitted on a ring of n nodes.
var hopeless = []struct {
	name   string
	n      int
	spec   grfgp.Spec
	reason string
	kind   string // of the refusal when the study is created
	status int
}{
	{"rank 1e11", 6, grfgp.Spec{Expression: grfgp.Expression{Method: "lowrank"}, Seed: 1, Rank: 100_000_000_000},
		"rank 100000000000", "invalid", 400},
	{"rank 2^30", 6, grfgp.Spec{Expression: grfgp.Expression{Method: "lowrank"}, Seed: 1, Rank: 1 << 30}, "rank", "invalid", 400},
	{"large rank", 20_000, grfgp.Spec{Expression: grfgp.Expression{Method: "lowrank"}, Seed: 1, Rank: 20_000}, "GiB", "too-costly", 422},
	{"16M walks", 20_000, grfgp.Spec{Expression: grfgp.Expression{Method: "grf", Hops: 254}, Seed: 1, Walks: 16777216},
		"GiB", "too-costly", 422},
	{"trend", 30, grfgp.Spec{Expression: grfgp.Expression{Trend: "degree"}, Seed: 1}, "same degree", "invalid", 400},
	{"dense", 3100, grfgp.Spec{Expression: grfgp.Expression{Method: "dense"}, Seed: 1}, "3000", "invalid", 400},
	{"covariates", 30, grfgp.Spec{Expression: grfgp.Expression{Terms: grfgp.CovariateTerm}, Seed: 1}, "no covariates", "invalid", 400},
}

// A study whose model cannot be fitted is refused, with the reason.
func TestHopelessIsRefused(t *testing.T) {
	t.Parallel()
	h := newHost(t, realEngine)
	for _, c := range hopeless {
		p := h.refused(c.kind, c.status, "POST", "/v1/studies", study.Settings{Name: "s", Graph: h.PutRing(c.n), Spec: c.spec})
		if !strings.Contains(p.Detail, c.reason) || strings.Contains(p.Detail, "--") {
			t.Errorf("%s: %s", c.name, p.Detail)
		}
	}
	h.refused("not-found", 404, "GET", "/v1/studies/s", nil)
}

// A stored study whose model cannot be fitted does not end the server: it is read, takes
// values and gives nodes at random, and says why there is no model.
func TestHopelessIsOpened(t *testing.T) {
	t.Parallel()
	for _, c := range hopeless {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t, realEngine)
			h.stored("s", h.PutRing(c.n), c.spec, unlike[:5]...)
			h.Must("GET", "/v1/studies", nil, nil)
			h.Must("GET", "/v1/studies/s", nil, nil)
			var a study.Ask
			h.Must("POST", "/v1/studies/s/asks", `{"count":1}`, &a)
			if len(a.Trials) != 1 || a.Random == "" || !strings.Contains(a.Trials[0].Why, "drawn at random: the model cannot be fitted") {
				t.Errorf("ask %+v", a)
			}
			h.Must("PUT", "/v1/studies/s/trials/1/result", `{"value":7}`, nil)
			for _, path := range []string{"predictions", "calibration", "effects"} {
				answer := h.Do("GET", "/v1/studies/s/"+path, nil)
				if p := h.problem(answer); answer.Status != 409 && answer.Status != 422 || strings.Contains(p.Detail, "log of the server") {
					t.Errorf("%s: %d %s", path, answer.Status, p.Detail)
				}
			}
			h.Must("GET", "/v1/studies/s/candidates", nil, nil)
			h.Must("GET", "/v1/studies/s/history", nil, nil)
			h.Must("GET", "/v1/studies/s/map", nil, nil)
			var view struct {
				Values int
				Engine struct{ State, Error string }
			}
			h.Must("GET", "/v1/studies/s", nil, &view)
			if view.Values != 6 || view.Engine.State != "failed" || view.Engine.Error == "" {
				t.Errorf("%+v", view)
			}
		})
	}
}

// Values without a model, or with none that numbers can hold, are no failure.
func TestValuesWithoutModel(t *testing.T) {
	t.Parallel()
	for name, values := range map[string][]float64{"constant": {3, 3, 3, 3, 3, 3}, "1e308": {1e308, -1e308, 1e308, -1e308, 1e308, -1e308}} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, realEngine)
			h.stored("s", h.PutRing(30), grfgp.Spec{Seed: 1}, values...)
			var a study.Ask
			h.Must("POST", "/v1/studies/s/asks", `{"count":2}`, &a)
			if len(a.Trials) != 2 || !strings.Contains(a.Trials[0].Why, "drawn at random") {
				t.Errorf("ask %+v", a)
			}
			h.refused("no-model", 409, "GET", "/v1/studies/s/predictions", nil)
		})
	}
}

// breaking is an engine that panics in a worker when it fits.
type breaking struct{ simple }

func (breaking) Fit(context.Context, []study.Measurement) (study.Snapshot, error) {
	parallel.Ranges(64, 1, func(lo, _ int) {
		if lo == 40 {
			panic("index out of range")
		}
	})
	return nil, errors.New("not reached")
}

// A panic in a worker is a failed fit.
func TestPanicIsAFailedFit(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(o *server.Options) {
		o.NewEngine = func(net *graphio.Network, s study.Settings) (study.Engine, error) {
			return breaking{simple{Net: net}}, nil
		}
	})
	h.Create(20)
	h.Observe(five)
	p := h.refused("no-fit", 409, "GET", "/v1/studies/s/predictions", nil)
	if !strings.Contains(p.Detail, "index out of range") || strings.Contains(p.Detail, "goroutine") {
		t.Errorf("%q", p.Detail)
	}
	var a study.Ask
	h.Must("POST", "/v1/studies/s/asks", `{}`, &a)
	if !strings.Contains(a.Random, "index out of range") {
		t.Errorf("%+v", a)
	}
	if !strings.Contains(h.Log.String(), "goroutine") {
		t.Error("the log has no stack")
	}
	if marks, err := h.Store.Marks(t.Context()); err != nil || len(marks) != 0 {
		t.Errorf("marks %v: %v", marks, err)
	}
}

// dying is an engine in whose fit the process ends: its server is never heard of again.
type dying struct {
	simple
	began, forgotten chan struct{}
}

func newDying(t *testing.T) *dying {
	d := &dying{began: make(chan struct{}, 9), forgotten: make(chan struct{})}
	t.Cleanup(func() { close(d.forgotten) })
	return d
}

func (d *dying) engine(net *graphio.Network, _ study.Settings) (study.Engine, error) {
	return &dying{simple{Net: net}, d.began, d.forgotten}, nil
}

func (d *dying) Fit(ctx context.Context, _ []study.Measurement) (study.Snapshot, error) {
	d.began <- struct{}{}
	<-d.forgotten
	return nil, ctx.Err()
}

// A model that brings the process down is in quarantine after the next start, again after
// a second crash, and until somebody asks for it.
func TestQuarantine(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "s.db")
	crash := func() { // the marks that a process leaves behind that is killed in a fit
		kept := openStore(t, file)
		d := newDying(t)
		s := server.New(server.Options{Store: withoutUnmark{kept}, NewEngine: d.engine, Limits: server.Limits{Patience: 2 * time.Second}})
		h := &host{&servertest.Host{T: t, Server: s, HTTP: httptest.NewServer(s), Store: kept}}
		defer func() {
			h.Server.Stop()
			h.HTTP.CloseClientConnections()
			h.HTTP.Close()
		}()
		if a := h.Do("GET", "/v1/studies/s", nil); a.Status == 404 {
			h.Create(20)
			h.Observe(five)
		} else {
			h.Must("POST", "/v1/studies/s/retry", `{}`, nil)
		}
		go h.Try("GET", "/v1/studies/s/predictions", nil)
		<-d.began
		if err := kept.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var view struct {
		Values int
		Engine struct{ State, Error string }
	}
	for times := 1; times <= 2; times++ {
		crash()
		fits := 0
		kept := openStore(t, file)
		h := newHost(t, func(o *server.Options) {
			o.Store = kept
			o.NewEngine = func(net *graphio.Network, _ study.Settings) (study.Engine, error) {
				return counting{simple{Net: net}, &fits}, nil
			}
		})
		var list struct {
			Studies []struct{ Engine struct{ State string } }
		}
		h.Must("GET", "/v1/studies", nil, &list)
		if list.Studies[0].Engine.State != "quarantined" {
			t.Errorf("%+v", list)
		}
		h.Observe(map[string]float64{fmt.Sprintf("n%d", 10+times): 4})
		p := h.refused("quarantined", 409, "GET", "/v1/studies/s/predictions", nil)
		if !strings.Contains(p.Detail, "tries the model again") || times == 2 && !strings.Contains(p.Detail, "2. time") {
			t.Errorf("%s", p.Detail)
		}
		var a study.Ask
		if h.Must("POST", "/v1/studies/s/asks", `{}`, &a); len(a.Trials) != 1 || a.Random == "" {
			t.Errorf("ask %+v", a)
		}
		h.Must("GET", "/v1/studies/s", nil, &view)
		if view.Values != 5+times || view.Engine.State != "quarantined" || fits != 0 {
			t.Errorf("%+v after %d fits", view, fits)
		}
		h.Close()
		if marks, err := kept.Marks(t.Context()); err != nil || marks["s"] == "" {
			t.Errorf("marks %v: %v", marks, err)
		}
		if err := kept.Close(); err != nil {
			t.Fatal(err)
		}
	}
	fits := 0
	kept := openStore(t, file)
	h := newHost(t, func(o *server.Options) {
		o.Store = kept
		o.NewEngine = func(net *graphio.Network, _ study.Settings) (study.Engine, error) {
			return counting{simple{Net: net}, &fits}, nil
		}
	})
	h.Must("POST", "/v1/studies/s/retry", `{}`, nil)
	h.Must("GET", "/v1/studies/s/predictions", nil, nil)
	h.Must("GET", "/v1/studies/s", nil, &view)
	if view.Engine.State != "ready" || fits == 0 {
		t.Errorf("%+v after %d fits", view, fits)
	}
	eventually(t, func() bool { marks, err := kept.Marks(t.Context()); return err == nil && len(marks) == 0 })
}

// counting is an engine that counts its fits.
type counting struct {
	simple
	fits *int
}

func (c counting) Fit(ctx context.Context, m []study.Measurement) (study.Snapshot, error) {
	*c.fits++
	return c.simple.Fit(ctx, m)
}

// withoutUnmark is a store whose process is killed: no mark is removed any more.
type withoutUnmark struct{ store.Store }

func (s withoutUnmark) SetMark(ctx context.Context, name, text string) error {
	if text == "" {
		return nil
	}
	return s.Store.SetMark(ctx, name, text)
}

// A server that is shut down while it fits leaves no mark.
func TestShutdownLeavesNoMark(t *testing.T) {
	t.Parallel()
	var d *dying
	h := newHost(t, func(o *server.Options) {
		o.NewEngine = func(net *graphio.Network, s study.Settings) (study.Engine, error) { return d.engine(net, s) }
		o.Limits.Patience = 2 * time.Second // the request has no other end
	})
	d = newDying(t) // forgotten before the host is closed
	h.Create(20)
	h.Observe(five)
	go h.Try("GET", "/v1/studies/s/predictions", nil)
	<-d.began
	if marks, err := h.Store.Marks(t.Context()); err != nil || !strings.Contains(marks["s"], "fit") {
		t.Errorf("marks %v: %v", marks, err)
	}
	h.Server.Stop()
	if marks, err := h.Store.Marks(t.Context()); err != nil || len(marks) != 0 {
		t.Errorf("marks %v: %v", marks, err)
	}
}

// An upload for which there is no memory is refused with the reason, and leaves nothing
// reserved.
func TestUploadWithoutMemory(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(o *server.Options) { o.Memory = 1 << 10 })
	for range 3 {
		p := h.refused("no-memory", 503, "POST", "/v1/graphs", ring(1000), "Content-Type: text/csv")
		if !strings.Contains(p.Detail, "1 KiB") {
			t.Errorf("%s", p.Detail)
		}
	}
}

// A stored graph for which there is no memory does not end the server.
func TestGraphWithoutMemory(t *testing.T) {
	t.Parallel()
	kept := openStore(t, store.Memory)
	h := newHost(t, func(o *server.Options) { o.Store = kept })
	h.Create(3000)
	h.Must("POST", "/v1/studies/s/asks", `{}`, nil)
	h = newHost(t, func(o *server.Options) { o.Store, o.Memory = kept, 1<<10 })
	h.Must("GET", "/v1/studies", nil, nil)
	h.Must("GET", "/v1/studies/s", nil, nil)
	if p := h.refused("too-costly", 422, "GET", "/v1/studies/s/predictions", nil); !strings.Contains(p.Detail, "the graph takes about") {
		t.Errorf("%s", p.Detail)
	}
	h.Must("PUT", "/v1/studies/s/trials/1/result", `{"value":7}`, nil)
}
