package study

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"

	"grfgp/bayesopt"
)

// CheckpointStore keeps the checkpoint of an engine: the hyperparameters it has
// fitted, so that it need not fit them again after a restart. A lost checkpoint
// costs time, but changes no suggestion.
type CheckpointStore interface {
	// Save replaces the checkpoint.
	Save(ctx context.Context, checkpoint []byte) error
	// Load returns the checkpoint that was saved last, nil if there is none.
	Load(ctx context.Context) ([]byte, error)
}

// UseCheckpoints makes the engine save checkpoints and continue from the last one.
// It must be called before the engine is used.
func (e *ModelEngine) UseCheckpoints(s CheckpointStore) { e.checkpoints = s }

// checkpoint is the JSON of a checkpoint.
type checkpoint struct {
	From       string              `json:"from"` // digest of settings and measurements
	Checkpoint bayesopt.Checkpoint `json:"checkpoint"`
}

// restoreCheckpoint continues from the last checkpoint, if it was made from the first
// of these measurements. It is tried once there are measurements. A checkpoint that
// cannot be used is ignored: the model is fitted again. The only error is that of a
// ctx that has ended; then the next call tries again.
func (e *ModelEngine) restoreCheckpoint(ctx context.Context) error {
	if e.checkpoints == nil || e.restored || len(e.told) == 0 {
		return nil
	}
	e.restored, e.savedAt = true, 0
	n, err := e.resume(ctx)
	if err != nil && ctx.Err() != nil {
		e.restored = false
		return ctx.Err()
	}
	if err == nil {
		e.savedAt = n
	}
	return nil
}

// resume continues from the last checkpoint and returns the number of measurements
// behind it, 0 if there is none for these measurements.
func (e *ModelEngine) resume(ctx context.Context) (int, error) {
	text, err := e.checkpoints.Load(ctx)
	if err != nil {
		return 0, err
	}
	var last checkpoint
	if json.Unmarshal(text, &last) != nil {
		return 0, nil // none, or of another version
	}
	n := last.Checkpoint.Measurements
	if n < 1 || n > len(e.told) || last.From != e.digest(n) {
		return 0, nil
	}
	return n, e.optimizer.Resume(ctx, last.Checkpoint)
}

// saveCheckpoint saves a checkpoint if the hyperparameters were fitted since the last
// one. Errors are ignored: the model would be fitted again.
func (e *ModelEngine) saveCheckpoint(ctx context.Context) {
	if e.checkpoints == nil {
		return
	}
	c, ok := e.optimizer.Checkpoint()
	if !ok || c.Measurements == e.savedAt {
		return
	}
	text, err := json.Marshal(checkpoint{e.digest(c.Measurements), c})
	if err == nil && e.checkpoints.Save(ctx, text) == nil {
		e.savedAt = c.Measurements
	}
}

// digest returns a hash of the settings, budget, lease and unit aside, and the first n measurements, "" if they
// cannot be encoded.
func (e *ModelEngine) digest(n int) string {
	type bits struct {
		Node     string
		Value    uint64
		Exposure float64 `json:",omitempty"`
	}
	sum := sha256.New()
	enc := json.NewEncoder(sum)
	err := enc.Encode(e.settings.forEngine())
	for _, m := range e.told[:n] {
		if err == nil {
			err = enc.Encode(bits{m.Node, math.Float64bits(m.Value), m.Exposure})
		}
	}
	if err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}
