package grfgp

import (
	"cmp"

	"grfgp/sparse"
	"grfgp/walk"
)

// What extreme Specs cost. The figures need not be sharp, but they must be found in no
// time: the walkers of a Spec can be so many that a few rows of features take hours.
const (
	defaultRank     = 256
	projectedCopies = 3    // of projected features: the Gaussian matrix, its product, their gradient
	pairRows        = 1024 // rows of Fourier features that are in use at a time
	sampledWalks    = 2000 // walkers up to which rows of features are sampled to count their entries
	reachedRows     = 16   // rows whose entries are counted by a search
	stepTime        = 20e-9
	flopTime        = 1e-9
	eigenFlops      = 10 // of eigenvectors, per cubed number of nodes
)

// rank is the number of dimensions of the method lowrank.
func (s Spec) rank() int { return cmp.Or(s.Rank, defaultRank) }

// projection is the memory of the method lowrank, beside its features.
func (e *estimator) projection() float64 {
	m := float64(e.spec.rank())
	return projectedCopies * 8 * m * (e.nodes + m)
}

func (e *estimator) projectionTime(entries float64) float64 {
	m := float64(e.spec.rank())
	return flopTime * m * (2*e.nodes*entries + 10*e.nodes + m*m)
}

func (e *estimator) denseTime() float64 {
	t := flopTime * eigenFlops * e.nodes * e.nodes * e.nodes
	if e.uneven() {
		t *= 2
	}
	return t
}

// knownTime is the time of Fourier features of all nodes.
func (e *estimator) knownTime(method string) float64 {
	if of, _ := e.offers(method); of&knownTerms == 0 {
		return 0
	}
	columns := float64(roleColumns)
	if s := e.spec.Covariates; s != nil {
		columns += float64(s.Dim())
	}
	return flopTime * 2 * e.nodes * float64(e.spec.Pairs) * columns
}

// walkTime is the time of the walks of all nodes: steps of walkers, or edges of exact rows
// if there are fewer.
func (e *estimator) walkTime(on walks, hops int, entries float64) float64 {
	opts := e.walkOptions(on, hops, walk.Default().Walks, 0)
	steps := float64(opts.Walks) * float64(hops)
	exact := entries * float64(hops+1) / 2 * float64(e.entries) / max(1, e.nodes)
	return stepTime * e.nodes * min(steps, exact)
}

// reached returns how many nodes the walks of a row reach at most, on average over a few
// rows: those within MaxLen hops.
func reached(w *sparse.CSR, opts walk.Options) float64 {
	n, _ := w.Dims()
	rows := min(n, reachedRows)
	if rows == 0 {
		return 0
	}
	seen := make([]int, n) // the last row + 1 that came here
	total := 0
	for k := range rows {
		front := []uint32{uint32(k * n / rows)}
		seen[front[0]] = k + 1
		total++
		for l := 0; l < opts.MaxLen && len(front) > 0; l++ {
			var next []uint32
			for _, i := range front {
				near, _ := w.Row(int(i))
				for _, j := range near {
					if seen[j] != k+1 {
						seen[j] = k + 1
						next = append(next, j)
					}
				}
			}
			total += len(next)
			front = next
		}
	}
	return min(float64(total)/float64(rows), 2*float64(opts.Walks)*float64(opts.MaxLen+1))
}
