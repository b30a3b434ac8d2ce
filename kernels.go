package grfgp

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"

	"grfgp/calendar"
	"grfgp/covariate"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/kernel/covariates"
	"grfgp/kernel/lowrank"
	"grfgp/plan"
	"grfgp/sparse"
	"grfgp/walk"
)

// workshop makes the kernels of expressions on one graph. It computes eigenvectors, features and coarser graphs once, when they
// are first used.
type workshop struct {
	spec    Spec
	limits  *plan.Limits
	graph   *graph.Graph
	when    calendar.Calendar  // its periods
	w       func() *sparse.CSR // of the normalised Laplacian, and
	walks   func() walks       // the same for walks
	entries int                // of w
	levels  func() []graph.Level
	spread  func() float64   // of the logarithms of degrees, and
	degrees func() []float64 // these, standardised
	lone    func() []int     // nodes without neighbours

	mu           sync.Mutex                         // guards the following fields
	matrices     map[string]*matrix                 // by Laplacian
	lead         *kernel.Dense                      // leading eigenvectors, for layers,
	leadless     bool                               // or there are none
	layers       *kernel.Layers                     // made of them
	scales       []kernel.Scale                     // of the levels
	coarse       map[Expression]*kernel.Multiscale  // on these scales, by family
	knownKernels map[Expression]*covariates.Kernels // while contests are under way
	training     int                                // contests under way
	releases     []func()                           // of the caches that their kernels share
	known        known                              // covariates and roles
	shared       bool                               // keep the features of kernels that were not chosen, for later trainings

	// The last kernel that was chosen is kept: it holds the sparsity pattern of its features, so that training it again
	// computes only their values.
	last     Expression
	lastMade kernel.Kernel
}

func newWorkshop(g *graph.Graph, spec Spec) *workshop {
	b := &workshop{spec: spec, limits: plan.Default(), graph: g, when: spec.calendar(g), matrices: map[string]*matrix{},
		levels: sync.OnceValue(g.Levels), lone: sync.OnceValue(g.Lone), spread: sync.OnceValue(func() float64 { return spreadOf(g) }),
		degrees: sync.OnceValue(func() []float64 {
			x, _ := covariate.LogDegree(g)
			return x
		})}
	b.setMatrix(g)
	return b
}

// with returns the workshop of another Spec, that needs the same of the graph, with what was computed so far; without
// what comes from random walks if these are to be others.
func (b *workshop) with(spec Spec, sameWalks bool) *workshop {
	b.mu.Lock()
	defer b.mu.Unlock()
	other := &workshop{spec: spec, limits: b.limits, graph: b.graph, when: spec.calendar(b.graph), w: b.w, walks: b.walks, entries: b.entries,
		levels: b.levels, spread: b.spread, degrees: b.degrees,
		lone: b.lone, matrices: map[string]*matrix{}, lead: b.lead, leadless: b.leadless, known: b.known, shared: b.shared}
	for name, m := range b.matrices {
		own := *m
		own.features, own.sampled = map[int]*walk.Features{}, nil
		if sameWalks {
			maps.Copy(own.features, m.features)
		}
		other.matrices[name] = &own
	}
	if sameWalks {
		other.scales = b.scales
	}
	return other
}

// kernel returns the kernel of an expression on the places of the Spec.
func (b *workshop) kernel(ctx context.Context, e Expression) (kernel.Kernel, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k, err := b.nodeKernel(ctx, e, false)
	if err != nil {
		return nil, err
	}
	return b.when.OverTime(k), nil
}

// classKernel returns the kernel of an expression for classes: the same variance at every node, and no trend.
func (b *workshop) classKernel(ctx context.Context, e Expression) (kernel.Kernel, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.nodeKernel(ctx, e, true)
}

// chosenKernel is kernel that remembers the last one.
func (b *workshop) chosenKernel(ctx context.Context, e Expression) (kernel.Kernel, error) {
	b.mu.Lock()
	last := b.lastMade
	if b.last != e {
		last = nil
	}
	b.mu.Unlock()
	if last != nil {
		return last, nil
	}
	k, err := b.kernel(ctx, e)
	if err == nil {
		b.mu.Lock()
		b.last, b.lastMade = e, k
		b.mu.Unlock()
	}
	return k, err
}

