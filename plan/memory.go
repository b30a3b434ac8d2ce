package plan

import "math"

// Job is what is computed with a model, as far as its cost depends on it.
type Job struct {
	Measurements int // or labels, at distinct nodes or places
	Classes      int // of labels; 0: there are measurements
	Places       int // that are predicted at once: nodes, or nodes in periods; 0: few
	Folds        int // of a cross-validation; 0: there is none
	Searches     int // that go on at a time, with at most Measurements each; 0: none
	Ranks        int // processes that share the places; 0: 1. The estimate is that of one of them
}

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

// Sizes are what the cost of a job depends on: the job, the graph, and the kernel that is chosen.
type Sizes struct {
	Job
	Nodes, Entries, Periods int  // of the graph, of its matrix, and of time, 1 without
	Uneven                  bool // degrees differ, so that there are two Laplacians and one scale often wins

	Method   string
	Hops     int // of the longest walk,
	Fine     int // and of that with coarser scales above it
	OneScale bool
	Solver   string // as in Spec.Solver
	Columns  int    // of covariates and roles
	Pairs    int    // of Fourier features that were asked for; 0: none was
	Rank     int    // of the method lowrank
	Divided  bool   // several processes can divide what is known of places
	Rows     Rows   // of the methods grf and lowrank
}

// Rows are features of a node, on average.
type Rows struct {
	Entries, OneHop, Coarse float64 // of the graph, for walks of one hop, and on coarser graphs, 0 without such
	Steps                   float64 // of walkers, or of exact rows if these take fewer
	Tables                  float64 // bytes of walks on the matrix, for all nodes
	Levels                  bool    // coarser graphs have to be made, not only read
}

// RoleColumns is how many columns roles have, about.
const RoleColumns = 110

// Bytes per node of large graphs, by what they are for.
const (
	listBytes       = 40  // lists of nodes, strengths, steps of walks, degrees
	sharedBytes     = 24  // of a place that another rank predicts: lists
	predictionBytes = 80  // of a place: means, variances, what they are added up in, lists
	prolongBytes    = 110 // interpolation from the first coarser graph
	levelBytes      = 120 // that graph, per node of it
	cellBytes       = 80  // features of it, beside their entries
	drawBytes       = 8 * DrawGroup
	coarseShare     = 1. / 8
	entryBytes      = 7 // of Φ: 6 in locality order, 8 elsewhere

	baseBytes       = 10 << 20 // of small models
	garbageBytes    = 64 << 20 // that is not collected yet, or
	garbageShare    = 0.05     // this share of what is in use, or all of it if that is less
	scratchBytes    = 64 << 20 // of the threads, for large graphs
	storedBytes     = 25       // of an entry of features of small graphs, and of Φ, for walks of
	storedHops      = 10       // at most so many hops: an entry has a value for each length at which it is reached
	knownCopies     = 4        // of covariates: encoded, their neighbours' means, and scaled
	pairRows        = 1024     // rows of Fourier features that are in use at a time
	projectedCopies = 3        // of projected features: the Gaussian matrix, its product, their gradient
	foldShare       = 1.6      // of learning: a fold begins while the one before is not collected yet
)

// Matrices over the measured nodes that kernels keep while they are learned: those of all
// kernels of a contest, and those of the chosen one.
const (
	denseKept           = 10
	tables, tablesOfOne = 40, 10 // by length of coarser scales or layers
	seriesKept          = 48     // Chebyshev terms
	seriesOne           = 25
	factorCopies        = 4 // of a dense matrix that is factored: it, its factor, its inverse, gradients
	classCopies         = 10
	iterateVectors      = 6 * 32 // numbers per measurement of an iterative fit
)

// estimate adds up the cost of a job.
type estimate struct {
	Sizes
	l    *Limits
	n, t float64 // nodes, and measurements or labels
}

// Estimate estimates the cost of a job.
func (l *Limits) Estimate(s Sizes) Memory {
	e := estimate{s, l, float64(s.Nodes), min(float64(s.Measurements), float64(s.Nodes)*float64(s.Periods))}
	all := phases{both: e.known(), learn: e.learning(), predict: e.places()}
	if e.Folds > 0 {
		all.learn *= foldShare
	}
	least := all
	m := Memory{Method: e.Method}
	switch e.Method {
	case "dense":
		all.both += e.laplacians()*8*e.n*e.n + 2*8*e.n*e.n
		least = all
	case "series":
		all.learn += e.resumed(min(e.Measurements, e.l.Sketch))
		if e.Measurements > e.l.SketchFrom {
			all.learn += e.resumed(e.Measurements)
		}
		if e.Nodes > e.l.DenseNodes && e.l.Layered(e.Nodes, e.Entries, 1) {
			all.both += 8 * float64(3*e.l.LayerPairs*5/4+e.l.LayerPairs) * e.n
		}
		least = all
	default:
		m.Hops, m.Entries = e.Hops, e.Rows.Entries
		e.features(&all, &least)
	}
	m.Seconds = e.before()
	if m.Work = e.work(); m.Seconds > 10*m.Work { // walks or dimensions far beyond the usual
		m.Work = m.Seconds
	}
	m.Bytes = all.peak()
	m.Least = min(m.Bytes, least.peak())
	return m
}

// phases is the memory that is in use all the time, while hyperparameters are learned, and
// while nodes are predicted.
type phases struct{ both, learn, predict float64 }

// peak returns the largest memory, with what is not collected yet.
func (p phases) peak() int64 {
	live := baseBytes + p.both + max(p.learn, p.predict)
	return int64(min(live+min(live, max(garbageBytes, garbageShare*live)), math.MaxInt64/2))
}

