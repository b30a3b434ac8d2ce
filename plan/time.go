package plan

// The time of whole jobs. The figures are processor seconds of the machine of docs/performance.md, rounded, fitted to
// 60 runs on two machines: grids, roads, graphs with hubs and social networks of 56 to a million nodes with 50 to 15,000 measurements.
// How long a climb takes depends on the data: 56 of them took between half and twice the estimate.
const (
	flopTime     = 1e-9
	stepTime     = 20e-9  // of a walker
	eigenTime    = 3.5e-9 // per cubed number of nodes: all eigenvectors
	startTime    = 0.3    // of every fit, from 50 measurements on
	compareTime  = 3e-5   // per squared number of measurements by which kernels are compared, up to Limits.SketchFrom
	sampleTime   = 4      // of samples in place of more
	finalTime    = 3e-3   // per measurement, of a fit to all
	iterateTime  = 2e-4   // the same for iterative fits, per measurement
	lookTime     = 3.5e-4 // per node: leading eigenvectors, coarser graphs, series of the first kernel
	seriesTime   = 2e-7   // per entry and measurement: Chebyshev terms
	walkedTime   = 2.5e-5 // per entry of the matrix up to walkedMost: walks and their features
	walkedMost   = 400_000
	placeTime    = 1e-5  // per place: predictions from draws,
	drawTime     = 3     // and their systems
	varianceTime = 1e-10 // per node and squared number of measurements: exact variances
	classTime    = 12    // kernels of classes compared on samples
	labelTime    = 8e-4  // per label
	refitShare   = 0.15  // of a fit: the same kernel fitted to a fold
)

// Evaluations is how often a likelihood is evaluated until a climb converges, about.
const Evaluations = 25

// before is the time of what does not depend on measurements.
func (e estimate) before() float64 {
	pairs := float64(e.l.SmoothPairs(e.Pairs, e.Measurements, e.Solver))
	all := flopTime * 2 * e.n * pairs * float64(e.Columns)
	switch rank := float64(e.Rank); e.Method {
	case "dense":
		return all + e.graphWork()
	case "series":
		return all
	case "lowrank":
		all += flopTime * rank * (2*e.n*e.Rows.Entries + 10*e.n + rank*rank)
	}
	return all + stepTime*e.n*e.Rows.Steps
}

// work returns the processor seconds of the whole job.
func (e estimate) work() float64 {
	fit := e.graphWork()
	if e.Classes > 0 {
		fit += classTime*min(1, e.t/float64(e.l.SketchFrom)) + labelTime*e.t
	} else {
		fit += e.learningWork()
	}
	all := fit + e.placesWork()
	if folds := float64(e.Folds); folds > 0 {
		all += folds * (refitShare*fit*min(1, float64(e.l.SketchFrom)/max(1, e.t)) + flopTime*e.t*e.t*e.t)
	}
	return all
}

// graphWork is what a fit takes of the graph.
func (e estimate) graphWork() float64 {
	entries := float64(e.Entries)
	switch e.Method {
	case "dense":
		return e.laplacians() * eigenTime * e.n * e.n * e.n
	case "series":
		return lookTime*e.n + seriesTime*entries*min(e.t, float64(e.l.Sketch))
	}
	return walkedTime*min(entries, walkedMost) + placeTime*e.n
}

// learningWork is that of comparing kernels and of the final fit.
func (e estimate) learningWork() float64 {
	compared := float64(e.l.SketchFrom)
	all := startTime*min(1, e.t/50) + compareTime*min(e.t, compared)*min(e.t, compared)
	switch {
	case e.t <= compared:
		return all
	case e.factored():
		all += finalTime * e.t
	default:
		all += finalTime*float64(e.l.Exact) + iterateTime*e.t
	}
	return all + sampleTime*min(1, e.t/compared-1)
}

// placesWork is that of predictions: exact variances, or draws.
func (e estimate) placesWork() float64 {
	products := 1.
	if e.Classes > 0 {
		products = ClassProducts
	}
	t := int(e.t)
	if e.factored() && e.l.ExactVariance(e.Places, t, products, 0) {
		return varianceTime * VarianceCost(e.Places, t, 1)
	}
	return drawTime + placeTime*float64(e.Places)*float64(max(1, e.Classes))
}

// On returns the seconds that the job takes on a number of processors: a small part of it is not shared.
func (m Memory) On(processors int) float64 {
	const alone = 0.06
	return m.Work * (alone + (1-alone)/max(1, float64(processors)))
}
