package experiment

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"gonum.org/v1/gonum/mat"

	"grfgp"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/lab/dataset"
	"grfgp/walk"
)

func cora() *Experiment {
	return &Experiment{
		Name: "cora", Title: "Topics of papers (Table 7)", Version: 5,
		About: `Classification of papers by citations alone, on the largest component of the citation network Cora: 2,485 papers in seven topics, 80 % of them labelled. The paper states a softmax likelihood; its code uses
the RobustMax likelihood with 994 inducing nodes, walks on the Laplacian with four free coefficients,
	and five seeds on one split with 1,988 labels. Here
that likelihood, with as many inducing nodes, is run on their split with their features and with exact kernels; for comparison,
	their features are also run with 300 inducing nodes, and with regression on Dirichlet labels. The clean protocol adds ten random splits,
trains all kernels until they converge (the paper's diffusion baseline took five steps), and reports log score and calibration besides accuracy: on one test set of 497 papers the standard error of accuracy is
1.5 points. NLL is the mean negative log probability of the true topic; ECE (expected calibration error) is the mean difference,
	over 15 bins, between the highest probability and the accuracy.`,
		Columns: []Column{
			{"arm", Key, "model"},
			{"split", Key, "authors: the paper's split; otherwise the number of a random split"},
			{"seed", Key, "seed of walks and starting values"},
			{"accuracy", Number, "% of test papers classified correctly"},
			{"nll", Number, "nats"},
			{"ece", Number, "expected calibration error, between 0 and 1"},
			{"density", Number, "share of stored entries of the features in %; empty: no features"},
			{"seconds", Cost, "sampling walks, learning and predicting"},
		},
		TimeColumns: []string{"seconds"},
		Parts:       coraParts,
		Show:        showCora,
	}
}

// topicArm is a compared method.
type topicArm struct {
	key    string
	spec   grfgp.Spec
	method gp.ClassMethod
	splits int // random splits, in addition to the authors'
	few    int // training labels per class; 0: 80 % of all nodes
	work   float64
}

// coraFeatures samples features with a quarter of the paper's density.
var coraFeatures = grfgp.Spec{Expression: grfgp.Expression{Method: "grf", Family: "matern", Nu: 2, Scales: "one", Hops: 10}, Walks: 40}

var topicArms = []topicArm{
	{"features, Dirichlet", coraFeatures, gp.Dirichlet, 10, 0, 7},
	{"features, one-vs-all", coraFeatures, gp.OneVsAll, 10, 0, 6},
	{"features, softmax", coraFeatures, gp.Variational, 3, 0, 15},
	{"features, RobustMax", coraFeatures, gp.RobustMax, 3, 0, 15},
	{"matern, Dirichlet", grfgp.Spec{Expression: grfgp.Expression{Method: "series", Family: "matern", Nu: 2, Scales: "one"}},
		gp.Dirichlet, 10, 0, 7},
	{"diffusion, Dirichlet", grfgp.Spec{Expression: grfgp.Expression{Method: "series", Family: "diffusion", Scales: "one"}},
		gp.Dirichlet, 10, 0, 5},
	{"auto", grfgp.Spec{}, gp.Dirichlet, 10, 0, 40},
	{"spreading", grfgp.Spec{}, gp.Spreading, 10, 0, 1},
	{"auto, 20 labels a class", grfgp.Spec{}, gp.Dirichlet, 20, 20, 5},
	{"spreading, 20 labels a class", grfgp.Spec{}, gp.Spreading, 20, 20, 1},
}

// Arms with the authors' features, and arms with the paper's likelihood and number of
// inducing nodes.
const (
	authorsRobustMax = "authors' features, RobustMax"
	authorsDirichlet = "authors' features, Dirichlet"

	paperInducing  = 994
	paperFeatures  = "authors' features, RobustMax, 994 inducing nodes"
	paperDiffusion = "diffusion, RobustMax, 994 inducing nodes"
	paperMatern    = "matern, RobustMax, 994 inducing nodes"
)

