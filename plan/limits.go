// Package plan decides how a model is computed, and what that costs. Limits says up to which sizes a way is taken, functions
// of sizes say how many operations and bytes it takes, and whatever decides, estimates memory and time, or gives reasons calls these.
package plan

// Limits are the sizes, operations and bytes at which one way of computing is left for another. Operations are those that
// take seconds on two processors, bytes those that a laptop has. A limit of one algorithm that decides nothing elsewhere is beside
// that algorithm.
type Limits struct {
	// Representations of a kernel on the graph.
	DenseNodes      int     // most nodes of which all eigenvectors are computed unasked: that takes seconds
	SeriesFlops     float64 // most operations of one evaluation of a likelihood by a series: a second
	SeriesTerms     int     // products with W in an evaluation of a series, typically
	UnitFlops       float64 // most operations of the diagonal at all nodes, which unit variance needs for every prediction
	Rank            int     // dimensions of projected features
	FineHops        int     // longest walk on a graph with coarser ones above it, which connect what is farther apart
	CoarseHops      int     // longest walk on coarser graphs
	CoarseWalks     int     // walkers per node there, hubs included: cells of a graph with hubs reach all others
	UsualNodes      int     // most nodes with walks of usual length and number; more would take gigabytes
	LazyNodes       int     // most nodes whose features are sampled at once and kept in float64; of more, those in use are, and in float32
	LayerNodes      int     // most nodes of a graph whose leading eigenvectors make layers of longer reach,
	LayerEntries    int     // most entries of its matrix,
	LayerComponents int     // most components,
	LayerPairs      int     // and eigenpairs that are sought there
	CrowdDegree     int     // mean degree from which a few hops reach most nodes, so that searches draw by series,
	CrowdEntries    int     // on matrices of at most so many entries: a draw takes 0.1 s

	// Terms beside the graph.
	RoleNodes       int // most nodes of which roles are computed, in models and baselines: they take minutes
	SearchRoleNodes int // the same in searches: a draw is 1,024 cosines and sines per node, a second
	Pairs           int // of Fourier features of a smooth term, where measurements are not factored

	// Solvers.
	Exact       int // most measurements or labels whose covariance is factored
	SolveIters  int // most iterations of a solve, which has to converge
	SingleFrom  int // measurements from which steps of learning are taken in float32: fewer take no time
	SharedFrom  int // measurements per process from which these share an iterative fit: messages take longer for fewer
	SharedCells int // nodes per process of a coarser graph from which these share it, for the same reason
	CardFrom    int // nodes from which posteriors by factors are computed on a card: fewer take no time on the processor

	// Learning.
	SketchFrom       int     // most measurements by all of which kernels are compared; of more
	Sketch           int     // about so many are, and the best kernel is fitted to all, in at
	FinalIters       int     // most so many iterations,
	FinalIters0      int     // at least so many,
	FinalFlops       float64 // and within so many cubes of measurements between: an iteration takes O(T³)
	Start            Patches // from which an iterative fit starts; without scattered ones unless a kernel has a long range
	LaplaceAll       int     // most measurements that are not Gaussian of which all are learned from: an evaluation takes several factors
	AlternativeFlops float64 // most T³ times hyperparameters for their uncertainty: ten iterations of a fit to a thousand measurements
	AlternativeNodes int     // most nodes: every prediction takes two means for every hyperparameter
	AlternativeStudy int     // most measurements of studies, which find it after every one; it falls like 1/T

	// Learning over time.
	TimeAll    int // most measurements without time, as long to factor, of which all are learned from,
	TimeSample int // and about how many are otherwise,
	TimeIters  int // in at most so many iterations
	TimeExact  int // most measurements over time that are factored: conjugate gradients take longer up to here

	// Learning classes.
	ClassSketch   int     // most labels by all of which kernels are compared; of more, so many are
	ClassFinalist int     // labels by which kernels are compared that those leave undecided
	ClassAll      int     // most labels of which all are learned from,
	ClassPatches  Patches // and how many are otherwise
	ClassAverage  int     // most labels with which a classifier is averaged with label spreading

	// Predictions.
	VarianceFlops float64 // most operations of exact variances; beyond, they are means over draws
	CrossEntries  int     // covariances between nodes and measurements that are held at a time,
	WholeEntries  int     // unless all of them are at most so many: a series runs through all its terms for every block
	ReplayNodes   int     // most nodes on which replays run side by side: one takes hundreds of megabytes on larger graphs

	// Memory that learning may keep.
	CacheBytes  int // of all caches of kernels
	PairBytes   int // of products of features, by pairs of lengths: beyond, they cost more than they save, as they do from
	PairHops    int // so many hops on, because the pairs grow with the square of the hops
	TableBytes  int // of tables of coarser scales by length
	TablePoints int // lengths for which a table needs room
	ResumeBytes int // of Chebyshev terms under way, to go on from
	ProductFlat int // most entries of the factors of a product of kernels that are formed at a time
}

