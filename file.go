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

// ErrFile is wrapped by every error about a model file that is incomplete, altered, of
// another format or of another graph.
var ErrFile = errors.New("not a usable model file")

// A model file is a line with the kind, the version of the format and the CRC-32C of the
// rest, and then JSON.
const (
	fileName = "grfgp-model"
	fileKind = fileName + " 2"
)

// savedModel is a model without its graph, which the caller of Load provides.
// Features and eigenvectors are recomputed from the graph and the seed.
type savedModel struct {
	Graph   string    `json:"graph"`                // its hash
	Known   string    `json:"covariates,omitempty"` // hash of the covariates that the kernel uses
	Columns []string  `json:"columns,omitempty"`    // their source columns
	Spec    Spec      `json:"spec"`
	Choice  Choice    `json:"choice"`
	State   gp.State  `json:"state"`
	Nodes   []int     `json:"nodes"`
	Y       []float64 `json:"y"`
	Noise   []float64 `json:"noise_var,omitempty"`
	Count   []int     `json:"count,omitempty"`
	Scatter []float64 `json:"scatter,omitempty"`
	NoiseSD float64   `json:"noise_sd"`

	Exposure []float64 `json:"exposure,omitempty"`
	Learned  int       `json:"learned_from,omitempty"` // measurements; 0: those of the file
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Save writes the model, without the graph, for Load.
func (m *Model) Save(w io.Writer) error {
	body, err := json.Marshal(savedModel{
		hex.EncodeToString(m.of.hash[:]), knownHash(m.spec), knownColumns(m.spec), m.spec.anywhere(), m.choice, m.fitted.State(), m.data.Nodes,
		m.data.Y, m.data.NoiseVar, m.data.Count, m.data.Scatter, m.noiseSD, m.data.Exposure, m.learned,
	})
	if err != nil {
		return fmt.Errorf("saving a model: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s %08x\n%s\n", fileKind, crc32.Checksum(body, castagnoli), body)
	return err
}

// Load reads a model that was saved for the same graph. Its predictions equal those of
// the saved model to the bit. A model with covariates needs them again, in the field Covariates of a Spec. Its Device is where
// the model computes. The error wraps ErrFile if r is not such a model, and ErrNoCard if there is no such device.
func Load(ctx context.Context, r io.Reader, g *graph.Graph, given ...Spec) (*Model, error) {
	s, err := readModel(r)
	if err != nil {
		return nil, err
	}
	s.Spec.Device = ""
	for _, with := range given {
		if with.Device != "" {
			s.Spec.Device = with.Device
		}
		if with.Covariates != nil {
			s.Spec.Covariates = with.Covariates
		}
	}
	if err := s.checkCovariates(); err != nil {
		return nil, err
	}
	t, err := NewTrainer(g, s.Spec)
	if errors.Is(err, ErrNoCard) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	if s.Graph != hex.EncodeToString(t.hash[:]) {
		return nil, fmt.Errorf("%w: it was fitted to another graph; load it with the same graph", ErrFile)
	}
	return t.revive(ctx, s)
}

// SavedColumns returns the names of the columns from which the covariates of a saved
// model were made: Load needs the same columns, encoded. It returns nil for a model
// without covariates. The error wraps ErrFile if r is not a model.
func SavedColumns(r io.Reader) ([]string, error) {
	s, err := readModel(r)
	if err != nil {
		return nil, err
	}
	return s.Columns, nil
}

// readModel reads a model file and checks that it is whole.
func readModel(r io.Reader) (*savedModel, error) {
	in := bufio.NewReader(r)
	head, err := in.ReadString('\n')
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading a model: %w", err)
	}
	switch {
	case err == nil && strings.HasPrefix(head, fileKind+" "):
	case strings.HasPrefix(head, fileName+" "):
		return nil, fmt.Errorf("%w: another version of grfgp wrote it (it begins with %q, not %q); fit and save the model again", ErrFile,
			kindOf(head), fileKind)
	default:
		return nil, fmt.Errorf("%w: it does not begin with %q; give a file that was saved as a model", ErrFile, fileKind)
	}
	body, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("reading a model: %w", err)
	}
	body = bytes.TrimSuffix(body, []byte("\n"))
	var sum uint32
	if _, err := fmt.Sscanf(head[len(fileKind):], "%x", &sum); err != nil || sum != crc32.Checksum(body, castagnoli) {
		return nil, fmt.Errorf("%w: the checksum is wrong; the file was truncated or altered", ErrFile)
	}
	var s savedModel
	if err := json.Unmarshal(body, &s); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFile, err)
	}
	return &s, nil
}

// kindOf returns the kind and the version in the first line of a model file.
func kindOf(head string) string {
	words := strings.Fields(head)
	return strings.Join(words[:min(2, len(words))], " ")
}

// revive rebuilds the kernel and conditions the model on the saved data.
func (t *Trainer) revive(ctx context.Context, s *savedModel) (*Model, error) {
	m := &Model{of: t, spec: s.Spec, choice: s.Choice, noiseSD: s.NoiseSD,
		data: gp.Data{Nodes: s.Nodes, Y: s.Y, NoiseVar: s.Noise, Count: s.Count, Scatter: s.Scatter, Exposure: s.Exposure}}
	own, err := s.Spec.ownData(t.places(), m.data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	if m.learned = s.Learned; m.learned == 0 {
		m.learned = m.data.Measurements()
	}
	if !s.Spec.complete() {
		return nil, fmt.Errorf("%w: it does not name its kernel; fit and save the model again", ErrFile)
	}
	if s.State.Values != s.Spec.kind() {
		return nil, fmt.Errorf("%w: its values are of kind %s in one place and %s in another", ErrFile, s.Spec.kind(), s.State.Values)
	}
	k, err := t.chosenKernel(ctx, s.Spec.Expression)
	if err != nil {
		return nil, err
	}
	if m.fitted, err = gp.NewModel(k, s.State); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	card, err := t.card()
	if err != nil {
		return nil, err
	}
	m.fitted = m.fitted.Limited(t.limits).On(card)
	if m.posterior, err = m.fitted.Condition(ctx, own); err != nil {
		return nil, err
	}
	return m, nil
}

// knownHash returns the hash of the covariates that a kernel uses; empty if it uses
// none.
func knownHash(s Spec) string {
	if s.Covariates == nil || !s.Terms.Has(CovariateTerm) {
		return ""
	}
	hash := s.Covariates.Hash()
	return hex.EncodeToString(hash[:])
}

// knownColumns returns the source columns of the covariates that a kernel uses.
func knownColumns(s Spec) []string {
	if knownHash(s) == "" {
		return nil
	}
	return s.Covariates.Sources
}

// checkCovariates returns an error unless the covariates are those of the file.
func (s *savedModel) checkCovariates() error {
	switch {
	case s.Known == "" || s.Known == knownHash(s.Spec):
		return nil
	case s.Spec.Covariates == nil:
		return fmt.Errorf("%w: its kernel uses covariates; load it with the same columns of the node table", ErrFile)
	}
	return fmt.Errorf("%w: it was fitted with other covariates; load it with the same columns of the same node table", ErrFile)
}
