package study_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"grfgp"
	"grfgp/graph"
	"grfgp/internal/parallel"
	"grfgp/study"
)

// unfit is a study on a ring that was stored although its model cannot be fitted.
func unfit(t *testing.T, n int, spec grfgp.Spec, engine func(*study.ModelEngine) study.Engine) (*study.Study, *study.MemoryLog,
	*study.ModelEngine) {
	t.Helper()
	g, err := graph.Ring(n)
	if err != nil {
		t.Fatal(err)
	}
	log := new(study.MemoryLog)
	s := study.Settings{Name: "u", Graph: "g", Seed: 3, Spec: spec}
	if _, err := study.Create(t.Context(), log, s, "", time.Now()); err != nil {
		t.Fatal(err)
	}
	var model *study.ModelEngine
	st, err := study.Open(t.Context(), log, study.Options{Engine: func(context.Context) (study.Engine, error) {
		var err error
		if model, err = study.NewModelEngine(g, nil, s); err != nil {
			return nil, err
		}
		return engine(model), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	values := []study.Measurement{}
	for i := range 6 {
		values = append(values, study.Measurement{Node: g.IDs().At(i), Value: float64(i % 4)})
	}
	if _, err := st.Observe(t.Context(), "", values, "", ""); err != nil {
		t.Fatal(err)
	}
	return st, log, model
}

func asIs(e *study.ModelEngine) study.Engine { return e }

// A model that cannot be fitted: predictions say why, asks go on at random with the
// reason, and the log can be verified.
func TestUnfit(t *testing.T) {
	t.Parallel()
	for reason, c := range map[string]struct {
		nodes int
		spec  grfgp.Spec
	}{
		"same degree":   {40, grfgp.Spec{Expression: grfgp.Expression{Trend: "degree"}, Seed: 1}},
		"too many":      {3100, grfgp.Spec{Expression: grfgp.Expression{Method: "dense"}, Seed: 1}},
		"no covariates": {40, grfgp.Spec{Expression: grfgp.Expression{Terms: grfgp.CovariateTerm}, Seed: 1}},
	} {
		t.Run(reason, func(t *testing.T) {
			st, log, engine := unfit(t, c.nodes, c.spec, asIs)
			for range 2 {
				if _, err := st.Predictions(t.Context()); !errors.Is(err, study.ErrFit) || !strings.Contains(err.Error(), reason) {
					t.Errorf("predictions: %v, want %q", err, reason)
				}
			}
			preview, _, err := st.Preview(t.Context(), 2)
			if err != nil || !strings.Contains(preview.Random, reason) {
				t.Errorf("preview %+v: %v", preview, err)
			}
			a, err := st.Ask(t.Context(), study.AskRequest{Count: 3, Key: "k"})
			if err != nil || len(a.Trials) != 3 || !strings.Contains(a.Random, reason) ||
				!strings.Contains(a.Trials[0].Why, "drawn at random: the model cannot be fitted") {
				t.Fatalf("ask %+v: %v", a, err)
			}
			if a.Trials[0].Node != preview.List[0].Node {
				t.Errorf("node %s, the preview had %s", a.Trials[0].Node, preview.List[0].Node)
			}
			again, err := st.Ask(t.Context(), study.AskRequest{Count: 3, Key: "k"})
			if err != nil || fmt.Sprint(again) != fmt.Sprint(a) {
				t.Errorf("again %+v: %v", again, err)
			}
			v, err := study.Verify(t.Context(), log.Events(t.Context(), 0), by(engine))
			if err != nil || v.Suggestions != 1 {
				t.Errorf("verified %+v: %v", v, err)
			}
		})
	}
}

// panicking is an engine that panics in a worker while it fits.
type panicking struct {
	*study.ModelEngine
	fits *int
}

func (e panicking) Fit(ctx context.Context, m []study.Measurement) (study.Snapshot, error) {
	*e.fits++
	var err error
	if p := parallel.Catch(func() {
		parallel.Ranges(8, 1, func(lo, _ int) {
			if lo == 5 {
				panic("index out of range")
			}
		})
	}); p != nil {
		err = fmt.Errorf("%w: %w", study.ErrFit, p)
	}
	return nil, err
}

// A failed fit is not tried again with the same measurements until Refit.
func TestFailureIsKept(t *testing.T) {
	t.Parallel()
	fits := 0
	st, _, _ := unfit(t, 40, grfgp.Spec{Seed: 1}, func(e *study.ModelEngine) study.Engine { return panicking{e, &fits} })
	for range 3 {
		if _, err := st.Snapshot(t.Context()); !errors.Is(err, study.ErrFit) {
			t.Fatal(err)
		}
		a, err := st.Ask(t.Context(), study.AskRequest{Count: 1})
		if err != nil || !strings.Contains(a.Random, "index out of range") || strings.Contains(a.Random, "goroutine") {
			t.Fatalf("ask %+v: %v", a, err)
		}
	}
	if fits != 1 {
		t.Errorf("%d fits", fits)
	}
	st.Refit()
	if _, err := st.Snapshot(t.Context()); !errors.Is(err, study.ErrFit) || fits != 2 {
		t.Errorf("%d fits, %v", fits, err)
	}
}

// Settings that cannot be fitted on a graph are refused before a study is created.
func TestSettingsCheckOn(t *testing.T) {
	t.Parallel()
	g, err := graph.Ring(40)
	if err != nil {
		t.Fatal(err)
	}
	s := study.Settings{Name: "u", Graph: "g", Spec: grfgp.Spec{Expression: grfgp.Expression{Trend: "degree"}}}
	if err := s.CheckOn(g, nil); !errors.Is(err, study.ErrInvalid) || !strings.Contains(err.Error(), "same degree") {
		t.Error(err)
	}
	if s.Spec.Trend = ""; s.CheckOn(g, nil) != nil {
		t.Error(s.CheckOn(g, nil))
	}
}
