package gp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"grfgp/graph"
	"grfgp/internal/ranks"
	"grfgp/kernel"
	"grfgp/walk"
)

// memory keeps checkpoints, and fails at the save with the given number, counted from 1.
type memory struct {
	mu     sync.Mutex
	states map[string][]byte
	saves  int
	fail   int
	from   []int // epochs after which fits went on
}

var errFull = errors.New("the disk is full")

func (m *memory) Load(name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.states[name], nil
}

func (m *memory) Save(name string, state []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.saves++; m.saves == m.fail {
		return errFull
	}
	if m.states == nil {
		m.states = map[string][]byte{}
	}
	m.states[name] = slices.Clone(state)
	return nil
}

func (m *memory) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.states, name)
	return nil
}

// Every epoch is saved.
func (m *memory) Every() time.Duration { return 0 }

func (m *memory) Resumed(epochs int) { m.from = append(m.from, epochs) }

// A fit that was interrupted goes on from its last epoch and ends with the same bits,
// whatever the precision of its steps and whatever the kernel.
func TestCheckpoints(t *testing.T) {
	t.Parallel()
	ring, err := graph.Ring(3000)
	k, d := sharedTask(t, ring, err)
	many, err := manyScales(t, ring, k)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		kernel kernel.Kernel
		single int
		how    Stochastic
	}{
		{"float32", k, 1, Stochastic{}}, {"float64", k, 1 << 30, Stochastic{}}, {"fresh probes", k, 1 << 30, Stochastic{Fresh: true}},
		{"many scales", many, 1, Stochastic{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.how.limits = singleFrom(c.single)
			opts := FitOptions{Solver: Iterative, Epochs: 6, Seed: 4, ColdStart: true, Stochastic: c.how}
			_, want, err := Fit(t.Context(), c.kernel, d, opts)
			if err != nil {
				t.Fatal(err)
			}
			kept := &memory{fail: 4}
			opts.Checkpoints = kept
			if _, _, err := Fit(t.Context(), c.kernel, d, opts); !errors.Is(err, errFull) {
				t.Fatalf("%v, want the error of the store", err)
			}
			_, got, err := Fit(t.Context(), c.kernel, d, opts)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Theta, want.Theta) || got.NoiseSD != want.NoiseSD || got.LogLikelihood != want.LogLikelihood ||
				got.Residual != want.Residual {
				t.Errorf("after an interruption %+v, without one %+v", got, want)
			}
			if !slices.Equal(kept.from, []int{3}) {
				t.Errorf("fits went on after the epochs %v, want 3", kept.from)
			}
			if kept.saves != 4+3 {
				t.Errorf("%d states were saved, want those of epochs 1 to 4, and of 4 to 6 afterwards", kept.saves)
			}
			if len(kept.states) > 0 {
				t.Errorf("%d states are left after the end", len(kept.states))
			}
		})
	}
}

// Ranks go on from the last epoch that all of them have saved.
func TestCheckpointsOfRanks(t *testing.T) {
	t.Parallel()
	ring, err := graph.Ring(4000)
	k, d := sharedTask(t, ring, err)
	opts := FitOptions{Solver: Iterative, Epochs: 6, Seed: 4, ColdStart: true, Limits: sharedFrom(ranks.BlockRows / 2)}
	_, want, err := Fit(t.Context(), k, d, opts)
	if err != nil {
		t.Fatal(err)
	}
	kept := []*memory{{}, {fail: 4}} // rank 0 may have saved the fourth
	run := func() error {
		return ranks.Together(t.Context(), 2, func(ctx context.Context, g *ranks.Group) error {
			own := opts
			own.Ranks, own.Checkpoints = g, kept[g.Rank()]
			_, got, err := Fit(ctx, k, d, own)
			if err == nil && (!slices.Equal(got.Theta, want.Theta) || got.NoiseSD != want.NoiseSD || got.LogLikelihood != want.LogLikelihood) {
				err = fmt.Errorf("%+v, alone %+v", got, want)
			}
			return err
		})
	}
	if err := run(); !errors.Is(err, errFull) {
		t.Fatalf("%v, want the error of the store", err)
	}
	if err := run(); err != nil {
		t.Fatal(err)
	}
	if kept[1].saves != 4+3 {
		t.Errorf("rank 1 saved %d states, want those of epochs 1 to 4, and of 4 to 6 afterwards", kept[1].saves)
	}
}

// manyScales adds coarser graphs to a kernel.
func manyScales(t *testing.T, g *graph.Graph, fine kernel.Kernel) (kernel.Kernel, error) {
	t.Helper()
	var scales []kernel.Scale
	for _, l := range g.Ordered().Coarsen(100) {
		opts := walk.Default()
		opts.MaxLen, opts.Scale = 4, l.Graph.WalkScale(graph.NormalizedAdjacency)
		f, err := walk.Sample(t.Context(), l.Graph.Normalized(graph.NormalizedAdjacency), opts)
		if err != nil {
			return nil, err
		}
		scales = append(scales, kernel.Scale{Prolong: l.Prolong, Features: f})
	}
	return kernel.NewMultiscale(fine, kernel.Diffusion{}, scales)
}