// paperKernels are the exact kernels of the arms with the paper's likelihood, without unit
// variance: prior variances depend on the degree.
var paperKernels = map[string]kernel.Spectrum{paperDiffusion: kernel.Diffusion{}, paperMatern: kernel.Matern{Nu: 2}}

// topicSettings are the settings of a part.
type topicSettings struct {
	Arm      string
	Spec     grfgp.Spec
	Method   gp.ClassMethod
	Walks    int `json:",omitempty"` // per node, of the authors' features
	Hops     int `json:",omitempty"`
	Inducing int `json:",omitempty"`
	Few      int `json:",omitempty"` // training labels per class
	Split    int // −1: the authors'
	Seed     uint64
}

func coraParts(o Options) []Part {
	load := sync.OnceValues(func() (*dataset.Cora, error) { return dataset.Default().Cora(context.Background()) })
	have := ready("cora")
	var parts []Part
	add := func(s topicSettings, work float64) {
		s.Spec.Seed = s.Seed
		parts = append(parts, Part{Name: s.name(), Settings: s, Work: work, Ready: have, Run: withData(load, s.run)})
	}
	walks := 1 << 14
	if o.Quick {
		walks = 1 << 10
	}
	for _, a := range topicArms {
		if o.Quick && a.key != "features, Dirichlet" && a.key != "spreading" {
			continue
		}
		splits := a.splits
		if o.Quick {
			splits = 0
		} else if o.Seeds > 0 {
			splits = min(splits, o.Seeds)
		}
		first := -1
		if a.few > 0 {
			first = 0
		}
		for split := first; split < splits; split++ {
			add(topicSettings{Arm: a.key, Spec: a.spec, Method: a.method, Few: a.few, Split: split, Seed: o.Seed}, a.work)
		}
	}
	if !o.Quick {
		for _, arm := range []string{paperDiffusion, paperMatern} { // nothing is random
			add(topicSettings{Arm: arm, Method: gp.RobustMax, Inducing: paperInducing, Split: -1, Seed: o.Seed}, 120)
		}
		for seed := range o.Repeats(1, 5) {
			add(topicSettings{Arm: paperFeatures, Method: gp.RobustMax, Walks: walks, Hops: 3, Inducing: paperInducing, Split: -1, Seed: o.Seed +
				uint64(seed)}, 80)
		}
	}
	for seed := range o.Repeats(1, 5) {
		s := topicSettings{Arm: authorsDirichlet, Method: gp.Dirichlet, Walks: walks, Hops: 3, Split: -1, Seed: o.Seed + uint64(seed)}
		add(s, 20)
		if !o.Quick {
			s.Arm, s.Method, s.Inducing = authorsRobustMax, gp.RobustMax, 300
			add(s, 60)
		}
	}
	return parts
}

func (s topicSettings) split() string {
	if s.Split < 0 {
		return "authors"
	}
	return fmt.Sprint(s.Split)
}

func (s topicSettings) name() string {
	return fmt.Sprintf("%s-%s-seed%d", slug(s.Arm), s.split(), s.Seed)
}

// run fits one arm on one split.
func (s topicSettings) run(ctx context.Context, c *dataset.Cora) (*Result, error) {
	train, test := s.divide(c)
	labels := gp.Labels{Nodes: train, Class: classesAt(c, train), Classes: len(c.Classes)}
	began := time.Now()
	row := Row{"arm": s.Arm, "split": s.split(), "seed": int(s.Seed)}
	var p *mat.Dense
	var err error
	switch {
	case s.Walks > 0:
		p, err = s.authors(ctx, c.Graph, labels, test, row)
	case paperKernels[s.Arm] != nil:
		p, err = s.exact(ctx, c.Graph, labels, test)
	default:
		p, err = s.clean(ctx, c.Graph, labels, test)
	}
	if err != nil {
		return nil, err
	}
	score := crossval.ScoreClasses(p, classesAt(c, test))
	row["accuracy"], row["nll"], row["ece"], row["seconds"] = 100*score.Accuracy, score.NLL, score.ECE, time.Since(began).Seconds()
	if s.Spec.Method == "grf" { // not timed: the model samples its own features
		if row["density"], err = s.cleanDensity(ctx, c.Graph); err != nil {
			return nil, err
		}
	}
	r := &Result{Rows: []Row{row}}
	if s.Split < 0 && s.Walks == 0 && s.Inducing == 0 {
		r.Arrays = map[string][]float64{"probabilities": p.RawMatrix().Data} // one row per test paper
	}
	return r, nil
}

