package grfgp

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/kernel/lowrank"
	"grfgp/sparse"
	"grfgp/walk"
)

// Trainer fits several models with one Spec on one graph. It computes eigenvectors,
// features and coarser graphs once and shares them between fits: cross-validation
// uses one Trainer for all folds, and a replay for all searches. It is safe for
// concurrent use.
type Trainer struct {
	spec    Spec
	graph   *graph.Graph
	w       func() *sparse.CSR   // of the normalised Laplacian, and
	walks   func() walks         // the same for walks, made when first used
	entries int                  // of w
	hash    [32]byte             // of the graph
	levels  func() []graph.Level // coarser graphs and
	degree  func() degree        // degrees, computed when first used,
	lone    func() []int         // and nodes without neighbours

	open func() (*gp.Card, error) // opens the card of this machine, once

	mu           sync.Mutex                    // guards the following fields
	matrices     map[string]*matrix            // by Laplacian
	lead         *kernel.Dense                 // leading eigenvectors, for layers,
	leadless     bool                          // or there are none
	layers       *kernel.Layers                // made of them
	scales       []kernel.Scale                // of the levels
	coarse       map[string]*kernel.Multiscale // on these scales, by family
	knownKernels map[knownKey]*knownKernel     // while contests are under way
	training     int                           // contests under way
	releases     []func()                      // of the caches that their kernels share
	known        known                         // covariates and roles
	together     Together
	shared       bool // keep the features of kernels that were not chosen, for later trainings

	// The last kernel of a complete Spec is kept: it holds the sparsity pattern of
	// its features, so that training it again computes only their values.
	last     Spec
	lastMade kernel.Kernel
}

// NewTrainer returns a Trainer for models that spec describes. The graph should
// be in locality order, see [graph.Graph.Ordered]. The error wraps ErrSpec if
// spec is invalid, and ErrNoCard if it asks for a graphics card and there is none.
func NewTrainer(g *graph.Graph, spec Spec) (*Trainer, error) {
	return newTrainer(g, spec, openCard)
}

func newTrainer(g *graph.Graph, spec Spec, open func() (*gp.Card, error)) (*Trainer, error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	if s := spec.Covariates; s != nil && s.Nodes != g.Len() {
		return nil, fmt.Errorf("%w: covariates of %d nodes for a graph of %d; encode the columns of this graph's nodes", ErrSpec, s.Nodes,
			g.Len())
	}
	t := &Trainer{spec: spec.clone(), open: open, hash: g.Hash(), matrices: map[string]*matrix{}}
	if err := t.openCard(); err != nil {
		return nil, err
	}
	t.setMatrix(g)
	t.levels = sync.OnceValue(g.Levels)
	t.degree = sync.OnceValue(func() degree { return degreeOf(g) })
	t.lone = sync.OnceValue(g.Lone)
	return t, nil
}

// Graph returns the graph.
func (t *Trainer) Graph() *graph.Graph { return t.graph }

// Spec returns the Spec as it was given.
func (t *Trainer) Spec() Spec { return t.spec.clone() }

// KeepFeatures makes the Trainer keep the features of all kernels that it tries, not
// only of the chosen one. That makes a sequence of many trainings faster at the cost
// of memory.
func (t *Trainer) KeepFeatures() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shared = true
}

const (
	denseNodes  = 1500 // nodes up to which kernels are dense: eigenvectors take seconds
	seriesFlops = 2e10 // most operations of one evaluation of the likelihood by a series
	seriesTerms = 64   // typical number of products with W in an evaluation
	unitFlops   = 2e11 // most operations of the diagonal at all nodes, which unit variance needs for every prediction
)

// diagonalFlops counts the operations of the exact diagonal at all nodes. A series
// computes it column by column; unit variance divides by it.
func (t *Trainer) diagonalFlops() float64 {
	return 2 * seriesTerms * float64(t.entries) * float64(t.graph.Len())
}

