package grfgp

import (
	"context"
	"math"

	"grfgp/graph"
	"grfgp/walk"
)

// Memory is an estimate of the memory that a Job takes, beyond the graph, the covariates
// and the program itself. 'grfgp-lab bench memory' compares it with the peak of whole runs.
type Memory struct {
	Bytes   int64   // at the peak
	Method  string  // representation of the kernel, as in Spec.Method
	Hops    int     // longest walk on the graph; 0 unless Method is grf or lowrank
	Entries float64 // of a row of features, on average; 0 unless Method is grf or lowrank
	Least   int64   // the same with features of one hop and one scale: the least that a model of this graph takes
	Seconds float64 // of one processor, for what does not depend on measurements: walks, projections, eigenvectors; it tells minutes from days
	Work    float64 // processor seconds of the whole job, on a machine as in docs/performance.md, mostly within a factor of two; see On
}

// Job is what is computed with a model, as far as its memory depends on it.
type Job struct {
	Measurements int // or labels, at distinct nodes or places
	Classes      int // of labels; 0: there are measurements
	Places       int // that are predicted at once: nodes, or nodes in periods; 0: few
	Folds        int // of a cross-validation; 0: there is none
	Searches     int // that go on at a time, with at most Measurements each; 0: none
	Ranks        int // processes that share the places; 0: 1. The estimate is that of one of them
}

// Bytes per node of large graphs, by what they are for.
const (
	listBytes       = 40  // lists of nodes, strengths, steps of walks, degrees
	sharedBytes     = 24  // of a place that another rank predicts: lists
	predictionBytes = 80  // of a place: means, variances, what they are added up in, lists
	prolongBytes    = 110 // interpolation from the first coarser graph
	drawBytes       = 128 // a group of posterior draws
	coarseShare     = 1. / 8
	entryBytes      = 7 // of Φ: 6 in locality order, 8 elsewhere

	baseBytes    = 10 << 20 // of small models
	garbageBytes = 64 << 20 // that is not collected yet, or
	garbageShare = 0.05     // this share of what is in use, or all of it if that is less
	scratchBytes = 64 << 20 // of the threads, for large graphs
	crossBytes   = 64 << 20 // of covariances between some nodes and all measurements, most
	storedBytes  = 25       // of an entry of features of small graphs, and of Φ, for walks of
	storedHops   = 10       // at most so many hops: an entry has a value for each length at which it is reached
	roleColumns  = 110      // that roles have, about
	knownCopies  = 4        // of covariates: encoded, their neighbours' means, and scaled
	vectorBytes  = 8 * (3*layerPairs*5/4 + layerPairs)
	resumeBytes  = 256 << 20 // of series that go on from an earlier evaluation, most
)

// sharedLeast is the number of measurements per rank from which gp shares an iterative fit.
const sharedLeast = 4096

// Matrices over the measured nodes that kernels keep while they are learned: those of all
// kernels of a contest, and those of the chosen one.
const (
	tables, tablesOfOne   = 40, 10 // by length of coarser scales or layers
	seriesKept, seriesOne = 48, 25 // Chebyshev terms
	pairsMost             = 640 << 20
	seriesMost            = 3 << 30
	factorCopies          = 4 // of a dense matrix that is factored: it, its factor, its inverse, gradients
	classCopies           = 8
	foldShare             = 1.6
)

// EstimateMemory estimates the memory of a job before it begins. For features it samples
// walks from a few hundred nodes.
func EstimateMemory(ctx context.Context, g *graph.Graph, spec Spec, job Job) (Memory, error) {
	if err := spec.Check(); err != nil {
		return Memory{}, err
	}
	e := estimator{workshop: newWorkshop(g, spec), job: job, nodes: float64(g.Len())}
	method, hops, _ := e.decide(min(job.Measurements, g.Len()), spec.Variance == "unit" || job.Classes > 0)
	if job.Classes > 0 {
		method, hops, _ = e.decide(min(job.Measurements, classLearned), true)
	}
	m := Memory{Method: method}
	all := phases{both: e.known(method), learn: e.learning(method, hops), predict: e.places()}
	if job.Folds > 0 { // a fold begins while the one before is not collected yet
		all.learn *= foldShare
	}
	least := all
	m.Seconds = e.knownTime(method)
	switch method {
	case "dense":
		all.both += e.dense()
		m.Seconds += e.denseTime()
		least = all
	case "series":
		e.series(&all)
		least = all
	default:
		if err := e.features(ctx, &m, hops, &all, &least); err != nil {
			return Memory{}, err
		}
	}
	if m.Work = e.work(method); m.Seconds > 10*m.Work { // walks or dimensions far beyond the usual
		m.Work = m.Seconds
	}
	m.Bytes = all.peak()
	m.Least = min(m.Bytes, least.peak())
	return m, nil
}

