package bench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"grfgp"
	"grfgp/covariate"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/lab/dataset"
)

// Rival is a case of the comparison with simple rules on real data.
type Rival struct {
	Name    string
	Title   string
	Measure string                                                   // what Error is
	splits  int                                                      // most
	load    func(ctx context.Context, s dataset.Store) (task, error) // may take seconds
}

// task is a graph with all values, or all classes, and its splits.
type task struct {
	graph      *graph.Graph // in locality order
	covariates *covariate.Set
	value      []float64 // by node; NaN where it is not known
	x, y       []float64 // by node, in km; nil: no places
	class      []int     // by node; nil: values are predicted
	classes    int
	splits     []dataset.Split // nodes of graph
}

// RivalOptions select the cases and the number of splits.
type RivalOptions struct {
	Cases  []string // names as in Rivals; none means all
	Splits int      // at most this many of each case, 1 to MostSplits; 0 means MostSplits
	Parts  bool     // also fit single terms of the kernel: the graph alone, covariates alone, roles alone
	Store  dataset.Store
	// Stage is called when a split of a case begins, and the function that it returns when it ends.
	Stage func(name string) (done func())
}

// MostSplits is the number of splits of a case, if it has no splits of its own.
const MostSplits = 5

// RivalReport compares the model with simple rules.
type RivalReport struct {
	Version int           `json:"version"`
	Cases   []RivalResult `json:"cases"`
}

// RivalResult is the result of one case. Model is the model of grfgp with all
// settings chosen automatically.
type RivalResult struct {
	Name     string      `json:"name"`
	Title    string      `json:"title"`
	Measure  string      `json:"measure"`
	Nodes    int         `json:"nodes"`
	Edges    int         `json:"edges"`
	Measured int         `json:"measured"` // nodes with a measurement or label, in each split
	Held     int         `json:"held_out"`
	Classes  int         `json:"classes,omitempty"`
	Model    RivalScore  `json:"model"`
	Parts    []PartScore `json:"parts,omitempty"`
	Rules    []RuleScore `json:"rules"`
	Kriging  *RivalScore `json:"kriging,omitempty"` // ordinary kriging as the crow flies, where places are known
}

// PartScore is the result of a model with a single term of the kernel.
type PartScore struct {
	Term string `json:"term"`
	RivalScore
}

// RivalScore has a number per split. Of measurements, Density is the mean negative log density of
// a reading (NLPD) and Coverage the share of readings in 95 % intervals; of labels, Density is the NLL.
type RivalScore struct {
	Error    Splits `json:"error"` // or accuracy
	Coverage Splits `json:"coverage,omitempty"`
	Density  Splits `json:"density"`
	ECE      Splits `json:"ece,omitempty"`
	Seconds  Splits `json:"seconds"`
}

// RuleScore is the result of a simple rule.
type RuleScore struct {
	Rule    crossval.Baseline `json:"rule"`
	Error   Splits            `json:"error"` // or accuracy
	Seconds Splits            `json:"seconds"`
}

// Splits are numbers, one per split.
type Splits []float64

// Mean returns the mean over splits, and its standard error; 0 for one split.
func (s Splits) Mean() (mean, se float64) {
	if len(s) < 2 {
		return stat.Mean(s, nil), 0
	}
	mean, sd := stat.MeanStdDev(s, nil)
	return mean, sd / math.Sqrt(float64(len(s)))
}

// Rivals returns all cases.
func Rivals() []Rival {
	const volume, views = "RMSE of log(1 + volume)", "RMSE of log(1 + views)"
	return []Rival{
		{"chicago", "Chicago's link volumes, 40 % measured, with covariates", volume, MostSplits, knownTask("chicago", 0.4, true)},
		{"anaheim", "Anaheim's link volumes, 40 % measured, with covariates", volume, MostSplits, knownTask("anaheim", 0.4, true)},
		{"streamers-english", "English streamers, 30 % measured", views, MostSplits, knownTask("streamers-english", 0.3, false)},
		{"streamers-spanish", "Spanish streamers, 30 % measured", views, MostSplits, knownTask("streamers-spanish", 0.3, false)},
		{"san-jose", "speeds in San Jose, 250 of 325 detectors, the paper's splits", "RMSE in mph", 5, sanJoseTask},
		{"wind", "wind at 1000 hPa under a satellite's track", "RMSE in sds of the measurements", 1, windTask},
		{"cora", "Cora, largest component, 80 % labelled", "accuracy", MostSplits, coraTask},
		{"cora-words", "Cora with words, 80 % labelled", "accuracy", MostSplits, knownTask("cora-words", 0.8, true)},
		{"cora-words-few", "Cora with words, 5 % labelled", "accuracy", MostSplits, knownTask("cora-words", 0.05, true)},
	}
}

