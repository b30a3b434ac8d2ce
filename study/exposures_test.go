package study_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/study"
)

// Exposures are for counts that have them and for shares, which always do, and are
// checked when they are told.
func TestExposuresOfAStudy(t *testing.T) {
	t.Parallel()
	for _, spec := range []grfgp.Spec{{}, {Values: "yes-no"}, {Values: "student"}} {
		if _, err := (study.Settings{Name: "a", Graph: "g", Spec: spec, Exposures: true}).Complete(); !errors.Is(err, study.ErrInvalid) {
			t.Errorf("%+v with exposures: %v", spec, err)
		}
	}
	for _, c := range []struct {
		values    string
		exposures bool
		good, bad []study.Measurement
	}{
		{"", false, []study.Measurement{{Value: 1.5}}, []study.Measurement{{Value: 1.5, Exposure: 2}}},
		{"yes-no", false, []study.Measurement{{Value: 1}}, []study.Measurement{{Value: 1, Exposure: 2}}},
		{"count", false, []study.Measurement{{Value: 3}}, []study.Measurement{{Value: 3, Exposure: 2.5}}},
		{"count", true, []study.Measurement{{Value: 3, Exposure: 2.5}, {Value: 0, Exposure: 1e-3}},
			[]study.Measurement{{Value: 3}, {Value: 3, Exposure: -1}, {Value: 0.5, Exposure: 1}}},
		{"share", false, []study.Measurement{{Value: 3, Exposure: 20}, {Value: 0, Exposure: 1}, {Value: 4, Exposure: 4}},
			[]study.Measurement{{Value: 3}, {Value: 3, Exposure: 2}, {Value: 1, Exposure: 2.5}}},
	} {
		f := newField(t, nil, func(s *study.Settings) { s.Spec.Values, s.Exposures = c.values, c.exposures })
		for k, m := range append(c.good, c.bad...) {
			m.Node = "0"
			_, err := f.Observe(f.ctx, "", []study.Measurement{m}, "", "")
			if fits := k < len(c.good); fits != (err == nil) || !fits && !errors.Is(err, study.ErrInvalid) {
				t.Errorf("%s, exposures %v, %+v: %v", c.values, c.exposures, m, err)
			}
		}
		trial := f.ask(t, 1)[0].Trial
		for _, m := range c.bad {
			if _, err := f.Tell(f.ctx, trial, study.Outcome{Value: m.Value, Exposure: m.Exposure}, ""); !errors.Is(err, study.ErrInvalid) {
				t.Errorf("%s, told %+v: %v", c.values, m, err)
			}
		}
		good := study.Outcome{Value: c.good[0].Value, Exposure: c.good[0].Exposure}
		told, err := f.Tell(f.ctx, trial, good, "")
		if err != nil || told.Exposure != good.Exposure {
			t.Errorf("%s, told %+v: %+v, %v", c.values, good, told, err)
		}
		if _, err := f.Tell(f.ctx, trial, good, ""); err != nil {
			t.Errorf("told again: %v", err)
		}
		good.Exposure++
		if _, err := f.Tell(f.ctx, trial, good, ""); err == nil {
			t.Errorf("%s, told again with another exposure: no error", c.values)
		}
	}
	f := newField(t, nil, func(s *study.Settings) { s.Spec.Values, s.Exposures = "count", true })
	if _, err := f.Observe(f.ctx, "", []study.Measurement{{Node: "0", Value: 1, Exposure: math.Inf(1)}}, "", ""); !errors.Is(err,
		study.ErrNotFinite) {
		t.Errorf("infinite exposure: %v", err)
	}
}

// exposed is a study whose results are binomial numbers of the rate rateAt(node), with
// exposures from 5 to 50. Taken for Poisson counts, intervals are too wide.
func exposed(t *testing.T, values string) (f *field, tell func(trials []study.Issued)) {
	f = newField(t, nil, func(s *study.Settings) {
		s.Spec.Values, s.Exposures, s.Goal = values, values == "count", bayesopt.Learn
	})
	random := rand.New(rand.NewPCG(1, 2))
	return f, func(trials []study.Issued) {
		for _, i := range trials {
			node, ok := f.graph.IDs().Lookup([]byte(i.Node))
			if !ok {
				t.Fatal(i.Node)
			}
			o := study.Outcome{Exposure: float64(5 + random.IntN(46))}
			for range int(o.Exposure) {
				if random.Float64() < rateAt(node) {
					o.Value++
				}
			}
			if _, err := f.Tell(f.ctx, i.Trial, o, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// rateAt is from 0.5 to 0.9.
func rateAt(node int) float64 { return 0.5 + 0.4*math.Sin(truth(node)) }

// Studies of counts with exposures and of shares: predictions are rates, whatever the
// exposures, the best result is that of the highest rate, and archives and replays keep
// the exposures. Of 30 rates, 95 % intervals hold at least 24; with right intervals and
// independent rates, fewer have a probability of 2e-4.
func TestStudyWithExposures(t *testing.T) {
	t.Parallel()
	for _, values := range []string{"count", "share"} {
		f, tell := exposed(t, values)
		for range 6 {
			tell(f.ask(t, 5))
		}
		p, err := f.Predictions(f.ctx)
		if err != nil || p.Spec.Values != values {
			t.Fatalf("%+v, %v", p, err)
		}
		lower, upper := p.Interval(0.95)
		inside := 0
		for i := range 30 {
			if lower[i] <= rateAt(i) && rateAt(i) <= upper[i] {
				inside++
			}
		}
		if inside < 24 {
			t.Errorf("%s: %d of 30 rates in 95 %% intervals", values, inside)
		}
		if _, err := f.Calibration(f.ctx); err != nil {
			t.Errorf("%s: cross-validation: %v", values, err)
		}
		engine, err := study.NewModelEngine(f.graph, nil, f.Settings())
		if err != nil {
			t.Fatal(err)
		}
		if v, err := study.Verify(f.ctx, f.Events(f.ctx, 0), by(engine)); err != nil || v.Suggestions != 6 {
			t.Errorf("%s: %+v, %v", values, v, err)
		}
		var text bytes.Buffer
		if err := study.Export(&text, nil, f.Events(f.ctx, 0)); err != nil {
			t.Fatal(err)
		}
		a, err := study.ReadArchive(&text)
		if err != nil {
			t.Fatal(err)
		}
		f.View(func(s *study.State) {
			if !slices.Equal(a.State.Measurements(), s.Measurements()) || s.Measurements()[0].Exposure < 5 {
				t.Errorf("%s: archived %v, told %v", values, a.State.Measurements(), s.Measurements())
			}
		})
	}
}

// The best of a search is the highest rate, not the highest count.
func TestBestRate(t *testing.T) {
	t.Parallel()
	f := newField(t, nil, func(s *study.Settings) { s.Spec.Values = "share" })
	rows := []study.Measurement{{Node: "0", Value: 30, Exposure: 100}, {Node: "1", Value: 3, Exposure: 4}, {Node: "2", Value: 9, Exposure: 20}}
	if _, err := f.Observe(f.ctx, "", rows, "", ""); err != nil {
		t.Fatal(err)
	}
	f.View(func(s *study.State) {
		best, ok := s.Best()
		if points := s.History(); !ok || best.Node != "1" || *points[0].Best != 0.3 || *points[2].Best != 0.75 {
			t.Errorf("best %+v, history %+v", best, points)
		}
	})
}
