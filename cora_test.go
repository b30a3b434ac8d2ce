package grfgp_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"grfgp"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	"grfgp/lab/randomstate"
	"grfgp/walk"
)

// cora returns the largest component of the citation network, and the class of
// every node.
func cora(t testing.TB) (*graph.Graph, []int) {
	t.Helper()
	g := readGraph(t, "cora/cora_lcc_edges.csv.gz", graphio.Options{})
	class := make([]int, g.Len())
	for _, row := range table(t, "cora/cora_lcc_nodes.csv.gz") {
		class[at(t, g, row[0])] = int(number(t, row[2]))
	}
	return g, class
}

// labelled returns labels of the given nodes.
func labelled(nodes, class []int, classes int) gp.Labels {
	l := gp.Labels{Nodes: nodes, Classes: classes}
	for _, i := range nodes {
		l.Class = append(l.Class, class[i])
	}
	return l
}

// classScore is how good probabilities are: the expected calibration error has 15
// bins of the largest probability, of equal width.
type classScore struct{ accuracy, nll, ece float64 }

func scoreClasses(p *mat.Dense, class []int) (s classScore) {
	var conf, right [15]float64
	n := float64(len(class))
	for r, c := range class {
		row, best := p.RawRowView(r), 0
		for k, v := range row {
			if v > row[best] {
				best = k
			}
		}
		bin := min(14, int(15*row[best]))
		conf[bin] += row[best]
		s.nll -= math.Log(row[c]) / n
		if best == c {
			s.accuracy += 1 / n
			right[bin]++
		}
	}
	for b := range conf {
		s.ece += math.Abs(conf[b]-right[b]) / n
	}
	return s
}

// classTask is a split of labelled nodes.
type classTask struct {
	graph       *graph.Graph
	train, test gp.Labels
}

func (k classTask) score(t testing.TB, spec grfgp.Spec, method gp.ClassMethod) (classScore, *grfgp.Classification) {
	t.Helper()
	c, err := grfgp.Classify(context.Background(), k.graph, k.train, spec, method)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Probabilities(context.Background(), k.test.Nodes)
	if err != nil {
		t.Fatal(err)
	}
	return scoreClasses(p, k.test.Class), c
}

// coraSplits are random splits into 80 and 20 %.
func coraSplits(t testing.TB, count int) []classTask {
	g, class := cora(t)
	var all []classTask
	for s := range count {
		perm := rand.New(rng.New(uint64(s), "cora split")).Perm(g.Len())
		all = append(all, classTask{g, labelled(perm[:1988], class, 7), labelled(perm[1988:], class, 7)})
	}
	return all
}

// coraTable logs mean and standard error over tasks.
func coraTable(t testing.TB, tasks []classTask, spec grfgp.Spec, method gp.ClassMethod) (mean classScore) {
	t.Helper()
	began := time.Now()
	n, square := float64(len(tasks)), 0.0
	var last *grfgp.Classification
	for _, k := range tasks {
		s, c := k.score(t, spec, method)
		mean.accuracy += s.accuracy / n
		mean.nll += s.nll / n
		mean.ece += s.ece / n
		square += s.accuracy * s.accuracy / n
		last = c
		f := c.Choice().Fit
		t.Logf("%.2f %%, NLL %.4f, ECE %.4f; %s, score %.4f, %+v, θ %.3g", 100*s.accuracy, s.nll, s.ece, c.Choice().Family, f.Score,
			f.Calibration, f.Theta)
	}
	se := math.Sqrt(max(0, square-mean.accuracy*mean.accuracy) / max(1, n-1))
	t.Logf("%v %+v: accuracy %.2f ± %.2f %%, NLL %.3f, ECE %.3f; last %s; %.1f s a run", method, spec, 100*mean.accuracy, 100*se, mean.nll,
		mean.ece,
		strings.Join(last.Choice().Why, "; "), time.Since(began).Seconds()/n)
	return mean
}

// coraGRF are features at a quarter of the paper's density.
var coraGRF = grfgp.Spec{Expression: grfgp.Expression{Method: "grf", Family: "matern", Nu: 2, Scales: "one", Hops: 10}, Walks: 40}

// coraAuthors is the paper's split: numpy's permutation of seed 1, nodes in the
// order in which the public loader meets them.
func coraAuthors(t testing.TB) classTask {
	g, class := cora(t)
	order := make([]int, g.Len())
	for i := range order {
		order[i] = at(t, g, strconv.Itoa(i))
	}
	randomstate.Shuffle(randomstate.New(1), order)
	return classTask{g, labelled(order[:1988], class, 7), labelled(order[1988:], class, 7)}
}

// coraFew are draws of so many labels of each class; all else is to be predicted.
func coraFew(t testing.TB, each, count int) []classTask {
	g, class := cora(t)
	var all []classTask
	for s := range count {
		seen := make([]int, 7)
		var train, test []int
		for _, i := range rand.New(rng.New(uint64(s), "cora few")).Perm(g.Len()) {
			if seen[class[i]]++; seen[class[i]] <= each {
				train = append(train, i)
			} else {
				test = append(test, i)
			}
		}
		all = append(all, classTask{g, labelled(train, class, 7), labelled(test, class, 7)})
	}
	return all
}