// phases is the memory that is in use all the time, while hyperparameters are learned, and
// while nodes are predicted.
type phases struct{ both, learn, predict float64 }

// peak returns the largest memory, with what is not collected yet.
func (p phases) peak() int64 {
	live := baseBytes + p.both + max(p.learn, p.predict)
	return int64(min(live+min(live, max(garbageBytes, garbageShare*live)), math.MaxInt64/2))
}

// estimator adds up the memory of a job.
type estimator struct {
	*workshop
	job   Job
	nodes float64
}

// triangle is the memory of a symmetric matrix, half of it stored.
func triangle(n float64) float64 { return 4 * n * n }

// places is the memory of predictions.
func (e *estimator) places() float64 {
	t, n := float64(e.job.Measurements), float64(e.job.Places)
	share := e.share()
	bytes := share*n*predictionBytes + (1-share)*n*sharedBytes + min(crossBytes, 16*n*t)
	if e.exact() {
		bytes += 2 * 8 * t * t
	}
	if e.job.Classes > 0 {
		bytes += n*4*8*float64(e.job.Classes) + 2*min(crossBytes, 16*n*t)
		if t > exactMost || 4*t*t*n > varianceMost {
			bytes += n * 8 * 2 * 64 // draws of latent functions, and those of the prior
		}
	}
	return bytes + float64(e.job.Searches)*(8*t*t+share*n*3*8*16)
}

// share is the part of the places whose predictions one of several ranks holds: what
// kernel.ByRows can divide.
func (e *estimator) share() float64 {
	divided := e.nodes > lazyNodes && e.spec.Times == nil && e.job.Classes == 0 && e.spec.Variance != "unit" && e.spec.Covariates == nil
	if e.job.Ranks <= 1 || !divided {
		return 1
	}
	return 1 / float64(e.job.Ranks)
}

// learned is the part of the measurements whose features one of several ranks holds: from some
// thousands each, they share them.
func (e *estimator) learned() float64 {
	if e.job.Measurements < sharedLeast*e.job.Ranks || e.exact() || e.job.Classes > 0 {
		return 1
	}
	return e.share()
}

// exact reports whether the covariance of the measurements is factored.
func (e *estimator) exact() bool {
	return e.spec.Solver == "exact" || e.job.Measurements <= exactMost && e.spec.Solver != "iterative"
}

// varianceMost is the number of operations beyond which variances come from draws.
const varianceMost = 2e11

// learning is the memory of learning hyperparameters: matrices that kernels keep for
// samples of the measurements, and the factors of all.
func (e *estimator) learning(method string, hops int) float64 {
	t := min(float64(e.job.Measurements), e.nodes*float64(max(1, len(e.spec.Times))))
	kept, one := 10., 0. // dense kernels keep little
	switch method {
	case "series":
		kept, one = tables+seriesKept, min(seriesOne, seriesMost/triangle(max(1, t)))
	case "grf", "lowrank":
		pairs := float64((hops + 1) * (hops + 2) / 2)
		if e.spec.Scales != "one" && !e.uneven() { // on graphs with hubs one scale often wins
			hops = min(hops, finestHops)
		}
		ofOne := float64((hops + 1) * (hops + 2) / 2)
		if kept = tables + pairs/2; ofOne*triangle(t) <= pairsMost {
			one = ofOne
		}
	}
	if e.spec.Scales != "one" && method != "dense" && tables*triangle(t) < pairsMost {
		one += tablesOfOne
	}
	var bytes float64
	if e.job.Classes > 0 {
		sample := triangle(min(t, classSketch))
		parts := triangle(t)
		if t > 800 {
			parts = 2*triangle(300) + triangle(800)
		}
		bytes = kept*sample + (one+tablesOfOne)*parts
		if e.exact() {
			bytes += classCopies * 8 * t * t
		}
		return bytes
	}
	if t <= sketchFrom {
		return kept*triangle(t) + factorCopies*8*t*t
	}
	bytes = kept * (4*triangle(sketchSample*3/17) + triangle(sketchSample*5/17))
	if e.exact() {
		return bytes + one*triangle(t) + factorCopies*8*t*t
	}
	return bytes + one*(4*triangle(300)+triangle(800)) + e.learned()*t*8*6*32
}