// model returns the model of an expression at learned hyperparameters, with a card for its posteriors.
func (b *workshop) model(ctx context.Context, e Expression, state gp.State, card *gp.Card) (*gp.Model, error) {
	k, err := b.chosenKernel(ctx, e)
	if err != nil {
		return nil, err
	}
	m, err := gp.NewModel(k, state)
	if err != nil {
		return nil, err
	}
	return m.Limited(b.limits).On(card), nil
}

// nodeKernel returns the kernel of an expression on the nodes of one period. Its terms have paths of their own: graph, trend,
// those of what is known about nodes, and product. The caller holds b.mu.
func (b *workshop) nodeKernel(ctx context.Context, e Expression, even bool) (kernel.Kernel, error) {
	terms := cmp.Or(e.Terms, GraphTerm)
	var all []kernel.Kernel
	if terms.Has(GraphTerm) {
		k, err := b.graphKernel(ctx, e, even)
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	if terms&knownTerms != 0 {
		k, err := b.knownKernel(ctx, terms&knownTerms, e.Pairs)
		if err != nil {
			return nil, err
		}
		all = append(all, k.Terms()...)
		if terms.Has(ProductTerm) {
			near, err := b.near(ctx, e, even)
			if err != nil {
				return nil, err
			}
			all = append(all, kernel.Named("product", kernel.Product(near, k.Smooth)))
		}
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return kernel.Sum(all...), nil
}

// graphKernel returns the graph term of a kernel, with its trend.
func (b *workshop) graphKernel(ctx context.Context, e Expression, even bool) (kernel.Kernel, error) {
	k, err := b.bare(ctx, e, even)
	if err != nil {
		return nil, err
	}
	k = kernel.Named("graph", k)
	if e.Trending() && !even {
		k = kernel.Trend(k, b.degrees())
	}
	return k, nil
}

// near returns the graph's factor of a product.
func (b *workshop) near(ctx context.Context, e Expression, even bool) (kernel.Kernel, error) {
	e.Scales = "one"
	return b.bare(ctx, e, even)
}

// bare returns the graph term of a kernel without its path and without a trend.
func (b *workshop) bare(ctx context.Context, e Expression, even bool) (kernel.Kernel, error) {
	k, err := b.fine(ctx, e)
	if err == nil && (even || e.Unit()) {
		k = kernel.UnitVariance(k)
	}
	if err == nil && e.Many() {
		k, err = b.onTop(ctx, k, e)
	}
	if err == nil && !even && e.Method != "lowrank" {
		k = kernel.Lone(k, b.lone())
	}
	return k, err
}

// usualFamily is the family that says how reach falls where another has nothing to go by.
const usualFamily = "diffusion"

// onTop adds kernels of longer reach on the normalised Laplacian to a kernel: layers
// if there are eigenvectors, coarser graphs otherwise.
func (b *workshop) onTop(ctx context.Context, fine kernel.Kernel, e Expression) (kernel.Kernel, error) {
	d, err := b.leading(ctx, e.Method)
	if err != nil {
		return nil, err
	}
	if d != nil {
		if b.layers == nil {
			b.layers, _ = kernel.NewLayers(d, d)
		}
		b.shareWhileTraining(b.layers)
		return b.layers.With(fine), nil
	}
	if b.scales == nil {
		var scales []kernel.Scale
		for _, l := range b.levels() {
			features, err := b.sample(ctx, walksOn(l.Graph), b.limits.CoarseHops, b.limits.CoarseWalks, 0, true)
			if err != nil {
				return nil, err
			}
			scales = append(scales, kernel.Scale{Prolong: l.Prolong, Features: features})
		}
		if len(scales) == 0 {
			return nil, b.noScales()
		}
		b.scales = scales
	}
	of := Expression{Family: e.Family, Nu: e.Nu}
	if f, _ := kernel.FamilyNamed(e.Family); !f.Coarse {
		of = Expression{Family: usualFamily}
	}
	if b.coarse[of] == nil {
		_, by := b.spec.modulation(of)
		k, err := kernel.NewMultiscale(kernel.Constant(b.graph.Len()), by, b.scales)
		if err != nil {
			return nil, err
		}
		if b.coarse == nil {
			b.coarse = map[Expression]*kernel.Multiscale{}
		}
		b.coarse[of] = k
	}
	b.shareWhileTraining(b.coarse[of])
	return b.coarse[of].With(fine), nil
}

// noScales returns the error for a graph without coarser scales.
func (b *workshop) noScales() error {
	return fmt.Errorf("%w: a graph of %d nodes has no coarser scales; use one scale", ErrSpec, b.graph.Len())
}

// leading returns the eigenvectors that layers are made of: all of the normalised matrix
// of a small graph, the leading ones of a sparse graph of medium size, and nil where
// coarser graphs replace layers. The caller holds b.mu.
func (b *workshop) leading(ctx context.Context, method string) (*kernel.Dense, error) {
	if method == "dense" || b.graph.Len() <= b.limits.DenseNodes {
		return b.eigenvectors("")
	}
	if b.lead == nil && !b.leadless {
		b.leadless = true
		_, sizes := b.graph.Components()
		if !b.limits.Layered(b.graph.Len(), b.entries, len(sizes)) {
			return nil, nil
		}
		m := b.matrix("")
		d, err := kernel.NewLeading(ctx, m.w(), b.limits.LayerPairs, m.bound())
		if stopped := ctx.Err(); stopped != nil {
			b.leadless = false // another training may find them
			return nil, stopped
		}
		if err != nil {
			return nil, nil // they do not converge
		}
		b.lead = d
	}
	return b.lead, nil
}

// layered reports whether a kernel has layers.
func (b *workshop) layered(ctx context.Context, e Expression) (bool, error) {
	if !e.Many() {
		return false, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	d, err := b.leading(ctx, e.Method)
	return d != nil, err
}

// coarser describes the additional scales and returns their number.
func (b *workshop) coarser(ctx context.Context, method string) (words string, count int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d, err := b.leading(ctx, method)
	if err != nil {
		return "", 0, err
	}
	if d == nil {
		var sizes []string
		for _, l := range b.levels() {
			sizes = append(sizes, fmt.Sprint(l.Graph.Len()))
		}
		return fmt.Sprintf("coarser graphs of %s nodes", strings.Join(sizes, ", ")), len(sizes), nil
	}
	k, useful := kernel.NewLayers(d, d)
	if !useful && !b.spec.Many() {
		return "", 0, nil
	}
	if k.Len() == 1 {
		return "a layer of longer reach", 1, nil
	}
	return fmt.Sprintf("%d layers of increasing reach", k.Len()), k.Len(), nil
}

// eigenvectors returns the eigenvectors of the matrix of a Laplacian, computed
// once. The caller holds b.mu.
func (b *workshop) eigenvectors(laplacian string) (*kernel.Dense, error) {
	m := b.matrix(laplacian)
	if m.dense == nil {
		d, err := kernel.NewDense(m.w(), kernel.Diffusion{})
		if err != nil {
			return nil, err
		}
		m.dense = d
	}
	return m.dense, nil
}

// sample returns the features of random walks on a matrix of a graph. Those of large graphs are sampled when they are
// used: a fit needs those of the measured nodes alone, and predictions need none of them twice.
func (b *workshop) sample(ctx context.Context, on walks, hops, walkers int, hubWalks float64, lazy bool) (*walk.Features, error) {
	opts := b.walkOptions(on, hops, walkers, hubWalks)
	if n, _ := on.w.Dims(); lazy && n > b.limits.LazyNodes {
		return on.ground.Lazy(opts)
	}
	return walk.Sample(ctx, on.w, opts)
}

// walkOptions returns the options of walks on a matrix.
func (b *workshop) walkOptions(on walks, hops, walkers int, hubWalks float64) walk.Options {
	opts := on.on(walk.Default())
	opts.Walks, opts.HubWalks = walkers, hubWalks
	n, _ := on.w.Dims()
	if n > b.limits.UsualNodes {
		opts.Walks, opts.Budget = opts.Walks/2, opts.Budget/2
	}
	opts.MaxLen, opts.Seed = hops, b.spec.Seed
	if b.spec.Walks > 0 {
		opts.Walks, opts.Budget = b.spec.Walks, 2*b.spec.Walks
	}
	return opts
}

// formula returns the family of an expression on the matrix of its Laplacian, with its length scale in the unit of the
// Laplacian. The caller holds b.mu.
func (b *workshop) formula(e Expression) (kernel.Modulation, *matrix) {
	m := b.matrix(e.Laplacian)
	f, by := b.spec.modulation(e)
	by = f.OnUnit(by, m.unit)
	if e.Laplacian == "signless" {
		by = kernel.Signless(by)
	}
	return by, m
}

// fine returns the kernel of a family on the graph itself, without coarser scales. The caller holds b.mu.
func (b *workshop) fine(ctx context.Context, e Expression) (kernel.Kernel, error) {
	by, m := b.formula(e)
	switch e.Method {
	case "dense":
		d, err := b.eigenvectors(e.Laplacian)
		if err != nil {
			return nil, err
		}
		return d.With(by.(kernel.Spectrum)), nil
	case "series":
		return m.series(by, e)
	}
	features := m.features[e.Hops]
	if features == nil {
		var err error
		if features, err = b.sample(ctx, m.walks(), e.Hops, walk.Default().Walks, walk.Default().HubWalks, e.Method != "lowrank"); err != nil {
			return nil, err
		}
		m.features[e.Hops] = features
	}
	if e.Method == "lowrank" {
		return lowrank.New(features, by, lowrank.Options{Dim: b.rank(), Seed: b.spec.Seed})
	}
	if m.sampled[e.Hops] == nil {
		k, err := kernel.NewGRF(features, by)
		if err != nil {
			return nil, err
		}
		if m.sampled == nil {
			m.sampled = map[int]*kernel.GRF{}
		}
		m.sampled[e.Hops] = k
	}
	b.shareWhileTraining(m.sampled[e.Hops])
	return m.sampled[e.Hops].With(by)
}

// forget drops the features of all kernels except one, because they take
// gigabytes on large graphs.
func (b *workshop) forget(but Expression) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shared {
		return
	}
	kept := b.matrix(but.Laplacian)
	for _, m := range b.matrices {
		maps.DeleteFunc(m.features, func(hops int, _ *walk.Features) bool { return m != kept || hops != but.Hops })
		maps.DeleteFunc(m.sampled, func(hops int, _ *kernel.GRF) bool { return m != kept || hops != but.Hops })
	}
}

// shareCaches lets the kernels of a contest share what they compute for the rows of
// measurements, until release is called.
func (b *workshop) shareCaches(method string) (release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.training++
	if method == "series" && !b.spec.cutOff() && b.spec.Hops == 0 {
		e := Expression{Family: usualFamily, Laplacian: b.spec.Laplacian}
		by, m := b.formula(e)
		if s, err := m.series(by, e); err == nil { // else the contest returns the error
			b.shareWhileTraining(s)
		}
	}
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.training--; b.training == 0 {
			for _, release := range b.releases {
				release()
			}
			b.releases, b.knownKernels = nil, nil
		}
	})
}

