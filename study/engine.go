package study

import (
	"context"

	"grfgp"
	"grfgp/bayesopt"
)

// Engine knows the graph and suggests nodes. What it answers depends on its
// settings and on the arguments alone; it may keep what is costly to make again.
// It is safe for concurrent use.
type Engine interface {
	// IDs are the ids of all nodes, in the order of Predictions.
	IDs() NodeIDs
	// Suggest picks nodes that are allowed and not closed, within the budget.
	Suggest(ctx context.Context, q Query) (Suggestions, error)
	// Fit returns what the readings tell of all nodes. The error wraps
	// ErrNoModel where they are too few, or all the same.
	Fit(ctx context.Context, readings []Measurement) (Snapshot, error)
}

// NodeIDs are the ids of nodes. A *graph.Labels is one.
type NodeIDs interface {
	Len() int
	At(i int) string
	Lookup(id []byte) (int, bool)
}

// Query is an ask in the eyes of an Engine.
type Query struct {
	Measurements []Measurement // that count, in the order told
	Pending      []string      // nodes being measured: not suggested, counted by groups
	Excluded     []string      // other nodes that are not to be suggested; measured ones are known by Readings
	Count        int           // nodes wanted
	Budget       *float64      // of the budget; nil: no limit
	Seed         uint64
}

// Suggestions are the nodes that an Engine picked.
type Suggestions struct {
	List  []Suggestion
	Short Reason // why there are fewer than wanted
}

// Suggestion is a node to measure.
type Suggestion struct {
	Node     string
	Cost     float64
	Why      string
	Mean, SD *float64 // of the quantity itself; nil: no model yet
}

// Reason says why there are fewer suggestions than were asked for.
type Reason = bayesopt.Reason

// Reasons beside those of bayesopt.
const (
	ReasonPaused Reason = "paused"
	ReasonClosed Reason = "closed"
)

// Snapshot is what some readings tell. It is immutable and safe for concurrent
// use.
type Snapshot interface {
	// Predict returns mean and standard deviation of the quantity at nodes by
	// number.
	Predict(ctx context.Context, nodes []int) (grfgp.Prediction, error)
	// Validate predicts each reading from all others, hyperparameters as they are.
	Validate(ctx context.Context) (*grfgp.Validation, error)
	// NoiseSD is the standard deviation of the noise of a reading.
	NoiseSD() float64
	// Spec is the Spec with its choices filled in.
	Chosen() grfgp.Spec
}