// Default returns the limits of every model, unless it is told others.
func Default() *Limits {
	return &Limits{
		DenseNodes: 1500, SeriesFlops: 2e10, SeriesTerms: 64, UnitFlops: 2e11, Rank: 256,
		FineHops: 5, CoarseHops: 10, CoarseWalks: 25, UsualNodes: 200_000, LazyNodes: 1 << 15,
		LayerNodes: 30_000, LayerEntries: 120_000, LayerComponents: 32, LayerPairs: 192, CrowdDegree: 8, CrowdEntries: 800_000,

		RoleNodes: 300_000, SearchRoleNodes: 20_000, Pairs: 256,

		Exact: 3000, SolveIters: 4000, SingleFrom: 1 << 13, SharedFrom: 1 << 12, SharedCells: 1 << 11, CardFrom: 1 << 15,

		SketchFrom: 500, Sketch: 1000, FinalIters: 40, FinalIters0: 4, FinalFlops: 1.2e11, Start: Patches{4, 300, 800}, LaplaceAll: 1500,
		AlternativeFlops: 4e9, AlternativeNodes: 200_000, AlternativeStudy: 400,
		TimeAll: 1500, TimeSample: 2000, TimeIters: 30, TimeExact: 6000,
		ClassSketch: 400, ClassFinalist: 1000, ClassAll: 800, ClassPatches: Patches{2, 200, 600}, ClassAverage: 400,

		VarianceFlops: 2e11, CrossEntries: 4 << 20, WholeEntries: 16 << 20, ReplayNodes: 100_000,

		CacheBytes: 3 << 30, PairBytes: 640 << 20, PairHops: 16, TableBytes: 1 << 30, TablePoints: 48, ResumeBytes: 256 << 20,
		ProductFlat: 1 << 25,
	}
}

// Or returns the limits, or those of Default where there are none.
func (l *Limits) Or() *Limits {
	if l == nil {
		return Default()
	}
	return l
}

// Patches are samples that are learned from together: windows of rows near each other, of a size each, and scattered
// rows for what has a long reach.
type Patches struct{ Windows, Size, Scattered int }

// Sample returns patches of about so many rows.
func (l *Limits) Sample(rows int) Patches {
	return Patches{l.Start.Windows, 3 * rows / 17, 5 * rows / 17}
}

// Classes returns how many of a number of labels are learned from.
func (l *Limits) Classes(labels int) Patches {
	if labels <= l.ClassAll {
		return Patches{0, 0, labels}
	}
	return l.ClassPatches
}

// Rows returns the number of rows.
func (p Patches) Rows() int { return p.Windows*p.Size + p.Scattered }

// Cubes is the work of a factor of each, in cubes of rows.
func (p Patches) Cubes() float64 {
	cube := func(n int) float64 { return float64(n) * float64(n) * float64(n) }
	return float64(p.Windows)*cube(p.Size) + cube(p.Scattered)
}

// bytes is the memory of a symmetric matrix of each.
func (p Patches) bytes() float64 {
	return float64(p.Windows)*triangle(float64(p.Size)) + triangle(float64(p.Scattered))
}
