package gp

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp/internal/latent"
	"grfgp/internal/enum"
	"grfgp/kernel"
	"grfgp/plan"
	"grfgp/progress"
)

// Classifier gives every node the probability of each class. It is immutable and
// safe for concurrent use. Callers must pass nodes of the kernel, and a number of
// draws that is not negative.
type Classifier struct {
	of          classPosterior
	classes     int
	leaveOneOut *mat.Dense // nil if that would need a fit per label
}

// classPosterior is what classifiers of a method compute at some nodes, and in some draws: they tell w how far they are.
type classPosterior interface {
	Probabilities(ctx context.Context, nodes []int, w *progress.Work) (*mat.Dense, error)
	Sample(ctx context.Context, nodes []int, draws int, seed uint64, w *progress.Work) ([]*mat.Dense, error)
}

// Classes returns the number of classes.
func (c *Classifier) Classes() int { return c.classes }

// LeaveOneOut returns the probability of each class at every label given all
// other labels, or nil if that would need a fit per label. It must not be changed.
func (c *Classifier) LeaveOneOut() *mat.Dense { return c.leaveOneOut }

// Probabilities returns the probability of each class, a row per node, and tells w how far it is. Rows
// add up to one.
func (c *Classifier) Probabilities(ctx context.Context, nodes []int, w *progress.Work) (*mat.Dense, error) {
	if len(nodes) == 0 {
		return &mat.Dense{}, nil
	}
	p, err := c.of.Probabilities(ctx, nodes, w)
	if err != nil {
		return nil, fmt.Errorf("class probabilities: %w", err)
	}
	w.Done()
	return p, nil
}

// Sample returns posterior draws of the class probabilities, each with a row
// per node, and tells w how far it is. Their mean over many draws is the result of Probabilities. Draw s
// does not depend on the number of draws.
func (c *Classifier) Sample(ctx context.Context, nodes []int, draws int, seed uint64, w *progress.Work) ([]*mat.Dense, error) {
	if len(nodes) == 0 || draws == 0 {
		return nil, nil
	}
	all, err := c.of.Sample(ctx, nodes, draws, seed, w)
	if err != nil {
		return nil, fmt.Errorf("samples of class probabilities: %w", err)
	}
	w.Done()
	return all, nil
}

// ClassMethod says how classes are modelled.
type ClassMethod int

const (
	// Dirichlet is regression to the logarithms of gamma variables, a class at a time
	// (Milios et al., 2018): the likelihood has a closed form. It works for any
	// number of labels.
	Dirichlet ClassMethod = iota
	// OneVsAll is regression to ±1 with the same noise for every label: one
	// factorisation serves all classes.
	OneVsAll
	// Variational is the softmax likelihood with a normal approximation on
	// inducing nodes. It reproduces the paper; Dirichlet predicts better.
	Variational
	// RobustMax is Variational with a likelihood under which the largest latent
	// function is the class with probability 0.999. It reproduces the paper.
	RobustMax
	// Spreading is label spreading: probabilities ∝ K·Y, without learning.
	Spreading
)

var classMethods = enum.New("method of classification", "dirichlet", "one-vs-all", "variational", "robustmax", "spreading")

// ClassMethodNames returns the names of all methods.
func ClassMethodNames() []string { return classMethods.Names() }

// String returns the method's name.
func (m ClassMethod) String() string { return classMethods.Name(int(m)) }

// MarshalText returns the name.
func (m ClassMethod) MarshalText() ([]byte, error) { return classMethods.Marshal(int(m)) }

// UnmarshalText reads the name.
func (m *ClassMethod) UnmarshalText(text []byte) error {
	return classMethods.Unmarshal((*int)(m), text)
}

// Calibration corrects class probabilities: the deviations of latent functions
// from their means are multiplied by Spread, and the functions are then divided by
// Temperature. Both are chosen to maximise the leave-one-out log score of the
// labels.
type Calibration struct {
	Temperature float64 `json:"temperature"`
	Spread      float64 `json:"spread"` // from 0, which leaves only the mean, to 1, which changes nothing
}

// uncalibrated changes nothing.
var uncalibrated = Calibration{1, 1}

func (k Calibration) valid() bool {
	return k.Temperature > 0 && k.Temperature <= math.MaxFloat64 && k.Spread >= 0 && k.Spread <= 1
}

// ClassState holds the learned parameters of a classifier: with the kernel and
// the labels it determines the classifier.
type ClassState struct {
	Method ClassMethod `json:"method"`
	Solver Solver      `json:"solver"`
	Theta  []float64   `json:"theta"` // of the kernel and, for OneVsAll, the noise variance
	Calibration
}

