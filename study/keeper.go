package study

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"

	"grfgp/bayesopt"
)

// CheckpointStore keeps what an engine has learned, so that it need not be learned again
// after a restart. Losing it costs time and changes no suggestion.
type CheckpointStore interface {
	Save(ctx context.Context, learned []byte) error
	// Load returns what was kept last, nil if nothing was.
	Load(ctx context.Context) ([]byte, error)
}

// KeepIn lets the engine keep what it learns. It is to be called before the
// engine is used.
func (o *Optimizer) KeepIn(k CheckpointStore) { o.keep.in = k }

// keeping is what an Optimizer knows of its Keeper.
type keeping struct {
	in    CheckpointStore
	tried bool // since the inner optimizer was made
	at    int  // readings behind what was kept last
}

// learnedFrom is a training, and what it was made from.
type learnedFrom struct {
	From       string              `json:"from"` // digest of settings and readings
	Checkpoint bayesopt.Checkpoint `json:"checkpoint"`
}

// restore goes on from the last training that was kept, if it was made from the
// first of these readings. It is tried once there are readings. An error is of no
// account unless ctx has ended: it is all learned again.
func (o *Optimizer) restore(ctx context.Context) error {
	if o.keep.in == nil || o.keep.tried || len(o.told) == 0 {
		return nil
	}
	o.keep.tried, o.keep.at = true, 0
	text, err := o.keep.in.Load(ctx)
	if err != nil {
		return o.forget(ctx)
	}
	var was learnedFrom
	if json.Unmarshal(text, &was) != nil {
		return nil // nothing, or of another version
	}
	n := was.Checkpoint.Measurements
	if n < 1 || n > len(o.told) || was.From != o.digest(n) {
		return nil
	}
	if o.inner.Resume(ctx, was.Checkpoint) != nil {
		return o.forget(ctx)
	}
	o.keep.at = n
	return nil
}

// forget goes on without what was kept, unless ctx has ended: then it is tried
// again.
func (o *Optimizer) forget(ctx context.Context) error {
	o.keep.tried = ctx.Err() == nil
	return ctx.Err()
}

// save keeps the last training if it is a new one. An error is of no account: it
// will be learned again.
func (o *Optimizer) save(ctx context.Context) {
	if o.keep.in == nil {
		return
	}
	c, ok := o.inner.Checkpoint()
	if !ok || c.Measurements == o.keep.at {
		return
	}
	text, err := json.Marshal(learnedFrom{o.digest(c.Measurements), c})
	if err == nil && o.keep.in.Save(ctx, text) == nil {
		o.keep.at = c.Measurements
	}
}

// digest is that of the settings and the first n readings.
func (o *Optimizer) digest(n int) string {
	type bits struct {
		Node  string
		Value uint64
	}
	sum := sha256.New()
	enc := json.NewEncoder(sum)
	err := enc.Encode(o.settings)
	for _, r := range o.told[:n] {
		if err == nil {
			err = enc.Encode(bits{r.Node, math.Float64bits(r.Value)})
		}
	}
	if err != nil {
		return "" // of no use
	}
	return hex.EncodeToString(sum.Sum(nil))
}