// divide returns the training and test nodes.
func (s topicSettings) divide(c *dataset.Cora) (train, test []int) {
	if train, test = c.AuthorsSplit(); s.Split < 0 {
		return train, test
	}
	if s.Few == 0 {
		order := rand.New(rng.New(uint64(s.Split), "cora split")).Perm(c.Graph.Len())
		return order[:len(train)], order[len(train):]
	}
	seen := make([]int, len(c.Classes))
	train, test = nil, nil
	for _, i := range rand.New(rng.New(uint64(s.Split), "cora few")).Perm(c.Graph.Len()) {
		if seen[c.Class[i]]++; seen[c.Class[i]] <= s.Few {
			train = append(train, i)
		} else {
			test = append(test, i)
		}
	}
	return train, test
}

func classesAt(c *dataset.Cora, nodes []int) []int {
	classes := make([]int, len(nodes))
	for k, i := range nodes {
		classes[k] = c.Class[i]
	}
	return classes
}

// clean fits one of our models.
func (s topicSettings) clean(ctx context.Context, g *graph.Graph, labels gp.Labels, test []int) (*mat.Dense, error) {
	g = g.Ordered()
	number := g.InputOrder()
	labels.Nodes = at(number, labels.Nodes)
	c, err := grfgp.Classify(ctx, g, labels, onProcessor(s.Spec), s.Method)
	if err != nil {
		return nil, err
	}
	return c.Probabilities(ctx, at(number, test))
}

// cleanDensity is the density of the features of one of our models.
func (s topicSettings) cleanDensity(ctx context.Context, g *graph.Graph) (float64, error) {
	opts := walk.Default()
	opts.MaxLen, opts.Walks, opts.Budget, opts.Seed = s.Spec.Hops, s.Spec.Walks, 2*s.Spec.Walks, s.Spec.Seed
	opts.Scale = g.WalkScale(graph.NormalizedAdjacency)
	f, err := walk.Sample(ctx, g.Normalized(graph.NormalizedAdjacency), opts)
	if err != nil {
		return 0, err
	}
	return density(f), nil
}

// density is the share of stored entries, in %.
func density(f *walk.Features) float64 {
	return 100 * float64(f.Size().Entries) / float64(f.Nodes()) / float64(f.Nodes())
}

// authors fits the authors' features with one of our likelihoods.
func (s topicSettings) authors(ctx context.Context, g *graph.Graph, labels gp.Labels, test []int, row Row) (*mat.Dense, error) {
	f, err := authorsFeatures(ctx, g, s.Walks, s.Hops, s.Seed)
	if err != nil {
		return nil, err
	}
	row["density"] = density(f)
	k, err := kernel.NewGRF(f, kernel.Free{Len: s.Hops})
	if err != nil {
		return nil, err
	}
	return s.predict(ctx, k, labels, test, randomStart(s.Hops, s.Seed))
}

// exact fits an exact kernel with the paper's likelihood.
func (s topicSettings) exact(ctx context.Context, g *graph.Graph, labels gp.Labels, test []int) (*mat.Dense, error) {
	k, err := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), paperKernels[s.Arm])
	if err != nil {
		return nil, err
	}
	return s.predict(ctx, k, labels, test, nil)
}

// predict fits a kernel and returns class probabilities at the test nodes.
func (s topicSettings) predict(ctx context.Context, k kernel.Kernel, labels gp.Labels, test []int, starts [][]float64) (*mat.Dense, error) {
	c, _, err := gp.Classify(ctx, k, labels, gp.ClassifyOptions{Method: s.Method, Inducing: s.Inducing, Starts: starts, Seed: s.Seed})
	if err != nil {
		return nil, err
	}
	return c.Probabilities(ctx, test, nil)
}
