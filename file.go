package grfgp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"grfgp/gp"
	"grfgp/graph"
)

// ErrFile is wrapped by every error about a model file that is torn, altered,
// foreign or of another graph.
var ErrFile = errors.New("grfgp: not a usable model file")

// A model file is a line with the kind, the version and the CRC-32C of what
// follows, and then JSON.
const fileKind = "grfgp-model 1"

// savedModel is everything that a model is made of but the graph, which the
// reader brings: features and eigenvectors are made again from the seed.
type savedModel struct {
	Graph   string    `json:"graph"` // hash
	Spec    Spec      `json:"spec"`
	Choice  Choice    `json:"choice"`
	State   gp.State  `json:"state"`
	Nodes   []int     `json:"nodes"`
	Y       []float64 `json:"y"`
	Noise   []float64 `json:"noise_var,omitempty"`
	NoiseSD float64   `json:"noise_sd"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Save writes the model.
func (m *Model) Save(w io.Writer) error {
	body, err := json.Marshal(savedModel{
		hex.EncodeToString(m.hash[:]), m.spec, m.choice, m.state, m.data.Nodes, m.data.Y, m.data.NoiseVar, m.noiseSD,
	})
	if err != nil {
		return fmt.Errorf("grfgp: saving a model: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s %08x\n%s\n", fileKind, crc32.Checksum(body, castagnoli), body)
	return err
}

// Load reads a model that was saved for the same graph. Its predictions are
// those of the model that was saved, to the bit.
func Load(ctx context.Context, r io.Reader, g *graph.Graph) (*Model, error) {
	in := bufio.NewReader(r)
	head, err := in.ReadString('\n')
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("grfgp: reading a model: %w", err)
	}
	if err != nil || !strings.HasPrefix(head, fileKind+" ") {
		return nil, fmt.Errorf("%w: it does not begin with %q; was it written by this version of grfgp?", ErrFile, fileKind)
	}
	body, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("grfgp: reading a model: %w", err)
	}
	body = bytes.TrimSuffix(body, []byte("\n"))
	var sum uint32
	if _, err := fmt.Sscanf(head[len(fileKind):], "%x", &sum); err != nil || sum != crc32.Checksum(body, castagnoli) {
		return nil, fmt.Errorf("%w: its checksum is wrong; the file was cut off or altered", ErrFile)
	}
	var s savedModel
	if err := json.Unmarshal(body, &s); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFile, err)
	}
	hash := g.Hash()
	if s.Graph != hex.EncodeToString(hash[:]) {
		return nil, fmt.Errorf("%w: it was fitted to another graph; give the same files and flags as then", ErrFile)
	}
	w, err := newWorkshop(g, s.Spec)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	return w.revive(ctx, &s)
}

// revive makes the kernel again and conditions it on the data.
func (w *workshop) revive(ctx context.Context, s *savedModel) (*Model, error) {
	m := &Model{of: w, spec: s.Spec, choice: s.Choice, place: w.place, hash: w.hash, state: s.State, noiseSD: s.NoiseSD,
		data: gp.Data{Nodes: s.Nodes, Y: s.Y, NoiseVar: s.Noise}}
	if err := m.data.Check(len(w.place)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	if !s.Spec.settled() {
		return nil, fmt.Errorf("%w: it does not say which kernel it has; fit and save it again", ErrFile)
	}
	k, err := w.chosenKernel(ctx, s.Spec)
	if err != nil {
		return nil, err
	}
	fitted, err := gp.NewModel(k, s.State)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	if m.posterior, err = fitted.Condition(ctx, w.internal(m.data)); err != nil {
		return nil, err
	}
	return m, nil
}
