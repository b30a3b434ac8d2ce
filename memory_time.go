package grfgp

import "math"

// The time of whole jobs. The figures are processor seconds of the machine of docs/performance.md, rounded, fitted to
// 60 runs on two machines: grids, roads, graphs with hubs and social networks of 56 to a million nodes with 50 to 15,000 measurements.
// How long a climb takes depends on the data: 56 of them took between half and twice the estimate.
const (
	eigenTime    = 3.5e-9 // per cubed number of nodes: all eigenvectors
	startTime    = 0.3    // of every fit, from 50 measurements on
	compareTime  = 3e-5   // per squared number of measurements: kernels compared, up to
	compareMost  = 500    // measurements; more are sampled, and the best kernel is fitted to all:
	sampleTime   = 4      // of samples in place of so many measurements
	finalTime    = 3e-3   // per measurement, of a fit to all
	iterateTime  = 2e-4   // the same for iterative fits, per measurement
	lookTime     = 3.5e-4 // per node: leading eigenvectors, coarser graphs, series of the first kernel
	seriesTime   = 2e-7   // per entry and measurement: Chebyshev terms
	walkedTime   = 2.5e-5 // per entry of the matrix up to walkedMost: walks and their features
	walkedMost   = 400_000
	placeTime    = 1e-5 // per place: predictions from draws,
	drawTime     = 3    // and their systems
	varianceTime = 1e-10
	classTime    = 12   // kernels of classes compared on samples
	labelTime    = 8e-4 // per label
	refitShare   = 0.15 // of a fit: the same kernel fitted to a fold
)

// work returns the processor seconds of the whole job.
func (e *estimator) work(method string) float64 {
	t := min(float64(e.job.Measurements), e.nodes*float64(max(1, len(e.spec.Times))))
	fit := e.graphWork(method, t)
	if e.job.Classes > 0 {
		fit += classTime*min(1, t/compareMost) + labelTime*t
	} else {
		fit += e.learningWork(t)
	}
	all := fit + e.placesWork(t)
	if folds := float64(e.job.Folds); folds > 0 {
		all += folds * (refitShare*fit*min(1, compareMost/max(1, t)) + flopTime*t*t*t)
	}
	return all
}

// graphWork is what a fit takes of the graph.
func (e *estimator) graphWork(method string, t float64) float64 {
	entries := float64(e.entries)
	switch method {
	case "dense":
		all := eigenTime * e.nodes * e.nodes * e.nodes
		if e.uneven() {
			all *= 2
		}
		return all
	case "series":
		return lookTime*e.nodes + seriesTime*entries*min(t, sketchSample)
	}
	return walkedTime*min(entries, walkedMost) + placeTime*e.nodes
}

// learningWork is that of comparing kernels and of the final fit to t measurements.
func (e *estimator) learningWork(t float64) float64 {
	all := startTime*min(1, t/50) + compareTime*min(t, compareMost)*min(t, compareMost)
	if t > compareMost {
		all += sampleTime * min(1, t/compareMost-1)
		if e.exact() {
			all += finalTime * t
		} else {
			all += finalTime*exactMost + iterateTime*t
		}
	}
	return all
}

// placesWork is that of predictions: exact variances, or draws.
func (e *estimator) placesWork(t float64) float64 {
	n := float64(e.job.Places)
	if flops := 4 * t * t * n; flops <= varianceMost {
		return varianceTime * flops
	}
	return drawTime + placeTime*n*float64(max(1, e.job.Classes))
}

// On returns the seconds that the job takes on a number of processors: a small part of it is not shared.
func (m Memory) On(processors int) float64 {
	const alone = 0.06
	return m.Work * (alone + (1-alone)/math.Max(1, float64(processors)))
}
