package walk

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/testkit"
)

// The error that two ensembles measure is the true one: compared with exact rows
// over all nodes, within five of its standard errors.
func TestPilotErrorIsTheTrueError(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	m := bigRing(t, 600)
	coeff := make([]float64, 9)
	diffusion(coeff, 6)
	psi, _ := exactGram(m, coeff)
	for _, v := range variants[:6] {
		opts := Options{Sampler: v.sampler, Steps: v.steps, Walks: 12, Halt: 0.1, MaxLen: 8, Budget: v.budget, Seed: 2}
		est, err := Pilot(context.Background(), m.w, opts, coeff, 400)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Sample(context.Background(), m.w, opts)
		if err != nil {
			t.Fatal(err)
		}
		phi, _ := gram(t, f, coeff)
		phi.Sub(phi, psi)
		truth := mat.Norm(phi, 2) / mat.Norm(psi, 2)
		// The true error of one run has about the pilot's own spread.
		if math.Abs(est.Error-truth) > 5*math.Sqrt2*est.SE {
			t.Errorf("%v: pilot says %v ± %v, the truth is %v", v, est.Error, est.SE, truth)
		}
		size := f.Size()
		if got := est.Entries * 600; math.Abs(got-float64(size.Entries)) > 0.05*float64(size.Entries) {
			t.Errorf("%v: pilot expects %v entries, there are %d", v, got, size.Entries)
		}
		if est.PeakBytes < size.Bytes {
			t.Errorf("%v: peak of %d bytes is below the %d that are kept", v, est.PeakBytes, size.Bytes)
		}
	}
}

func TestPilotOfExactRows(t *testing.T) {
	t.Parallel()
	m := bigRing(t, 3000)
	opts := Options{Walks: 10, MaxLen: 3, Budget: 100}
	est, err := Pilot(context.Background(), m.w, opts, []float64{1, 1, 1, 1}, 50)
	if err != nil {
		t.Fatal(err)
	}
	if est.Error != 0 || est.ExactShare != 1 || est.PilotRows != 50 {
		t.Errorf("got %+v, want no error and only exact rows", est)
	}
}

func TestTuneReachesTheError(t *testing.T) {
	t.Parallel()
	m := bigRing(t, 3000)
	coeff := make([]float64, 31)
	diffusion(coeff, 30)
	opts := Options{MaxLen: 30, Walks: 1, Seed: 4}
	tuned, est, met, err := Tune(context.Background(), m.w, opts, coeff, Goal{Error: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	if !met || est.Error > 0.05 || tuned.Walks < 25 {
		t.Errorf("tuned to %+v with %+v, met = %v", tuned, est, met)
	}
	// With room for a tenth of that, it stops short and says so.
	less, short, met, err := Tune(context.Background(), m.w, opts, coeff, Goal{Error: 0.0001, Bytes: est.PeakBytes / 2})
	if err != nil {
		t.Fatal(err)
	}
	if met || less.Walks > tuned.Walks || short.PeakBytes > est.PeakBytes/2 {
		t.Errorf("with half the memory: %+v, %+v, met = %v", less, short, met)
	}
	if _, _, _, err := Tune(context.Background(), m.w, opts, coeff, Goal{}); err == nil {
		t.Error("an error of zero was accepted as a goal")
	}
}

func TestPilotRefuses(t *testing.T) {
	t.Parallel()
	m := bigRing(t, 50)
	opts := Options{MaxLen: 3, Walks: 5, Budget: 10}
	for name, c := range map[string]struct {
		coeff []float64
		rows  int
	}{
		"negative rows":         {[]float64{1, 1}, -1},
		"coefficients too many": {make([]float64, 5), 10},
	} {
		if _, err := Pilot(t.Context(), m.w, opts, c.coeff, c.rows); !errors.Is(err, ErrOptions) {
			t.Errorf("%s: Pilot says %v, want %v", name, err, ErrOptions)
		}
		if _, _, _, err := Tune(t.Context(), m.w, opts, c.coeff, Goal{Error: 0.1, Rows: c.rows}); !errors.Is(err, ErrOptions) {
			t.Errorf("%s: Tune says %v, want %v", name, err, ErrOptions)
		}
	}
}

// On top of the features there are the step tables, as they are in memory.
func TestPilotCountsTheStepTables(t *testing.T) {
	t.Parallel()
	m := bigRing(t, 600)
	opts := Options{MaxLen: 3, Walks: 5, Budget: 100, Seed: 1}
	est, err := Pilot(t.Context(), m.w, opts, []float64{1, 1, 1, 1}, 100) // exact rows of one size: no standard error
	if err != nil {
		t.Fatal(err)
	}
	s := newSteps(m.w, opts, nil)
	want := binary.Size(s.rowPtr) + binary.Size(s.cum) + binary.Size(s.growth)
	if got := est.PeakBytes - est.Bytes; got != int64(want) {
		t.Errorf("%d bytes beside the features, want %d", got, want)
	}
}