// shareWhileTraining makes kernels share their caches until no contest is under way. The caller holds b.mu.
func (b *workshop) shareWhileTraining(k interface{ ShareCaches() (release func()) }) {
	if b.training > 0 {
		b.releases = append(b.releases, k.ShareCaches())
	}
}

// carriedLeast is the share of a kernel from which a representation is called
// exact.
const carriedLeast = 0.999

// shortfall says how much of a kernel its representation leaves out. It returns
// nothing if that is negligible, or if it is the usual truncation of walks.
func (b *workshop) shortfall(e Expression, theta kernel.Theta) ([]string, error) {
	f, plain := b.spec.modulation(e)
	switch {
	case e.Method == "dense" || !cmp.Or(e.Terms, GraphTerm).Has(GraphTerm):
		return nil, nil
	case f.Miss != nil && (e.Method != "series" || e.Hops > 0):
		if miss := f.Miss(plain, e.Hops); miss > 1-carriedLeast {
			return []string{fmt.Sprintf("walks of %d hops miss up to %.2g of the largest eigenvalue of the %s: series and dense represent it "+
				"exactly", e.Hops, miss, f.String(b.spec.member(e)))}, nil
		}
	case e.Method == "series" && e.Hops == 0:
		b.mu.Lock()
		defer b.mu.Unlock()
		by, m := b.formula(e)
		s, err := m.series(by, e)
		if err != nil {
			return nil, err
		}
		carried, err := s.Carried(kernel.Begin(by.Params(), kernel.Theta{{Path: "variance", Number: 1}}, theta.Under("graph")))
		if err != nil {
			return nil, err
		}
		if carried < carriedLeast {
			return []string{fmt.Sprintf("the series represents %.1f %% of this kernel: its reach is too long for a graph of this size",
				100*carried)}, nil
		}
	}
	return nil, nil
}