// decide chooses the representation of a kernel by its cost, which depends on unit
// variance, and its longest walk.
func (t *Trainer) decide(measurements int, unit bool) (method string, hops int, why []string) {
	n, nnz := t.graph.Len(), t.entries
	flops := 2 * seriesTerms * float64(nnz) * float64(measurements)
	cut := t.spec.cutOff()
	say := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	switch {
	case t.spec.Method != "":
		method = t.spec.Method
		say("the method %s was requested", method)
	case n <= denseNodes && t.spec.exact():
		method = "dense"
		say("dense: exact, and cheap for %d nodes", n)
	case unit && t.diagonalFlops() > unitFlops:
		method = "grf"
		say("random features: exact variances at all nodes would take %.1g operations", t.diagonalFlops())
	case flops <= seriesFlops:
		method = "series"
		say("series: exact, at about %.1g operations per training step", flops)
	default:
		method = "grf"
		say("random features: an exact series would take %.1g operations per training step", flops)
	}
	switch {
	case method == "dense" && cut:
		hops = t.spec.freeLen()
	case method == "dense":
	case t.spec.Hops > 0:
		hops = t.spec.Hops
	case method == "series" && !cut: // no cut-off
	default:
		hops = walk.Default().MaxLen
		if method != "series" && n > largeNodes {
			hops = finestHops
			say("walks of %d hops to save memory: coarser scales connect nodes farther apart", hops)
		}
		hops = max(hops, min(len(t.spec.Alpha)-1, walk.MaxMaxLen))
	}
	return method, hops, why
}

const (
	coarseHops  = 10
	coarseWalks = 25      // walkers of rows that are not exact, hubs included: cells of a graph with hubs reach all others
	largeNodes  = 200_000 // from here on features are shorter and fewer
	finestHops  = 5       // of features with coarser scales above them
)

// fineHops returns the longest walk on the finest of many scales, or on the only
// one. Coarser scales cover longer distances, so a few hops are enough on the
// finest of many.
func (t *Trainer) fineHops(many bool, method string, hops int) int {
	if many && method == "grf" && t.spec.Hops == 0 && t.reaching() {
		return finestHops
	}
	return hops
}

// reaching reports whether the family, if it is given, goes on with coarser scales.
func (t *Trainer) reaching() bool {
	f, known := kernel.FamilyNamed(t.spec.Family)
	return !known || f.Coarse
}

// kernel returns the kernel of a candidate in a representation.
func (t *Trainer) kernel(ctx context.Context, c candidate, method string) (kernel.Kernel, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.newKernel(ctx, c, method)
}

func (t *Trainer) newKernel(ctx context.Context, c candidate, method string) (kernel.Kernel, error) {
	k, err := t.nodeKernel(ctx, c, method)
	if err != nil {
		return nil, err
	}
	return t.overTime(k), nil
}

