package plan

import "fmt"

// Asked is what was asked for of a kernel's representation, and what of it decides.
type Asked struct {
	Method  string // "": the cheapest
	Cut     bool   // the family is cut off after some hops, and only walks and series are cut off there
	Unit    bool   // the same variance at every node
	Nodes   int
	Entries int // of the matrix W
	Columns int // distinct nodes with measurements, or labels that are learned from
}

// Represent chooses the representation of a kernel on a graph by its cost, and says why.
func (l *Limits) Represent(a Asked) (method, why string) {
	all, step := l.SeriesCost(a.Entries, a.Nodes), l.SeriesCost(a.Entries, a.Columns)
	switch {
	case a.Method != "":
		return a.Method, fmt.Sprintf("the method %s was requested", a.Method)
	case a.Nodes <= l.DenseNodes && !a.Cut:
		return "dense", fmt.Sprintf("dense: exact, and cheap for %d nodes", a.Nodes)
	case a.Unit && all > l.UnitFlops:
		return "grf", fmt.Sprintf("random features: exact variances at all nodes would take %.1g operations", all)
	case step <= l.SeriesFlops:
		return "series", fmt.Sprintf("series: exact, at about %.1g operations per training step", step)
	}
	return "grf", fmt.Sprintf("random features: an exact series would take %.1g operations per training step", step)
}

// WalkHops returns the longest walk of features of a graph, and why it is not the usual one.
func (l *Limits) WalkHops(method string, nodes, usual int) (hops int, why string) {
	if method == "series" || nodes <= l.UsualNodes {
		return usual, ""
	}
	return l.FineHops, fmt.Sprintf("walks of %d hops to save memory: coarser scales connect nodes farther apart", l.FineHops)
}

// SeriesCost is the operations of an exact series at some columns of a matrix.
func (l *Limits) SeriesCost(entries, columns int) float64 {
	return 2 * float64(l.SeriesTerms) * float64(entries) * float64(columns)
}

// SearchMethod returns the representation that is fastest for a search by a policy, which may need draws alone; "" leaves it open.
func (l *Limits) SearchMethod(nodes, entries int, draws bool) string {
	switch {
	case nodes <= l.DenseNodes:
		return ""
	case draws && entries > l.CrowdDegree*nodes && entries <= l.CrowdEntries:
		return "series"
	}
	return "grf"
}

// Layered reports whether the leading eigenvectors of a graph are sought, to make layers of longer reach.
func (l *Limits) Layered(nodes, entries, components int) bool {
	return nodes <= l.LayerNodes && entries <= l.LayerEntries && components <= l.LayerComponents
}

// Factored reports whether the covariance of measurements or labels is factored. The solver is "exact", "iterative", or
// anything else for the usual one.
func (l *Limits) Factored(measurements int, solver string) bool {
	return solver == "exact" || solver != "iterative" && measurements <= l.Exact
}

// SmoothPairs returns the pairs of Fourier features of smooth terms, 0 where they are exact. Some may have been asked for.
func (l *Limits) SmoothPairs(asked, measurements int, solver string) int {
	switch {
	case asked > 0:
		return asked
	case measurements > l.Exact || solver == "iterative":
		return l.Pairs
	}
	return 0
}

// Iterations returns the most iterations of the fit to all measurements, which starts from
// that to a sample: fewer for many, because an iteration takes O(T³).
func (l *Limits) Iterations(measurements int) int {
	t := float64(measurements)
	return max(l.FinalIters0, min(l.FinalIters, int(l.FinalFlops/(t*t*t))))
}

// Alternatives reports whether the uncertainty of hyperparameters is computed, where an evaluation takes so many
// factors of the covariance.
func (l *Limits) Alternatives(nodes, measurements, hyperparameters, factors int) bool {
	t := float64(measurements)
	return nodes <= l.AlternativeNodes && t*t*t*float64(hyperparameters*factors) <= l.AlternativeFlops
}

// ExactVariance reports whether variances at nodes are computed and not drawn. They take so many products of triangles per
// node with the covariances, and what the diagonal of the prior takes.
func (l *Limits) ExactVariance(nodes, measurements int, products, prior float64) bool {
	return VarianceCost(nodes, measurements, products)+prior <= l.VarianceFlops
}

// VarianceCost is the operations of exact variances beside those of the diagonal of the prior.
func VarianceCost(nodes, measurements int, products float64) float64 {
	return products * float64(nodes) * float64(measurements) * float64(measurements)
}

const (
	ClassProducts = 4  // VarianceCost's products for classes, whose noise differs
	ClassDraws    = 64 // over all classes, that a variance comes from where it is not exact
	DrawGroup     = 16 // posterior draws at a time, at least
)

// Held returns the number of nodes whose covariances with measurements, one at least, are held at a time.
func (l *Limits) Held(measurements int) int { return max(1, l.CrossEntries/measurements) }

// HeldOf is Held where covariances are whole columns of a series, of so many nodes: it runs through all its terms for
// every block.
func (l *Limits) HeldOf(nodes, measurements int) int {
	if nodes*measurements <= l.WholeEntries {
		return max(1, nodes)
	}
	return l.Held(measurements)
}

// PairCache returns the bytes of the products of features of some rows by pairs of lengths up to hops, which learning
// keeps; 0 where it does not.
func (l *Limits) PairCache(hops, rows int) int {
	bytes := (hops + 1) * (hops + 2) / 2 * triangleBytes(rows)
	if hops >= l.PairHops || bytes > l.PairBytes {
		return 0
	}
	return bytes
}

// Resumes reports whether columns of Chebyshev terms under way are kept to go on from.
func (l *Limits) Resumes(nodes, columns int) bool {
	return resumeBytes(nodes, columns) <= l.ResumeBytes
}

func resumeBytes(nodes, columns int) int { return 16 * nodes * columns }

// Table returns the number of matrices of some rows that a table has room for within some bytes; 0: there is none.
func (l *Limits) Table(rows, bytes int) int {
	if most := bytes / max(1, triangleBytes(rows)); rows > 0 && most >= l.TablePoints {
		return most
	}
	return 0
}

// triangleBytes is the memory of half of a symmetric matrix.
func triangleBytes(n int) int { return 8 * (n * (n + 1) / 2) }

// triangle is triangleBytes of any size, about.
func triangle(n float64) float64 { return 4 * n * n }