// knownTask measures a share of the nodes of a set with covariates, which are given to the model if use
// is true. Values are logged.
func knownTask(name string, share float64, use bool) func(context.Context, dataset.Store) (task, error) {
	return func(ctx context.Context, s dataset.Store) (task, error) {
		k, err := s.Known(ctx, name)
		if err != nil {
			return task{}, err
		}
		t := task{graph: k.Graph, value: make([]float64, len(k.Value)), class: k.Class, classes: k.Classes}
		for i, v := range k.Value {
			t.value[i] = math.Log1p(v)
		}
		t.splits = randomSplits(k.Graph.Len(), int(math.Round(share*float64(k.Graph.Len()))))
		columns := k.Columns
		if !use {
			columns = nil
		}
		return t.ordered(columns)
	}
}

// randomSplits returns splits of all nodes, by seeds from 1.
func randomSplits(n, train int) []dataset.Split {
	var splits []dataset.Split
	for seed := 1; seed <= MostSplits; seed++ {
		order := rand.New(rng.New(uint64(seed), "rivals")).Perm(n)
		splits = append(splits, dataset.Split{Seed: seed, Train: order[:train], Test: order[train:]})
	}
	return splits
}

func sanJoseTask(ctx context.Context, s dataset.Store) (task, error) {
	roads, err := s.Traffic(ctx)
	if err != nil {
		return task{}, err
	}
	t := task{graph: roads.Graph, value: make([]float64, roads.Graph.Len()), splits: roads.Splits}
	for i := range t.value {
		t.value[i] = math.NaN()
	}
	for i, v := range roads.Speed {
		t.value[i] = v
	}
	t.x, t.y = plane(roads.Lat, roads.Lon)
	return t.ordered(nil)
}

func windTask(ctx context.Context, s dataset.Store) (task, error) {
	w, err := s.Wind(ctx)
	if err != nil {
		return task{}, err
	}
	t := task{graph: w.Graph}
	if t.value, err = w.Speed(1000); err != nil {
		return task{}, err
	}
	split := dataset.Split{Seed: 1}
	split.Train, split.Test = w.Split()
	t.splits = []dataset.Split{split}
	var measured []float64
	for _, i := range split.Train {
		measured = append(measured, t.value[i])
	}
	mean, sd := stat.PopMeanStdDev(measured, nil)
	for i := range t.value {
		t.value[i] = (t.value[i] - mean) / sd
	}
	return t.ordered(nil)
}

func coraTask(ctx context.Context, s dataset.Store) (task, error) {
	c, err := s.Cora(ctx)
	if err != nil {
		return task{}, err
	}
	n := c.Graph.Len()
	return task{graph: c.Graph, class: c.Class, classes: len(c.Classes), splits: randomSplits(n, n*8/10)}.ordered(nil)
}

// ordered numbers nodes by locality and encodes the columns of the old numbering.
func (t task) ordered(columns []covariate.Column) (task, error) {
	old := t.graph
	t.graph = old.Ordered()
	now := t.graph.InputOrder() // by old number
	before := make([]int, len(now))
	for k, i := range now {
		before[i] = k
	}
	for _, values := range []*[]float64{&t.value, &t.x, &t.y} {
		if len(*values) > 0 {
			moved := make([]float64, len(now))
			for i, k := range before {
				moved[i] = (*values)[k]
			}
			*values = moved
		}
	}
	if t.class != nil {
		class := make([]int, len(now))
		for i, k := range before {
			class[i] = t.class[k]
		}
		t.class = class
	}
	var splits []dataset.Split
	move := func(nodes []int) []int {
		var moved []int
		for _, k := range nodes {
			moved = append(moved, now[k])
		}
		return moved
	}
	for _, s := range t.splits {
		splits = append(splits, dataset.Split{Seed: s.Seed, Train: move(s.Train), Test: move(s.Test)})
	}
	t.splits = splits
	if len(columns) == 0 {
		return t, nil
	}
	var moved []covariate.Column
	for _, c := range columns {
		moved = append(moved, c.Pick(before))
	}
	set, err := covariate.Encode(moved, len(now), covariate.Options{})
	t.covariates = set
	return t, err
}

