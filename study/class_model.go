package study

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/graph"
)

// classModel is the model of a study of classes. It follows from the labels alone, so that
// it is the same after a restart.
type classModel struct {
	trainer *grfgp.Trainer

	mu     sync.Mutex
	labels []Measurement  // behind fitted
	fitted *classSnapshot // nil: none yet
}

func newClassModel(g *graph.Graph, spec grfgp.Spec) (*classModel, error) {
	t, err := grfgp.NewTrainer(g, spec)
	if err != nil {
		return nil, err
	}
	return &classModel{trainer: t}, nil
}

// sibling returns a model without labels that shares walks and features.
func (m *classModel) sibling() *classModel { return &classModel{trainer: m.trainer} }

// fit returns the classifier of labels: the last one if they are the same.
func (m *classModel) fit(ctx context.Context, measurements []Measurement, make func() (*classSnapshot, error)) (*classSnapshot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fitted != nil && slices.Equal(m.labels, measurements) {
		return m.fitted, nil
	}
	s, err := make()
	if err != nil {
		return nil, fitError(ctx, err)
	}
	m.labels, m.fitted = slices.Clone(measurements), s
	return s, nil
}

// expectedClasses is the number of classes by which memory is estimated.
func (e *ModelEngine) expectedClasses() int {
	const open = 10
	if e.settings.Classes == nil {
		return open
	}
	return len(e.settings.Classes)
}

// classify fits the classifier to measurements. The error wraps ErrNoModel unless there are
// labels of two classes.
func (e *ModelEngine) classify(ctx context.Context, measurements []Measurement) (*classSnapshot, error) {
	names, class := e.settings.classNumbers(measurements)
	l := gp.Labels{Class: class, Classes: len(names)}
	for _, m := range measurements {
		node, err := e.node(m.Node)
		if err != nil {
			return nil, err
		}
		l.Nodes = append(l.Nodes, node)
	}
	if len(class) == 0 || !slices.ContainsFunc(class, func(c int) bool { return c != class[0] }) {
		return nil, fmt.Errorf("%w: %s", ErrNoModel, twoClasses)
	}
	return e.classes.fit(ctx, measurements, func() (*classSnapshot, error) {
		c, err := e.classes.trainer.Classify(ctx, l, gp.Dirichlet)
		if err != nil {
			return nil, err
		}
		return &classSnapshot{c, e, names, l}, nil
	})
}

// twoClasses says what a model needs.
const twoClasses = "a model needs nodes of two classes, at least one of each"

// labelsAtOnce is the number of nodes that are picked at a time: the picker considers some
// hundred nodes at least, whatever the number of classes.
const labelsAtOnce = 100

// pendingLabels is the number of pending nodes that are taken as if their classes were known;
// the memory of the picker grows with its square.
const pendingLabels = 1000

// suggestClasses picks the nodes whose classes would tell most.
func (e *ModelEngine) suggestClasses(ctx context.Context, q Query, r bayesopt.Request) (Suggestions, error) {
	why := "drawn at random, as the study asks for"
	if _, random := e.opts.Policy.(bayesopt.Random); !random && !q.Random {
		c, err := e.classify(ctx, q.Measurements)
		if err == nil {
			return c.suggest(ctx, r)
		}
		if !errors.Is(err, ErrNoModel) {
			return Suggestions{}, err
		}
		why = "drawn at random: " + twoClasses
	}
	a, err := e.draw(ctx, r, q.Measurements)
	for k := range a.Suggestions {
		a.Suggestions[k].Why = why
	}
	return e.suggestions(a), err
}

// classSnapshot is a ClassSnapshot of a classifier.
type classSnapshot struct {
	classifier *grfgp.Classification
	of         *ModelEngine
	names      []string
	labels     gp.Labels
}

// suggest picks nodes, some at a time.
func (s *classSnapshot) suggest(ctx context.Context, r bayesopt.Request) (out Suggestions, err error) {
	opts := bayesopt.LabelOptions{
		Pending: slices.Clone(r.Pending), Budget: r.Budget, Seed: r.Seed,
		Limits: bayesopt.Limits{Cost: s.of.opts.Cost, Group: s.of.opts.Group, GroupCap: s.of.opts.GroupCap},
	}
	taken := make([]bool, s.of.graph.Len())
	for _, i := range slices.Concat(s.labels.Nodes, r.Pending, r.Excluded) {
		taken[i] = true
	}
	for len(out.List) < r.Count && out.Short == bayesopt.Enough {
		opts.Allowed = s.free(taken)
		if s.of.opts.GroupCap == 0 {
			opts.Pending = opts.Pending[max(0, len(opts.Pending)-pendingLabels):]
		}
		var picks []bayesopt.LabelSuggestion
		if picks, out.Short, err = bayesopt.SuggestLabels(ctx, s.classifier, min(labelsAtOnce, r.Count-len(out.List)), opts); err != nil {
			return Suggestions{}, fitError(ctx, err)
		}
		for _, p := range picks {
			out.List = append(out.List, s.suggestion(p))
			taken[p.Node] = true
			opts.Pending = append(opts.Pending, p.Node)
			if opts.Budget != nil {
				left := *opts.Budget - p.Cost
				opts.Budget = &left
			}
		}
	}
	return out, nil
}

// free returns the nodes that may be suggested and are not taken.
func (s *classSnapshot) free(taken []bool) []int {
	free := []int{}
	if allowed := s.of.opts.Allowed; allowed != nil {
		for _, i := range allowed {
			if !taken[i] {
				free = append(free, i)
			}
		}
		return free
	}
	for i, is := range taken {
		if !is {
			free = append(free, i)
		}
	}
	return free
}