// places is the memory of predictions.
func (e estimate) places() float64 {
	m, n, share := float64(e.Measurements), float64(e.Places), e.share()
	held := max(1, m) * float64(e.l.Held(max(1, e.Measurements)))
	cross := 16 * min(m*n, held)
	bytes := share*n*predictionBytes + (1-share)*n*sharedBytes + cross
	if e.factored() {
		bytes += 2 * 8 * m * m
	}
	if whole := float64(e.l.HeldOf(e.Places, max(1, e.Measurements))); e.factored() && e.Classes == 0 {
		bytes += 8 * max(0, min(n, whole)*m-held)
	}
	if e.Classes > 0 {
		bytes += n*4*8*float64(e.Classes) + 2*cross
		if !e.factored() || !e.l.ExactVariance(e.Places, e.Measurements, ClassProducts, 0) {
			bytes += n * 8 * 2 * ClassDraws // of latent functions, and of the prior
		}
	}
	return bytes + float64(e.Searches)*(8*m*m+share*n*3*8*16)
}

// share is the part of the places whose predictions one of several ranks holds.
func (e estimate) share() float64 {
	if e.Ranks <= 1 || !e.Divided || e.Nodes <= e.l.LazyNodes {
		return 1
	}
	return 1 / float64(e.Ranks)
}

// learned is the part of the measurements whose features one of several ranks holds: from some
// thousands each, they share them.
func (e estimate) learned() float64 {
	if e.Measurements < e.l.SharedFrom*e.Ranks || e.factored() || e.Classes > 0 {
		return 1
	}
	return e.share()
}

func (e estimate) factored() bool { return e.l.Factored(e.Measurements, e.Solver) }

// laplacians is the number of matrices that kernels are tried on.
func (e estimate) laplacians() float64 {
	if e.Uneven {
		return 2
	}
	return 1
}

// learning is the memory of learning hyperparameters: matrices that kernels keep for
// samples of the measurements, and the factors of all.
func (e estimate) learning() float64 {
	kept, one := float64(denseKept), 0.
	switch e.Method {
	case "series":
		kept, one = tables+seriesKept, min(seriesOne, float64(e.l.CacheBytes)/triangle(max(1, e.t)))
	case "grf", "lowrank":
		hops, rows := e.Hops, int(e.t)
		if kept = tables; hops < e.l.PairHops {
			kept += float64((hops+1)*(hops+2)) / 4
		}
		if !e.OneScale && !e.Uneven { // else one scale often wins
			hops = e.Fine
		}
		if e.l.PairCache(hops, rows) > 0 {
			one = float64((hops+1)*(hops+2)) / 2
		}
	}
	if !e.OneScale && e.Method != "dense" && e.l.Table(int(e.t), e.l.TableBytes) > 0 {
		one += tablesOfOne
	}
	factors := factorCopies * 8 * e.t * e.t
	switch {
	case e.Classes > 0:
		bytes := kept*triangle(min(e.t, float64(e.l.ClassSketch))) + (one+tablesOfOne)*e.l.Classes(int(e.t)).bytes()
		if e.factored() {
			bytes += classCopies * 8 * e.t * e.t
		}
		return bytes
	case int(e.t) <= e.l.SketchFrom:
		return kept*triangle(e.t) + factors
	case e.factored():
		return kept*e.l.Sample(e.l.Sketch).bytes() + one*triangle(e.t) + factors
	default:
		return kept*e.l.Sample(e.l.Sketch).bytes() + one*e.l.Start.bytes() + e.learned()*e.t*8*iterateVectors
	}
}

// known is the memory of covariates and roles.
func (e estimate) known() float64 {
	if e.Columns == 0 {
		return 0
	}
	columns, pairs := float64(e.Columns), float64(e.l.SmoothPairs(e.Pairs, e.Measurements, e.Solver))
	t := float64(min(e.Measurements, e.l.Exact))
	return knownCopies*8*columns*e.n + 3*8*t*t + 2*8*pairs*(columns+t+pairRows)
}

// resumed is the memory of columns of a series that are under way.
func (e estimate) resumed(columns int) float64 {
	if !e.l.Resumes(e.Nodes, columns) {
		return 0
	}
	return float64(resumeBytes(e.Nodes, columns))
}

// features adds the memory of features, of all scales, and of one hop on one scale.
func (e estimate) features(all, least *phases) {
	r, t, low := e.Rows, min(float64(e.Measurements), e.n), e.Method == "lowrank"
	if low {
		m := float64(e.Rank)
		all.both += projectedCopies * 8 * m * (e.n + m)
	}
	if e.Nodes <= e.l.LazyNodes || low {
		stored := storedBytes * max(1, float64(e.Hops)/storedHops)
		all.both += e.n * (stored*r.Entries + coarseShare*storedBytes*r.Coarse)
		least.both += e.n * storedBytes * r.OneHop
		return
	}
	lists := e.n*listBytes + r.Tables + scratchBytes
	all.both += lists + e.learned()*t*64*r.Entries
	least.both += lists
	own := e.n * e.share()
	all.predict += own * (drawBytes + entryBytes*r.Entries)
	least.predict += own * (drawBytes + entryBytes*r.OneHop)
	if r.Coarse > 0 { // interpolation from the coarser graph, its features, its draws, and the graph
		if r.Levels {
			all.both += e.n * (prolongBytes + coarseShare*levelBytes)
		}
		cells := e.learned() * min(t*8, e.n*coarseShare) // above measurements
		all.both += e.n*coarseShare*cellBytes + cells*levelBytes*r.Coarse
		all.predict += own * coarseShare * (entryBytes*r.Coarse + 4*drawBytes)
	}
}