// known is the memory of covariates and roles.
func (e *estimator) known(method string) float64 {
	of, _ := e.offers(method)
	columns, bytes := 0., 0.
	if s := e.spec.Covariates; s != nil && of.Has(CovariateTerm) {
		columns += float64(s.Dim())
	}
	if of.Has(RoleTerm) {
		columns += roleColumns
	}
	if columns > 0 {
		t := min(float64(e.job.Measurements), exactMost)
		bytes = knownCopies*8*columns*e.nodes + 3*8*t*t
		bytes += 2 * 8 * float64(e.spec.Pairs) * (columns + t + pairRows)
	}
	return bytes
}

// dense is the memory of eigenvectors of all nodes, on two Laplacians if degrees differ.
func (e *estimator) dense() float64 {
	square := 8 * e.nodes * e.nodes
	if e.uneven() {
		return 4 * square
	}
	return 3 * square
}

// series is the memory of products with W that are under way, and of eigenvectors for
// layers.
func (e *estimator) series(p *phases) {
	resume := func(columns float64) float64 {
		if bytes := 16 * e.nodes * columns; bytes <= resumeBytes {
			return bytes
		}
		return 0
	}
	t := float64(e.job.Measurements)
	p.learn += resume(min(t, sketchSample))
	if t > sketchFrom {
		p.learn += resume(t)
	}
	if e.nodes > denseNodes && e.nodes <= layerNodes && e.entries <= layerEntries {
		p.both += vectorBytes * e.nodes
	}
}

// features adds the memory of features, of all scales, and of one hop on one scale.
func (e *estimator) features(ctx context.Context, m *Memory, hops int, all, least *phases) (err error) {
	on := e.walks()
	entries := func(hops, walks int, hubWalks float64) float64 {
		if err != nil {
			return 0
		}
		opts := e.walkOptions(on, hops, walks, hubWalks)
		if opts.Walks > sampledWalks {
			return reached(on.w, opts)
		}
		f, failed := on.ground.Lazy(opts)
		if err = failed; err != nil {
			return 0
		}
		return f.EntriesPerRow()
	}
	defaults := walk.Default()
	m.Hops, m.Entries = hops, entries(hops, defaults.Walks, defaults.HubWalks)
	one, coarse := entries(1, defaults.Walks, defaults.HubWalks), 0.
	if e.spec.Scales != "one" {
		coarse = entries(coarseHops, coarseWalks, 0)
	}
	if err == nil {
		err = ctx.Err()
	}
	n, t := e.nodes, min(float64(e.job.Measurements), e.nodes)
	m.Seconds += e.walkTime(on, hops, m.Entries)
	if m.Method == "lowrank" {
		m.Seconds += e.projectionTime(m.Entries)
		all.both += e.projection()
	}
	if n <= lazyNodes || m.Method == "lowrank" {
		stored := storedBytes * max(1, float64(hops)/storedHops)
		all.both += n * (stored*m.Entries + coarseShare*storedBytes*coarse)
		least.both += n * storedBytes * one
		return err
	}
	lists := n*listBytes + on.tables() + scratchBytes
	all.both += lists + e.learned()*t*64*m.Entries
	least.both += lists
	own := n * e.share()
	all.predict += own * (drawBytes + entryBytes*m.Entries)
	least.predict += own * (drawBytes + entryBytes*one)
	if coarse > 0 { // interpolation from the coarser graph, its features, its draws, and the graph
		if _, stored := e.graph.StoredLevels(); !stored {
			all.both += n * (prolongBytes + coarseShare*120)
		}
		cells := e.learned() * min(t*8, n*coarseShare) // above measurements
		all.both += n*coarseShare*80 + cells*120*coarse
		all.predict += own * coarseShare * (entryBytes*coarse + 4*drawBytes)
	}
	return err
}