// RunRivals compares the model with simple rules in the chosen cases.
func RunRivals(ctx context.Context, o RivalOptions) (*RivalReport, error) {
	r := &RivalReport{Version: 1}
	for _, c := range Rivals() {
		if len(o.Cases) > 0 && !slices.Contains(o.Cases, c.Name) {
			continue
		}
		result, err := c.run(ctx, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		r.Cases = append(r.Cases, *result)
	}
	return r, nil
}

func (c Rival) run(ctx context.Context, o RivalOptions) (*RivalResult, error) {
	t, err := c.load(ctx, o.Store)
	if err != nil {
		return nil, err
	}
	count := min(c.splits, len(t.splits))
	if o.Splits > 0 {
		count = min(count, o.Splits)
	}
	r := &RivalResult{Name: c.Name, Title: c.Title, Measure: c.Measure, Nodes: t.graph.Len(), Edges: t.graph.Edges(), Classes: t.classes,
		Measured: len(t.splits[0].Train), Held: len(t.splits[0].Test)}
	inputs := &crossval.Inputs{Graph: t.graph, Covariates: t.covariates}
	for k, split := range t.splits[:count] {
		done := o.Stage(fmt.Sprintf("%s, split %d of %d", c.Name, k+1, count))
		err := t.model(ctx, split, t.spec(), &r.Model)
		if err == nil {
			err = t.rules(ctx, inputs, split, r)
		}
		if err == nil && t.x != nil {
			err = t.kriging(split, r)
		}
		if err == nil && o.Parts {
			err = t.parts(ctx, split, r)
		}
		if err != nil {
			return nil, fmt.Errorf("split %d: %w", split.Seed, err)
		}
		done()
	}
	return r, nil
}

// spec is the specification of the model: everything is chosen automatically.
func (t task) spec() grfgp.Spec { return grfgp.Spec{Covariates: t.covariates, Seed: 1} }

// parts scores models with a single term on a split.
func (t task) parts(ctx context.Context, split dataset.Split, r *RivalResult) error {
	terms := []grfgp.Terms{grfgp.GraphTerm, grfgp.CovariateTerm, grfgp.RoleTerm}
	if t.covariates == nil {
		terms = []grfgp.Terms{grfgp.GraphTerm, grfgp.RoleTerm}
	}
	for k, term := range terms {
		if len(r.Parts) <= k {
			r.Parts = append(r.Parts, PartScore{Term: term.String()})
		}
		spec := t.spec()
		spec.Terms = term
		if err := t.model(ctx, split, spec, &r.Parts[k].RivalScore); err != nil {
			return fmt.Errorf("%s alone: %w", term, err)
		}
	}
	return nil
}

// model scores a model on a split, on the processor.
func (t task) model(ctx context.Context, split dataset.Split, spec grfgp.Spec, s *RivalScore) error {
	spec.Device = "cpu"
	start := time.Now()
	if t.class != nil {
		c, err := grfgp.Classify(ctx, t.graph, t.labels(split.Train), spec, gp.Dirichlet)
		if err != nil {
			return err
		}
		p, err := c.Probabilities(ctx, split.Test)
		if err != nil {
			return err
		}
		s.Seconds = append(s.Seconds, time.Since(start).Seconds())
		score := crossval.ScoreClasses(p, t.labels(split.Test).Class)
		s.Error, s.Density, s.ECE = append(s.Error, score.Accuracy), append(s.Density, score.NLL), append(s.ECE, score.ECE)
		return nil
	}
	m, err := grfgp.Fit(ctx, t.graph, t.data(split.Train), spec)
	if err != nil {
		return err
	}
	p, err := m.Predict(ctx, split.Test)
	if err != nil {
		return err
	}
	s.Seconds = append(s.Seconds, time.Since(start).Seconds())
	sd := make([]float64, len(split.Test))
	for k := range sd {
		sd[k] = math.Hypot(p.SD[k], m.NoiseSD())
	}
	t.judge(split, p.Mean, sd, s)
	return nil
}

// judge scores means and standard deviations of measurements at the test nodes.
func (t task) judge(split dataset.Split, mean, sd []float64, s *RivalScore) {
	const z95 = 1.959963984540054
	squares, inside, density, n := 0.0, 0.0, 0.0, float64(len(split.Test))
	for k, i := range split.Test {
		e, v := t.value[i]-mean[k], sd[k]*sd[k]
		squares += e * e / n
		density += (e*e/v + math.Log(2*math.Pi*v)) / 2 / n
		if math.Abs(e) <= z95*sd[k] {
			inside += 1 / n
		}
	}
	s.Error, s.Coverage, s.Density = append(s.Error, math.Sqrt(squares)), append(s.Coverage, inside), append(s.Density, density)
}

// kriging scores ordinary kriging as the crow flies on a split.
func (t task) kriging(split dataset.Split, r *RivalResult) error {
	if r.Kriging == nil {
		r.Kriging = &RivalScore{}
	}
	start := time.Now()
	var x, y []float64
	for _, i := range split.Train {
		x, y = append(x, t.x[i]), append(y, t.y[i])
	}
	k, err := fitKriging(x, y, t.data(split.Train).Y)
	if err != nil {
		return err
	}
	mean, sd := make([]float64, len(split.Test)), make([]float64, len(split.Test))
	for j, i := range split.Test {
		if mean[j], sd[j], err = k.predict(t.x[i], t.y[i]); err != nil {
			return err
		}
	}
	r.Kriging.Seconds = append(r.Kriging.Seconds, time.Since(start).Seconds())
	t.judge(split, mean, sd, r.Kriging)
	return nil
}

// rules scores the simple rules on a split. Roles are computed in the first split, and their time counts
// in each.
func (t task) rules(ctx context.Context, in *crossval.Inputs, split dataset.Split, r *RivalResult) error {
	all := []crossval.Baseline{crossval.Mean, crossval.Nearest, crossval.Harmonic, crossval.GraphRidge, crossval.LeastSquares,
		crossval.SingularRidge}
	if t.class != nil {
		all[0] = crossval.ClassFrequencies
	}
	all = slices.DeleteFunc(all, func(b crossval.Baseline) bool { return b == crossval.LeastSquares && t.covariates == nil })
	for k, rule := range all {
		if len(r.Rules) <= k {
			r.Rules = append(r.Rules, RuleScore{Rule: rule})
		}
		if rule == crossval.SingularRidge {
			in.Roles = nil
		}
		start := time.Now()
		e, err := t.score(ctx, rule, in, split)
		if err != nil {
			return err
		}
		s := &r.Rules[k]
		s.Error, s.Seconds = append(s.Error, e), append(s.Seconds, time.Since(start).Seconds())
	}
	return nil
}

// score returns the error, or the accuracy, of a rule.
func (t task) score(ctx context.Context, rule crossval.Baseline, in *crossval.Inputs, split dataset.Split) (float64, error) {
	if t.class != nil {
		p, err := rule.Classify(ctx, in, t.labels(split.Train), split.Test)
		if err != nil {
			return 0, err
		}
		return crossval.ScoreClasses(p, t.labels(split.Test).Class).Accuracy, nil
	}
	predicted, err := rule.Predict(ctx, in, t.data(split.Train))
	if err != nil {
		return 0, err
	}
	squares := 0.0
	for _, i := range split.Test {
		squares += (predicted[i] - t.value[i]) * (predicted[i] - t.value[i])
	}
	return math.Sqrt(squares / float64(len(split.Test))), nil
}

func (t task) data(nodes []int) gp.Data {
	d := gp.Data{Nodes: slices.Clone(nodes)}
	for _, i := range nodes {
		d.Y = append(d.Y, t.value[i])
	}
	return d
}

func (t task) labels(nodes []int) gp.Labels {
	l := gp.Labels{Nodes: slices.Clone(nodes), Classes: t.classes}
	for _, i := range nodes {
		l.Class = append(l.Class, t.class[i])
	}
	return l
}
