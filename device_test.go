package grfgp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/gpu"
	"grfgp/internal/ranks"
	"grfgp/internal/testkit"
)

// onRing returns a ring of 40 nodes, half of which are measured.
func onRing(t testing.TB) (*graph.Graph, gp.Data) {
	t.Helper()
	g, err := graph.Ring(40)
	if err != nil {
		t.Fatal(err)
	}
	var d gp.Data
	for i := 0; i < 40; i += 2 {
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, math.Sin(float64(i)/5)+0.1*math.Sin(float64(7*i)))
	}
	return g, d
}

var onDevice = Spec{Expression: Expression{Family: "diffusion", Method: "dense", Scales: "one", Trend: "none", Variance: "natural",
	Laplacian: normalized}, Roles: "none", Seed: 1}

func (s Spec) on(device string) Spec {
	s.Device = device
	return s
}

var errNoCard = fmt.Errorf("%w: the driver is missing", gpu.ErrNone)

// withoutCard is a machine without a card.
func withoutCard() (*gp.Card, error) { return nil, errNoCard }

func TestDeviceIsChecked(t *testing.T) {
	t.Parallel()
	for _, name := range append(Devices(), "") {
		if err := (Spec{Device: name}).Check(); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := (Spec{Device: "tpu"}).Check(); !errors.Is(err, ErrSpec) || !strings.Contains(err.Error(), "auto, cpu, gpu") {
		t.Errorf("tpu: %v", err)
	}
}

// Without a card, auto is the processor, and gpu an error that says what is missing.
func TestNoCard(t *testing.T) {
	t.Parallel()
	g, d := onRing(t)
	want, err := Fit(t.Context(), g, d, onDevice.on("cpu"))
	if err != nil {
		t.Fatal(err)
	}
	auto, err := newTrainer(g, onDevice, withoutCard)
	if err != nil {
		t.Fatal(err)
	}
	m, err := auto.Fit(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if c := m.Choice(); !slices.Equal(c.Fit.Theta, want.Choice().Fit.Theta) || c.Device != "" {
		t.Errorf("hyperparameters %v of device %q, want those of the processor: %v", c.Fit.Theta, c.Device, want.Choice().Fit.Theta)
	}
	if _, err := newTrainer(g, onDevice.on("gpu"), withoutCard); !errors.Is(err, ErrNoCard) ||
		!strings.Contains(err.Error(), errNoCard.Error()) {
		t.Errorf("gpu: %v", err)
	}
	if said := slices.ContainsFunc(m.Choice().Why, func(s string) bool { return strings.Contains(s, errNoCard.Error()) }); said != gpu.Built {
		t.Errorf("the reasons say what is missing: %v; a program that can use cards: %v\n%q", said, gpu.Built, m.Choice().Why)
	}
}

// Who asks for the processor opens no card.
func TestProcessorOpensNoCard(t *testing.T) {
	t.Parallel()
	g, d := onRing(t)
	var opened atomic.Int32
	w, err := newTrainer(g, onDevice.on("cpu"), func() (*gp.Card, error) { opened.Add(1); return withoutCard() })
	if err != nil {
		t.Fatal(err)
	}
	m, err := w.Fit(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if opened.Load() > 0 {
		t.Error("the card was opened")
	}
	if c := m.Choice(); slices.ContainsFunc(c.Why, func(s string) bool { return strings.Contains(s, "processor") }) != gpu.Built {
		t.Errorf("where cards can be used, %v, reasons name the processor: %q", gpu.Built, c.Why)
	}
}

// A card that was lost serves no later fit of the process.
func TestCardLostBefore(t *testing.T) {
	t.Parallel()
	g, d := onRing(t)
	lost := fmt.Errorf("%w: a cable", gpu.ErrLost)
	card := gp.NewCard(nil, false)
	open := func() (*gp.Card, error) { return card, nil }
	auto, err := newTrainer(g, onDevice, open)
	if err != nil {
		t.Fatal(err)
	}
	must, err := newTrainer(g, onDevice.on("gpu"), open)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := must.Fit(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if err := card.Failed(lost); err != nil {
		t.Fatal(err)
	}
	m, err := auto.Fit(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if c := m.Choice(); slices.ContainsFunc(c.Why, func(s string) bool { return strings.Contains(s, lost.Error()) }) != gpu.Built {
		t.Errorf("where cards can be used, %v, reasons say that the card is lost: %q", gpu.Built, c.Why)
	}
	if _, err := must.Fit(t.Context(), d); !errors.Is(err, ErrCardLost) {
		t.Errorf("gpu: %v", err)
	}
	classes := onDevice.on("gpu")
	classes.Variance = ""
	if must, err = newTrainer(g, classes, open); err != nil {
		t.Fatal(err)
	}
	if _, err := must.Classify(t.Context(), gp.Labels{Nodes: d.Nodes[:6], Class: []int{0, 0, 0, 1, 1, 1}, Classes: 2},
		gp.Dirichlet); !errors.Is(err, ErrCardLost) {
		t.Errorf("classes on gpu: %v", err)
	}
}

// A failure of the card while a model is in use is told with the choice.
func TestFailureIsToldWithChoice(t *testing.T) {
	t.Parallel()
	g, d := onRing(t)
	w, err := newTrainer(g, onDevice, func() (*gp.Card, error) { return gp.NewCard(nil, false), nil })
	if err != nil {
		t.Fatal(err)
	}
	m, err := w.Fit(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	before := m.Choice()
	if err := m.fitted.Card().Failed(gpu.ErrLost); err != nil {
		t.Fatal(err)
	}
	after := m.Choice()
	if len(after.Why) != len(before.Why)+1 || len(after.Cautions) != 1 || !strings.Contains(after.Cautions[0], gpu.ErrLost.Error()) {
		t.Errorf("reasons %q, cautions %q", after.Why, after.Cautions)
	}
	if again := m.Choice(); len(again.Why) != len(after.Why) {
		t.Errorf("asked again, the reasons are %q", again.Why)
	}
}

// Ranks have no card: each would need one of its own.
func TestRanksHaveNoCard(t *testing.T) {
	t.Parallel()
	g, d := onRing(t)
	for device, fits := range map[string]bool{"": true, "cpu": true, "gpu": false} {
		err := ranks.Together(t.Context(), 2, func(ctx context.Context, group *ranks.Group) error {
			w, err := newTrainer(g, onDevice.on(device), func() (*gp.Card, error) { return gp.NewCard(nil, false), nil })
			if err != nil {
				return err
			}
			w.FitTogether(Together{Ranks: group})
			m, err := w.Fit(ctx, d)
			if err == nil && m.fitted.Card().Use() != nil {
				return errors.New("there is a card")
			}
			return err
		})
		if fits && err != nil || !fits && !errors.Is(err, ErrSpec) {
			t.Errorf("%q: %v", device, err)
		}
	}
}

// Model files do not say where a model was computed.
func TestFilesKnowNoDevice(t *testing.T) {
	t.Parallel()
	g, d := onRing(t)
	files := map[string]string{}
	for _, device := range []string{"", "auto", "cpu"} {
		w, err := newTrainer(g, onDevice.on(device), withoutCard)
		if err != nil {
			t.Fatal(err)
		}
		m, err := w.Fit(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		if m.Spec().Device != device {
			t.Errorf("a model asked for on %q has the device %q", device, m.Spec().Device)
		}
		var file bytes.Buffer
		if err := m.Save(&file); err != nil {
			t.Fatal(err)
		}
		files[device] = file.String()
		if file.String() != files[""] {
			t.Errorf("the file of a model on %q differs:\n%s\n%s", device, file.String(), files[""])
		}
	}
	m, err := Load(t.Context(), strings.NewReader(files[""]), g, Spec{Device: "cpu"})
	if err != nil || m.Spec().Device != "cpu" || m.fitted.Card().Use() != nil {
		t.Errorf("loaded for the processor: %v", err)
	}
	if _, err := gpu.Open(); err == nil {
		t.Skip("there is a card")
	}
	if _, err := Load(t.Context(), strings.NewReader(files[""]), g, Spec{Device: "gpu"}); !errors.Is(err, ErrNoCard) ||
		errors.Is(err, ErrFile) {
		t.Errorf("loaded for a card: %v", err)
	}
	if _, err := Fit(t.Context(), g, d, onDevice.on("gpu")); !errors.Is(err, ErrNoCard) {
		t.Errorf("fitted on a card: %v", err)
	}
}

// A search goes on from a checkpoint on another device.
func TestCheckpointsKnowNoDevice(t *testing.T) {
	t.Parallel()
	g, d := onRing(t)
	var kernels []Expression
	for _, device := range []string{"", "cpu"} {
		o, err := NewOptimizer(g, onDevice.on(device), bayesopt.Options{Goal: bayesopt.Maximize, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := o.TellAll(d); err != nil {
			t.Fatal(err)
		}
		if _, err := o.Update(t.Context()); err != nil {
			t.Fatal(err)
		}
		c, ok := o.Checkpoint()
		if !ok {
			t.Fatal("no checkpoint")
		}
		kernels = append(kernels, c.Kernel)
		other, err := NewOptimizer(g, onDevice.on(map[string]string{"": "cpu", "cpu": "auto"}[device]),
			bayesopt.Options{Goal: bayesopt.Maximize, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := other.TellAll(d); err != nil {
			t.Fatal(err)
		}
		if err := other.Resume(t.Context(), c); err != nil {
			t.Errorf("made on %q: %v", device, err)
		}
		if chosen, ok := o.Chosen(); !ok || chosen.Device != "" {
			t.Errorf("the chosen kernel is one of the device %q", chosen.Device)
		}
	}
	if kernels[0] != kernels[1] {
		t.Errorf("checkpoints differ: %v", kernels)
	}
}

// Whatever follows from a fit computes on its card.
func TestCardGoesWithModels(t *testing.T) {
	t.Parallel()
	g, d := onRing(t)
	first := gp.NewCard(nil, false)
	w, err := newTrainer(g, onDevice, func() (*gp.Card, error) { return first, nil })
	if err != nil {
		t.Fatal(err)
	}
	m, err := w.Fit(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	refitted, err := m.Refit(t.Context(), d, nil)
	if err != nil {
		t.Fatal(err)
	}
	given, err := m.Condition(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Failed(gpu.ErrLost); err != nil { // told to all that use the card
		t.Fatal(err)
	}
	for name, m := range map[string]*Model{"fitted": m, "fitted again": refitted, "given others": given} {
		if !errors.Is(m.fitted.Card().Lost(), gpu.ErrLost) || m.posterior.Model().Card() != m.fitted.Card() {
			t.Errorf("a model %s has another card", name)
		}
	}
}

// The choice names the card if it has computed something, and says so if it has not.
func TestChoiceNamesCard(t *testing.T) {
	t.Parallel()
	g, d := onRing(t)
	device := gpu.Simulate(gpu.Simulated{})
	defer device.Close()
	w, err := newTrainer(g, onDevice.on("gpu"), func() (*gp.Card, error) { return gp.NewCard(device, false), nil })
	if err != nil {
		t.Fatal(err)
	}
	m, err := w.Fit(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if c := m.Choice(); c.Device != "" || !slices.ContainsFunc(c.Why, func(s string) bool { return strings.Contains(s, "card") }) {
		t.Errorf("of a small, dense kernel: device %q, reasons %q", c.Device, c.Why)
	}
	m.fitted.Card().Did("predicted")
	if c := m.Choice(); c.Device != device.Name() || c.Why[len(c.Why)-1] != "predicted on "+device.Name() {
		t.Errorf("after it was used: device %q, reasons %q", c.Device, c.Why)
	}
	if err := m.fitted.Card().Failed(gpu.ErrMemory); !errors.Is(err, ErrCardMemory) {
		t.Errorf("a failure of the card that was asked for: %v", err)
	}
}

// TestCardComputes: a model by features, fitted and predicted on a card, has the predictions of the processor to
// 1e-6 and says where it was computed. If the card is lost on the way, the processor goes on and says so, or the fit
// ends with the failure if there must be a card. The card is simulated.
func TestCardComputes(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	side := testkit.Size(26, 40)
	g, err := graph.Grid(side, side)
	if err != nil {
		t.Fatal(err)
	}
	g = g.Ordered()
	var d gp.Data
	for i := 0; i < g.Len(); i += 5 {
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, math.Sin(float64(i)/90)+0.1*math.Sin(float64(7*i)))
	}
	spec := Spec{Expression: Expression{Family: "diffusion", Method: "grf", Scales: "one", Trend: "none", Variance: "natural",
		Laplacian: normalized}, Roles: "none", Seed: 1}
	fit := func(device string, how gpu.Simulated) (p Prediction, draws []float64, c Choice, err error) {
		open := func() (*gp.Card, error) { return gp.NewCard(gpu.Simulate(how), false), nil }
		w, err := newTrainer(g, spec.on(device), open)
		if err != nil {
			return p, nil, c, err
		}
		m, err := w.Fit(t.Context(), d)
		if err != nil {
			return p, nil, c, err
		}
		all := make([]int, g.Len())
		for i := range all {
			all[i] = i
		}
		if p, err = m.Predict(t.Context(), all); err != nil {
			return p, nil, c, err
		}
		some, err := m.Sample(t.Context(), all, 2, 5)
		if err != nil {
			return p, nil, c, err
		}
		return p, some.RawMatrix().Data, m.Choice(), nil
	}
	want, draws, _, err := fit("cpu", gpu.Simulated{})
	if err != nil {
		t.Fatal(err)
	}
	same := func(name string, p Prediction, other []float64) {
		t.Helper()
		for _, both := range [][2][]float64{{p.Mean, want.Mean}, {p.SD, want.SD}, {other, draws}} {
			for i, v := range both[1] {
				if math.Abs(both[0][i]-v) > 1e-6 {
					t.Fatalf("%s: number %d is %v, want %v", name, i, both[0][i], v)
				}
			}
		}
	}
	p, other, c, err := fit("gpu", gpu.Simulated{})
	if err != nil {
		t.Fatal(err)
	}
	same("on the card", p, other)
	if c.Device != "simulated card" || !slices.Contains(c.Why, "predicted on simulated card") {
		t.Errorf("computed on %q, because %q", c.Device, c.Why)
	}
	if _, _, _, err := fit("gpu", gpu.Simulated{FailAfter: 4}); !errors.Is(err, ErrCardLost) {
		t.Errorf("a card that was lost: %v", err)
	}
	if _, _, _, err := fit("gpu", gpu.Simulated{Memory: 4096}); !errors.Is(err, ErrCardMemory) {
		t.Errorf("a card without memory: %v", err)
	}
}
