package grfgp

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// TestModelFilesWithAlternatives: a model says that its intervals include the
// uncertainty of hyperparameters, and its file gives them to the bit (TestValues does so for other
// values). A file without alternatives gives narrower intervals about the same means.
func TestModelFilesWithAlternatives(t *testing.T) {
	t.Parallel()
	spec := Spec{Expression: Expression{Family: "diffusion", Trend: "none", Scales: "one"}, Roles: "none"}
	g, d := simulated(t, spec)
	m, err := Fit(t.Context(), g, d, spec)
	if err != nil {
		t.Fatal(err)
	}
	if why := m.choice.Why[len(m.choice.Why)-1]; !strings.Contains(why, "uncertainty of 3 hyperparameters") {
		t.Errorf("the last reason is %q", why)
	}
	own, err := spec.ownData(g.Len(), d)
	if err != nil {
		t.Fatal(err)
	}
	bare := takenAsKnown(t, m, own)
	load := func(m *Model) Prediction {
		var file bytes.Buffer
		if err := m.Save(&file); err != nil {
			t.Fatal(err)
		}
		if m == bare && bytes.Contains(file.Bytes(), []byte("alternatives")) {
			t.Fatal("the file of a model without alternatives has some")
		}
		again, err := Load(t.Context(), &file, g)
		if err != nil {
			t.Fatal(err)
		}
		if again.NoiseSD() != m.NoiseSD() {
			t.Errorf("noise %v, saved as %v", again.NoiseSD(), m.NoiseSD())
		}
		p, err := again.Predict(t.Context(), g.Nodes())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p, err := m.Predict(t.Context(), g.Nodes())
	if err != nil {
		t.Fatal(err)
	}
	same, narrow := load(m), load(bare)
	if !slices.Equal(same.Mean, p.Mean) || !slices.Equal(same.SD, p.SD) || !slices.Equal(narrow.Mean, p.Mean) {
		t.Error("a loaded model predicts otherwise")
	}
	for k := range p.SD {
		if narrow.SD[k] >= p.SD[k] {
			t.Errorf("node %d: sd %v, %v with hyperparameters taken as known", k, p.SD[k], narrow.SD[k])
		}
	}
	if bare.NoiseSD() >= m.NoiseSD() {
		t.Errorf("noise %v, %v with hyperparameters taken as known", m.NoiseSD(), bare.NoiseSD())
	}
}
