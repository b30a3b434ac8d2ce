package study

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/crossval"
)

// Engine suggests nodes of a graph and fits a model to measurements. Its answers
// depend on the settings of the study and on the arguments alone. It is safe for
// concurrent use.
type Engine interface {
	// IDs returns the ids of all nodes.
	IDs() NodeIDs
	// Cost returns what measuring a node costs.
	Cost(node int) float64
	// Suggest returns nodes to measure, fewer than wanted if there are not enough
	// candidates. The error wraps ErrFit if the model that it needs cannot be fitted;
	// with Query.Random it needs none.
	Suggest(ctx context.Context, q Query) (Suggestions, error)
	// Fit returns the posterior given measurements. The error wraps ErrNoModel if
	// they are too few, or all equal, and ErrFit if the model cannot be fitted.
	Fit(ctx context.Context, measurements []Measurement) (Snapshot, error)
}

// NodeIDs maps nodes to ids and back, as *graph.IDs does.
type NodeIDs interface {
	Len() int
	At(i int) string
	Lookup(id []byte) (int, bool)
}

// Query asks an Engine for suggestions.
type Query struct {
	Measurements []Measurement // without retracted ones, in the order told
	Pending      []string      // ids of nodes being measured: not candidates, but counted by Settings.GroupCap
	Excluded     []string      // ids of further nodes that are not candidates; measured nodes need not be listed
	Count        int           // suggestions wanted
	Budget       *float64      // most that they may cost together; nil: no limit
	Seed         uint64        // of the suggestions
	Random       bool          // draw candidates at random, without a model
}

// Suggestions is the answer to a Query.
type Suggestions struct {
	List  []Suggestion
	Short Reason // why there are fewer than asked for; empty: there are not
	// Random says why they were drawn at random, because the model cannot be fitted;
	// empty: they were not. Engines leave it empty.
	Random string
}

// Suggestion is a node to measure.
type Suggestion struct {
	Node     string // id
	Cost     float64
	Why      string   // the rule of the policy, for people
	Mean, SD *float64 // posterior of the quantity, noise not included; nil: no model yet

	Expected    string   // most probable class, in studies of classes; empty: no model yet
	Probability *float64 // of that class
}

// Reason says why there are fewer suggestions than were asked for.
type Reason = bayesopt.Reason

// Reasons in addition to those of package bayesopt.
const (
	ReasonPaused Reason = "paused"
	ReasonClosed Reason = "closed"
)

// Snapshot is the posterior given some measurements. It is immutable and safe for
// concurrent use.
type Snapshot interface {
	// Predict returns the posterior mean and standard deviation at nodes.
	Predict(ctx context.Context, nodes []int) (grfgp.Prediction, error)
	// Validate cross-validates on the measurements, with the hyperparameters held
	// fixed. The seed determines the folds.
	Validate(ctx context.Context, seed uint64) (*crossval.Validation, error)
	// Effects returns the effects of covariates and the shares of the parts of the model.
	Effects(ctx context.Context) (*grfgp.Effects, error)
	// NoiseSD returns the standard deviation of the noise of a measurement.
	NoiseSD() float64
	// Chosen returns the Spec of the model with the choices filled in.
	Chosen() grfgp.Spec
}

// ClassSnapshot is the Snapshot of a study of classes. Predict returns the probability of
// the most probable class in place of a mean; Validate and Effects return errors.
type ClassSnapshot interface {
	Snapshot
	// Classes returns the names of the classes.
	Classes() []string
	// Probabilities returns the probability of each class, a row per node.
	Probabilities(ctx context.Context, nodes []int) (*mat.Dense, error)
	// ValidateClasses predicts each label from the others, with the hyperparameters held
	// fixed if the labels are not too many for that.
	ValidateClasses(ctx context.Context) (*crossval.ClassValidation, error)
}