// nodeKernel is newKernel on the nodes of one period.
func (t *Trainer) nodeKernel(ctx context.Context, c candidate, method string) (kernel.Kernel, error) {
	if c.terms == graphTerm {
		return t.graphKernel(ctx, c, method)
	}
	var all []kernel.Kernel
	if c.terms.has(graphTerm) {
		k, err := t.graphKernel(ctx, c, method)
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	k, err := t.knownKernel(ctx, c.terms&knownTerms, c.pairs)
	if err != nil {
		return nil, err
	}
	all = append(all, k.kernels()...)
	if c.terms.has(productTerm) {
		c.many, c.trend = false, false
		near, err := t.graphKernel(ctx, c, method)
		if err != nil {
			return nil, err
		}
		all = append(all, kernel.Product(near, k.smooth))
	}
	return kernel.Sum(all...), nil
}

// graphKernel returns the graph term of a kernel.
func (t *Trainer) graphKernel(ctx context.Context, c candidate, method string) (kernel.Kernel, error) {
	k, err := t.fine(ctx, c.family, method, c.hops)
	if err == nil && c.unit {
		k = kernel.UnitVariance(k)
	}
	if err == nil && c.many {
		k, err = t.onTop(ctx, k, c.family, method)
	}
	if err == nil && method != "lowrank" {
		k = kernel.Lone(k, t.lone())
	}
	if err == nil && c.trend {
		k = kernel.Trend(k, t.degree().x())
	}
	return k, err
}

// onTop adds kernels of longer reach on the normalised Laplacian to a kernel: layers
// if there are eigenvectors, coarser graphs otherwise.
func (t *Trainer) onTop(ctx context.Context, fine kernel.Kernel, f family, method string) (kernel.Kernel, error) {
	d, err := t.leading(ctx, method)
	if err != nil {
		return nil, err
	}
	if d != nil {
		if t.layers == nil {
			t.layers, _ = kernel.NewLayers(d, d)
		}
		t.shareWhileTraining(t.layers)
		return t.layers.With(fine), nil
	}
	if t.scales == nil {
		var scales []kernel.Scale
		for _, l := range t.levels() {
			features, err := t.sample(ctx, walksOn(l.Graph), coarseHops, coarseWalks, 0, true)
			if err != nil {
				return nil, err
			}
			scales = append(scales, kernel.Scale{Prolong: l.Prolong, Features: features})
		}
		if len(scales) == 0 {
			return nil, t.noScales()
		}
		t.scales = scales
	}
	coarse := f.modulation
	if !f.Coarse {
		coarse = kernel.Diffusion{}
	}
	name := fmt.Sprintf("%#v", coarse)
	if t.coarse[name] == nil {
		k, err := kernel.NewMultiscale(kernel.Constant(t.graph.Len()), coarse, t.scales, kernel.MultiscaleOptions{})
		if err != nil {
			return nil, err
		}
		if t.coarse == nil {
			t.coarse = map[string]*kernel.Multiscale{}
		}
		t.coarse[name] = k
	}
	t.shareWhileTraining(t.coarse[name])
	return t.coarse[name].With(fine), nil
}

// noScales returns the error for a graph without coarser scales.
func (t *Trainer) noScales() error {
	return fmt.Errorf("%w: a graph of %d nodes has no coarser scales; use one scale", ErrSpec, t.graph.Len())
}

const (
	layerNodes      = 30_000  // most nodes of a graph whose leading eigenvectors make layers,
	layerEntries    = 120_000 // most entries of its matrix,
	layerComponents = 32      // and most components
	layerPairs      = 192
)

// leading returns the eigenvectors that layers are made of: all of the normalised matrix
// of a small graph, the leading ones of a sparse graph of medium size, and nil where
// coarser graphs replace layers. The caller holds t.mu.
func (t *Trainer) leading(ctx context.Context, method string) (*kernel.Dense, error) {
	if method == "dense" || t.graph.Len() <= denseNodes {
		return t.eigenvectors("")
	}
	if t.lead == nil && !t.leadless {
		t.leadless = true
		_, sizes := t.graph.Components()
		if t.graph.Len() > layerNodes || t.entries > layerEntries || len(sizes) > layerComponents {
			return nil, nil
		}
		m := t.matrix("")
		d, err := kernel.NewLeading(ctx, m.w(), layerPairs, m.bound())
		if stopped := ctx.Err(); stopped != nil {
			t.leadless = false // another training may find them
			return nil, stopped
		}
		if err != nil {
			return nil, nil // they do not converge
		}
		t.lead = d
	}
	return t.lead, nil
}

// layered reports whether the kernel of a complete Spec has layers.
func (t *Trainer) layered(ctx context.Context, s Spec) (bool, error) {
	if s.Scales != "many" {
		return false, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	d, err := t.leading(ctx, s.Method)
	return d != nil, err
}

// eigenvectors returns the eigenvectors of the matrix of a Laplacian, computed
// once. The caller holds t.mu.
func (t *Trainer) eigenvectors(laplacian string) (*kernel.Dense, error) {
	m := t.matrix(laplacian)
	if m.dense == nil {
		d, err := kernel.NewDense(m.w(), kernel.Diffusion{})
		if err != nil {
			return nil, err
		}
		m.dense = d
	}
	return m.dense, nil
}

// chosen returns the kernel that a complete Spec describes.
func (s Spec) chosen() candidate {
	return candidate{s.families(s.freeLen())[0], s.Scales == "many", s.Variance == "unit", s.Trend == "degree", s.Hops, termsOf(s.Terms),
		s.Pairs}
}

// chosenKernel returns the kernel of a complete Spec.
func (t *Trainer) chosenKernel(ctx context.Context, s Spec) (kernel.Kernel, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	made := s.chosen()
	s.Mean, s.NoiseSD, s.Solver, s.Covariates, s.Device = nil, nil, "", nil, "" // not part of the kernel
	if t.lastMade != nil && reflect.DeepEqual(t.last, s) {
		return t.lastMade, nil
	}
	k, err := t.newKernel(ctx, made, s.Method)
	if err == nil {
		t.last, t.lastMade = s, k
	}
	return k, err
}

// lazyNodes is the number of nodes from which features are sampled when they are used:
// a fit needs those of the measured nodes alone, and predictions need none of them twice.
const lazyNodes = 1 << 15

// sample returns the features of random walks on a matrix of a graph.
func (t *Trainer) sample(ctx context.Context, on walks, hops, walkers int, hubWalks float64, lazy bool) (*walk.Features, error) {
	opts := t.walkOptions(on, hops, walkers, hubWalks)
	if n, _ := on.w.Dims(); lazy && n > lazyNodes {
		return on.ground.Lazy(opts)
	}
	return walk.Sample(ctx, on.w, opts)
}

// walkOptions returns the options of walks on a matrix.
func (t *Trainer) walkOptions(on walks, hops, walkers int, hubWalks float64) walk.Options {
	opts := on.on(walk.Default())
	opts.Walks, opts.HubWalks = walkers, hubWalks
	n, _ := on.w.Dims()
	if n > largeNodes {
		opts.Walks, opts.Budget = opts.Walks/2, opts.Budget/2
	}
	opts.MaxLen, opts.Seed = hops, t.spec.Seed
	if t.spec.Walks > 0 {
		opts.Walks, opts.Budget = t.spec.Walks, 2*t.spec.Walks
	}
	return opts
}

// fine returns the kernel of a family on the graph itself, without coarser scales.
func (t *Trainer) fine(ctx context.Context, f family, method string, hops int) (kernel.Kernel, error) {
	m := t.matrix(f.laplacian)
	f = m.of(f)
	switch method {
	case "dense":
		d, err := t.eigenvectors(f.laplacian)
		if err != nil {
			return nil, err
		}
		return d.With(f.spectrum), nil
	case "series":
		return m.series(f, hops)
	}
	features := m.features[hops]
	if features == nil {
		var err error
		if features, err = t.sample(ctx, m.walks(), hops, walk.Default().Walks, walk.Default().HubWalks, method != "lowrank"); err != nil {
			return nil, err
		}
		m.features[hops] = features
	}
	if method == "lowrank" {
		return lowrank.New(features, f.modulation, lowrank.Options{Dim: t.spec.rank(), Seed: t.spec.Seed})
	}
	if m.sampled[hops] == nil {
		k, err := kernel.NewGRF(features, f.modulation)
		if err != nil {
			return nil, err
		}
		if m.sampled == nil {
			m.sampled = map[int]*kernel.GRF{}
		}
		m.sampled[hops] = k
	}
	t.shareWhileTraining(m.sampled[hops])
	return m.sampled[hops].With(f.modulation)
}

// decideScales returns whether one scale, many or both are tried.
func (t *Trainer) decideScales(ctx context.Context, places []int, method string, hops int) (many []bool, why string, err error) {
	switch {
	case t.spec.Scales == "one":
		return []bool{false}, "one scale was requested", nil
	case method == "lowrank":
		return []bool{false}, "low rank has one scale", nil
	}
	coarser, count, err := t.coarser(ctx, method)
	switch {
	case err != nil:
		return nil, "", err
	case t.spec.Scales == "many" && count == 0:
		return nil, "", t.noScales()
	case t.spec.Scales == "many":
		return []bool{true}, "many scales were requested: " + coarser, nil
	case count == 0:
		return []bool{false}, "the graph is too small for coarser scales", nil
	}
	reach := fmt.Sprintf("walks reach %d hops", hops)
	if hops == 0 {
		reach = "the kernel reaches everywhere"
	}
	if len(t.spec.Alpha) > 0 {
		reach = fmt.Sprintf("the power series reaches %d hops", len(t.spec.Alpha)-1)
	}
	return []bool{false, true}, fmt.Sprintf("measured nodes are %.3g hops apart on average and %s; also tried: %s", t.spacing(places), reach,
		coarser), ctx.Err()
}

// coarser describes the additional scales and returns their number.
func (t *Trainer) coarser(ctx context.Context, method string) (words string, count int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d, err := t.leading(ctx, method)
	if err != nil {
		return "", 0, err
	}
	if d == nil {
		return fmt.Sprintf("coarser graphs of %s nodes", t.sizes()), len(t.levels()), nil
	}
	k, useful := kernel.NewLayers(d, d)
	if !useful && t.spec.Scales != "many" {
		return "", 0, nil
	}
	if k.Len() == 1 {
		return "a layer of longer reach", 1, nil
	}
	return fmt.Sprintf("%d layers of increasing reach", k.Len()), k.Len(), nil
}

// sizes lists the numbers of nodes of the coarser graphs, in words.
func (t *Trainer) sizes() string {
	var all []string
	for _, l := range t.levels() {
		all = append(all, strconv.Itoa(l.Graph.Len()))
	}
	return strings.Join(all, ", ")
}

// spacing returns the mean distance in hops from a measured node to the nearest other
// measured node, over a sample of the nodes whose component has another.
func (t *Trainer) spacing(places []int) float64 {
	const most = 200
	nodes := NodesOf(t.graph, places)
	measured := make([]bool, t.graph.Len())
	for _, i := range nodes {
		measured[i] = true
	}
	unique := slices.Compact(slices.Sorted(slices.Values(nodes)))
	search, sum, found := graph.NewSearch(t.graph), 0, 0
	step := (len(unique) + most - 1) / most
	for s := 0; s < len(unique); s += step {
		for i, hops := range search.From(unique[s]) {
			if hops > 0 && measured[i] {
				sum, found = sum+hops, found+1
				break
			}
		}
	}
	return float64(sum) / float64(max(1, found))
}