// The paper reports 87.04 ± 0.53 % over five seeds of one split of 497 nodes, with
// features of a density of 22 %; the split has a standard error of 1.5. Six seeds of
// this library had 87.19 ± 0.27 %, NLL 0.440 ± 0.006 and ECE 0.032 ± 0.006 (standard
// deviations); the mean of two of them is within two standard errors of that. The quick
// suite has one seed and 500 labels, and is to be better than 20 labels a class.
func TestCora(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	k := coraAuthors(t)
	opts := walk.Default()
	opts.MaxLen, opts.Walks, opts.Budget, opts.Scale = coraGRF.Hops, coraGRF.Walks, 2*coraGRF.Walks,
		k.graph.WalkScale(graph.NormalizedAdjacency)
	f, err := walk.Sample(context.Background(), k.graph.Normalized(graph.NormalizedAdjacency), opts)
	if err != nil {
		t.Fatal(err)
	}
	density := float64(f.Size().Entries) / 2485 / 2485
	if t.Logf("features have density %.4f", density); density > 0.055 {
		t.Errorf("features have density %.4f, want at most 0.055", density)
	}
	if !testkit.IsFull() {
		k.train.Nodes, k.train.Class = k.train.Nodes[:500], k.train.Class[:500]
		spec := coraGRF
		spec.Roles = "none"
		s := coraTable(t, []classTask{k}, spec, gp.Dirichlet)
		if s.accuracy < 0.786 || s.nll > 0.683 || s.ece > 0.06 {
			t.Errorf("the authors' split, 500 labels: %+v, want at least 0.786, and at most 0.683 and 0.06", s)
		}
		return
	}
	var mean classScore
	const seeds = 2
	for seed := range uint64(seeds) {
		spec := coraGRF
		spec.Seed = seed
		s := coraTable(t, []classTask{k}, spec, gp.Dirichlet)
		mean.accuracy += s.accuracy / seeds
		mean.nll += s.nll / seeds
		mean.ece += s.ece / seeds
	}
	if mean.accuracy < 0.8719-2*0.0027/math.Sqrt(seeds) || mean.nll > 0.440+2*0.006/math.Sqrt(seeds) || mean.ece > 0.032+
		2*0.006/math.Sqrt(seeds) {
		t.Errorf("the authors' split: %+v, want 0.872, 0.440 and 0.032", mean)
	}
}

// Twenty labels a class: 78.6 % over 20 draws, with a standard deviation of 1.4
// between them (label spreading has 73.6 %); NLL 0.683 and ECE 0.041. Two standard
// errors of the mean of the draws are allowed: two, or one in the quick suite, which gives the kernel.
func TestCoraFew(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	draws, spec := 2, grfgp.Spec{}
	if !testkit.IsFull() {
		draws, spec = 1, grfgp.Spec{Expression: grfgp.Expression{Family: "matern", Nu: 2, Scales: "one"}, Roles: "none"}
	}
	s := coraTable(t, coraFew(t, 20, draws), spec, gp.Dirichlet)
	if s.accuracy < 0.786-2*0.014/math.Sqrt(float64(draws)) || s.nll > 0.73 || s.ece > 0.06 {
		t.Errorf("20 labels a class: %+v, want 0.786, 0.683 and 0.041", s)
	}
}

// Dirichlet, one-vs-all and variational are certain of the same nodes.
func TestCoraAgreement(t *testing.T) {
	t.Parallel()
	testkit.Study(t)
	k := coraSplits(t, 1)[0]
	sure := map[gp.ClassMethod]map[int]int{}
	methods := []gp.ClassMethod{gp.Dirichlet, gp.OneVsAll, gp.Variational}
	for _, method := range methods {
		c, err := grfgp.Classify(context.Background(), k.graph, k.train, coraGRF, method)
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.Probabilities(context.Background(), k.test.Nodes)
		if err != nil {
			t.Fatal(err)
		}
		sure[method] = map[int]int{}
		for r, i := range k.test.Nodes {
			for class, v := range p.RawRowView(r) {
				if v > 0.9 {
					sure[method][i] = class
				}
			}
		}
	}
	for _, a := range methods {
		for _, b := range methods {
			both, same := 0, 0
			for i, class := range sure[a] {
				if other, ok := sure[b][i]; ok {
					both++
					if other == class {
						same++
					}
				}
			}
			t.Logf("%v is sure of %d, %v of %d, both of %d, the same of %d", a, len(sure[a]), b, len(sure[b]), both, same)
			if 10*both < 8*min(len(sure[a]), len(sure[b])) || 100*same < 99*both {
				t.Errorf("%v and %v do not agree", a, b)
			}
		}
	}
}