// ClassifyOptions says how a classifier is fitted. The zero value is a good
// choice: Dirichlet, with the defaults below.
type ClassifyOptions struct {
	Method    ClassMethod // zero: Dirichlet
	Solver    Solver      // zero: Auto, which takes Exact up to 3,000 labels
	Starts    [][]float64 // hyperparameters of the kernel; learning starts from the most likely of them; nil means those of kernel.Starts
	MaxIter   int         // most iterations of BFGS; 0 means 30
	Tol       float64     // gain in log likelihood, in nats, of four iterations below which learning ends; 0 means 0.001
	Inducing  int         // Variational: number of inducing nodes; 0 means 300
	Steps     int         // Variational: number of learning steps; 0 means 40
	ScoreOnly bool        // Dirichlet, OneVsAll: learn and score, but return no classifier, to compare kernels
	State     *ClassState // take these parameters, and learn nothing; nil: learn
	Seed      uint64      // of random numbers
	Device    *Card       // Dirichlet, OneVsAll: as FitOptions.Device; nil: this processor alone

	Progress *progress.Work // Dirichlet, OneVsAll: is told how far learning is; nil: nobody is

	// Near is the report of a fit of the same kernel by the same method to some of the
	// labels: learning goes on from there. Dirichlet, OneVsAll; nil: it begins with Starts.
	Near *ClassifyReport
	Keep bool // keep the hyperparameters of Near, and only calibrate and score by these labels

	Limits *plan.Limits // as FitOptions.Limits
}

// ClassifyReport is the outcome of fitting a classifier.
type ClassifyReport struct {
	ClassState
	Names []string `json:"names"` // of Theta
	// of the labels that were learned from, all or a sample; for Variational and RobustMax a lower bound
	LogLikelihood float64 `json:"log_likelihood"`
	Score         float64 `json:"score"`    // mean leave-one-out or held-out log probability of labels
	Accuracy      float64 `json:"accuracy"` // share of labels that the other labels predict correctly
	Scored        int     `json:"scored"`   // number of labels behind Score and Accuracy: the only label of its class is not scored
	Evaluations   int     `json:"evaluations"`
	Converged     bool    `json:"converged"`

	refined bool      // the hyperparameters have the highest score, not the highest likelihood
	likely  []float64 // those that the likelihood led to, if refined: with other labels they may have the higher score
}

// Classify learns hyperparameters from labels, calibrates probabilities by
// leave-one-out or held-out labels, and returns the classifier.
func Classify(ctx context.Context, k kernel.Kernel, l Labels, opts ClassifyOptions) (*Classifier, ClassifyReport, error) {
	if err := l.Check(k.Nodes()); err != nil {
		return nil, ClassifyReport{}, err
	}
	if opts.State != nil {
		opts.Method, opts.Solver = opts.State.Method, opts.State.Solver
		if !opts.State.valid() {
			return nil, ClassifyReport{}, fmt.Errorf("classifying: calibration %+v is out of range", opts.State.Calibration)
		}
	}
	if opts.Solver == Auto {
		opts.Solver = Exact
		if !opts.Limits.Or().Factored(l.Len(), "") {
			opts.Solver = Iterative
		}
	}
	if opts.MaxIter == 0 {
		opts.MaxIter = 30
	}
	if opts.Tol == 0 {
		opts.Tol = defaultTol
	}
	var c *Classifier
	var r ClassifyReport
	var err error
	switch opts.Method {
	case Dirichlet, OneVsAll:
		c, r, err = classifyByRegression(ctx, k, l, opts)
	case Variational, RobustMax:
		c, r, err = classifyVariationally(ctx, k, l, opts)
	case Spreading:
		c, r, err = spreadLabels(ctx, k, l, opts)
	default:
		return nil, r, fmt.Errorf("classifying: %v; there are %q", opts.Method, ClassMethodNames())
	}
	if err != nil {
		return nil, r, fmt.Errorf("classifying: %w", err)
	}
	r.Names = pathsOf(k)
	if len(r.Theta) > len(r.Names) {
		r.Names = append(r.Names, "noise")
	}
	return c, r, nil
}

// Hyperparameters returns Theta by their paths.
func (r *ClassifyReport) Hyperparameters() kernel.Theta { return kernel.ThetaNamed(r.Names, r.Theta) }

// score fills in the mean log probability and the accuracy of the classes that are scored.
func (r *ClassifyReport) score(p *mat.Dense, class []int) {
	r.Score, r.Scored, r.Accuracy = latent.LogScore(p, class), latent.Scored(class), 0
	for i, c := range class {
		if latent.Argmax(p.RawRowView(i)) == c {
			r.Accuracy += 1 / float64(r.Scored)
		}
	}
}