func (s *classSnapshot) suggestion(p bayesopt.LabelSuggestion) Suggestion {
	best, second := topTwo(p.Probabilities)
	probability := p.Probabilities[best]
	return Suggestion{
		Node: s.of.graph.IDs().At(p.Node), Cost: p.Cost, Expected: s.names[best], Probability: &probability,
		Why: fmt.Sprintf("could be %s (%.0f %%) or %s (%.0f %%); its class would tell about other nodes", s.names[best],
			100*p.Probabilities[best], s.names[second], 100*p.Probabilities[second]),
	}
}

// topTwo returns the most probable class and the next.
func topTwo(p []float64) (best, second int) {
	second = -1
	for c := range p {
		if p[c] > p[best] {
			best = c
		}
	}
	for c := range p {
		if c != best && (second < 0 || p[c] > p[second]) {
			second = c
		}
	}
	return best, second
}

// Classes implements ClassSnapshot.
func (s *classSnapshot) Classes() []string { return s.names }

// Probabilities implements ClassSnapshot.
func (s *classSnapshot) Probabilities(ctx context.Context, nodes []int) (*mat.Dense, error) {
	return s.classifier.Probabilities(ctx, nodes)
}

// foldsOfMany is the number of folds where labels are too many to leave out one at a time.
const foldsOfMany = 5

// ValidateClasses implements ClassSnapshot.
func (s *classSnapshot) ValidateClasses(ctx context.Context) (*crossval.ClassValidation, error) {
	twice := 0
	for _, n := range s.labels.Counts() {
		if n > 1 {
			twice++
		}
	}
	if twice < 2 {
		return nil, fmt.Errorf("%w: two classes need two nodes each before one can be left out", ErrNoModel)
	}
	spreading, err := s.of.classes.trainer.Classify(ctx, s.labels, gp.Spreading)
	if err != nil {
		return nil, fitError(ctx, err)
	}
	if v := crossval.LeaveOneOutClasses(s.classifier, spreading, s.labels); v != nil {
		return v, nil
	}
	v, err := crossval.ValidateClasses(ctx, s.of.graph, s.labels, s.classifier.Spec(), gp.Dirichlet, crossval.Options{Folds: foldsOfMany})
	if err != nil {
		return nil, fitError(ctx, err)
	}
	return v, nil
}

// Predict implements Snapshot.
func (s *classSnapshot) Predict(ctx context.Context, nodes []int) (grfgp.Prediction, error) {
	p, err := s.Probabilities(ctx, nodes)
	if err != nil {
		return grfgp.Prediction{}, err
	}
	out, _ := confidence(p)
	return out, nil
}

// confidence returns the probability of the most probable class at every row, with the
// standard deviation of a node's being of it, and the numbers of these classes.
func confidence(p *mat.Dense) (grfgp.Prediction, []int) {
	n, _ := p.Dims()
	out, class := grfgp.Prediction{Mean: make([]float64, n), SD: make([]float64, n)}, make([]int, n)
	for i := range n {
		row := p.RawRowView(i)
		class[i], _ = topTwo(row)
		out.Mean[i] = row[class[i]]
		out.SD[i] = math.Sqrt(max(0, row[class[i]]*(1-row[class[i]])))
	}
	return out, class
}

// errOfValues is the error of what only studies of values have.
var errOfValues = fmt.Errorf("%w: only studies of values have this", ErrKind)

// Validate implements Snapshot.
func (s *classSnapshot) Validate(context.Context, uint64) (*crossval.Validation, error) {
	return nil, errOfValues
}

// Effects implements Snapshot.
func (s *classSnapshot) Effects(context.Context) (*grfgp.Effects, error) { return nil, errOfValues }

// NoiseSD implements Snapshot.
func (s *classSnapshot) NoiseSD() float64 { return 0 }

// Chosen implements Snapshot.
func (s *classSnapshot) Chosen() grfgp.Spec {
	spec := s.classifier.Spec()
	spec.Device = "" // as that of a grfgp.Snapshot
	return spec
}

// predictClasses returns the probabilities of all nodes.
func predictClasses(ctx context.Context, f *fit, s ClassSnapshot, nodes []int) (*Predictions, error) {
	p, err := s.Probabilities(ctx, nodes)
	if err != nil {
		return nil, err
	}
	out := &Predictions{Seq: f.seq, Measurements: len(f.measurements), Spec: s.Chosen(), Classes: s.Classes(), Probabilities: p}
	out.Prediction, out.Class = confidence(p)
	return out, nil
}

// ClassCalibration is how well labels are predicted from the others.
type ClassCalibration struct {
	Classes []string // names, by number
	*crossval.ClassValidation
}

// ClassCalibration is Calibration of a study of classes.
func (s *Study) ClassCalibration(ctx context.Context) (*ClassCalibration, error) {
	f := s.currentFit()
	return f.classes.get(func() (*ClassCalibration, error) {
		snapshot, err := s.snapshot(ctx, f)
		if err != nil {
			return nil, err
		}
		classes, ok := snapshot.(ClassSnapshot)
		if !ok {
			return nil, fmt.Errorf("%w: the study is of values", ErrKind)
		}
		v, err := classes.ValidateClasses(ctx)
		if err != nil {
			return nil, err
		}
		return &ClassCalibration{classes.Classes(), v}, nil
	})
}
