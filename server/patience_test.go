package server_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"grfgp/crossval"
	"grfgp/graphio"
	"grfgp/server"
	"grfgp/store"
	"grfgp/study"
)

// endlessEngine never comes to an end with a validation or a suggestion.
type endlessEngine struct{ study.Engine }

func (e endlessEngine) Suggest(ctx context.Context, _ study.Query) (study.Suggestions, error) {
	<-ctx.Done()
	return study.Suggestions{}, ctx.Err()
}

func (e endlessEngine) Fit(ctx context.Context, readings []study.Measurement) (study.Snapshot, error) {
	k, err := e.Engine.Fit(ctx, readings)
	return endlessSnapshot{k}, err
}

type endlessSnapshot struct{ study.Snapshot }

func (k endlessSnapshot) Validate(ctx context.Context, _ uint64) (*crossval.Validation, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A request waits as long as the server is patient, not once for the graph and once
// more for what is made of it.
func TestPatienceIsOne(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"calibration", "candidates"} {
		synctest.Test(t, func(t *testing.T) {
			kept := openStore(t, store.Memory)
			net, err := graphio.ReadGraph(t.Context(), graphio.Reader("e", strings.NewReader("n0,n1\nn1,n2\nn2,n3\nn3,n4\n")), graphio.Options{})
			if err != nil {
				t.Fatal(err)
			}
			packed, err := graphio.Encode(net)
			if err != nil {
				t.Fatal(err)
			}
			id, err := kept.PutGraph(t.Context(), packed)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := study.Create(t.Context(), kept.Log("s"), study.Settings{Name: "s", Graph: id}, "", time.Now()); err != nil {
				t.Fatal(err)
			}
			var readings []study.Measurement
			for node, v := range five {
				readings = append(readings, study.Measurement{Node: node, Value: v})
			}
			if err := kept.Log("s").Append(t.Context(), study.Event{Seq: 2, Time: time.Now(), Data: study.Observed{Values: readings}}); err != nil {
				t.Fatal(err)
			}
			limits := server.DefaultLimits()
			s := server.New(server.Options{
				Store: kept, Log: slog.New(slog.DiscardHandler), Limits: limits,
				NewEngine: func(net *graphio.Network, settings study.Settings) (study.Engine, error) {
					time.Sleep(limits.Patience * 2 / 3)
					engine, err := newSimple(net, settings)
					return endlessEngine{engine}, err
				},
			})
			defer s.Close()
			began, w := time.Now(), httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequest("GET", "http://127.0.0.1/v1/studies/s/"+path, nil))
			if waited := time.Since(began); w.Code != http.StatusServiceUnavailable || waited != limits.Patience {
				t.Errorf("%s: %d after %v, patience is %v; %s", path, w.Code, waited, limits.Patience, w.Body)
			}
		})
	}
}
