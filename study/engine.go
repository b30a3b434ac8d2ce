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
	// Nodes are the ids of all nodes, in the order of Predictions.
	Nodes() Nodes
	// Suggest picks nodes that are allowed and not closed, within the budget.
	Suggest(ctx context.Context, q Query) (Suggestions, error)
	// Learn returns what the readings tell of all nodes. The error wraps
	// ErrNoModel where they are too few, or all the same.
	Learn(ctx context.Context, readings []Reading) (Knowledge, error)
}

// Nodes are the ids of nodes. A *graph.Labels is one.
type Nodes interface {
	Len() int
	At(i int) string
	Lookup(id []byte) (int, bool)
}

// Query is an ask in the eyes of an Engine.
type Query struct {
	Readings []Reading // that count, in the order told
	Reserved []string  // nodes being measured: not suggested, counted by groups
	Closed   []string  // other nodes that are not to be suggested; measured ones are known by Readings
	Count    int       // nodes wanted
	Left     *float64  // of the budget; nil: no limit
	Seed     uint64
}

// Suggestions are the nodes that an Engine picked.
type Suggestions struct {
	Picks []Pick
	Short Reason // why there are fewer than wanted
}

// Pick is a node to measure.
type Pick struct {
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

// Knowledge is what some readings tell. It is immutable and safe for concurrent
// use.
type Knowledge interface {
	// Predict returns mean and standard deviation of the quantity at nodes by
	// number.
	Predict(ctx context.Context, nodes []int) (grfgp.Prediction, error)
	// Validate predicts each reading from all others, hyperparameters as they are.
	Validate(ctx context.Context) (*grfgp.Validation, error)
	// NoiseSD is the standard deviation of the noise of a reading.
	NoiseSD() float64
	// Chosen is the Spec with its choices filled in.
	Chosen() grfgp.Spec
}
