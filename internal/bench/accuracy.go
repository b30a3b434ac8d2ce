package bench

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/sparse"
	"grfgp/walk"
)

// Accuracy compares a sampler with the exact diffusion kernel on random nodes.
type Accuracy struct {
	Graph   string  `json:"graph"`
	Beta    float64 `json:"beta"`
	Sampler string  `json:"sampler"`
	Walks   int     `json:"walks"`
	Stored  float64 `json:"stored_per_row"` // entries of Φ
	// Relative errors in the Frobenius norm: rows of Φ against Ψ, and ΦΦᵀ
	// against ΨΨᵀ between the chosen nodes.
	RowError    float64 `json:"row_error"`
	KernelError float64 `json:"kernel_error"`
}

const (
	accuracyHops = 10
	accuracyRows = 256
	paperWalks   = 1000
)

// Named is a graph with a name.
type Named struct {
	Name  string
	Graph *graph.Graph
}

// Accuracies compares, for each graph and β, the paper's walks (n = 1000,
// p = 0.1, hops 0 to 10) with the default sampler at no more stored entries.
func Accuracies(ctx context.Context, graphs []Named, betas []float64, seed uint64) ([]Accuracy, error) {
	var all []Accuracy
	for _, g := range graphs {
		w := g.Graph.Normalized(graph.NormalizedAdjacency)
		paper := walk.Options{
			Sampler: walk.Independent, Walks: paperWalks, Halt: 0.1, MaxLen: accuracyHops,
			Scale: g.Graph.WalkScale(graph.NormalizedAdjacency), Seed: seed,
		}
		fPaper, err := walk.Sample(ctx, w, paper)
		if err != nil {
			return nil, err
		}
		ours, err := matchStorage(ctx, w, paper, perRow(fPaper))
		if err != nil {
			return nil, err
		}
		fOurs, err := walk.Sample(ctx, w, ours)
		if err != nil {
			return nil, err
		}
		for _, beta := range betas {
			coeff := make([]float64, accuracyHops+1)
			kernel.Diffusion{}.Coeffs(coeff, []float64{1, beta})
			exact := newExact(w, coeff, seed)
			for _, f := range []*walk.Features{fPaper, fOurs} {
				a, err := exact.compare(f, coeff)
				if err != nil {
					return nil, err
				}
				a.Graph, a.Beta = g.Name, beta
				all = append(all, a)
			}
		}
	}
	return all, nil
}

func perRow(f *walk.Features) float64 {
	s := f.Size()
	return float64(s.Entries) / float64(s.Rows)
}

// matchStorage finds the most repelling walkers that store no more than limit
// entries a row.
func matchStorage(ctx context.Context, w *sparse.CSR, like walk.Options, limit float64) (walk.Options, error) {
	best := walk.Default()
	best.MaxLen, best.Scale, best.Seed = like.MaxLen, like.Scale, like.Seed
	lo, hi := 1, 4*like.Walks
	for lo < hi {
		mid := (lo + hi + 1) / 2
		best.Walks, best.Budget = mid, 2*mid
		f, err := walk.Sample(ctx, w, best)
		if err != nil {
			return best, err
		}
		if perRow(f) <= limit {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	best.Walks, best.Budget = lo, 2*lo
	return best, nil
}

// exact holds the rows of Ψ of some nodes, and the kernel between them.
type exact struct {
	nodes  []int
	psi, k *mat.Dense
}

func newExact(w *sparse.CSR, coeff []float64, seed uint64) *exact {
	n, _ := w.Dims()
	e := &exact{nodes: rand.New(rng.New(seed, "accuracy")).Perm(n)}
	e.nodes = e.nodes[:min(n, accuracyRows)]
	m := len(e.nodes)
	// Ψ is symmetric: its rows are Ψ applied to unit vectors.
	x, next, psi := mat.NewDense(n, m, nil), mat.NewDense(n, m, nil), mat.NewDense(n, m, nil)
	for c, i := range e.nodes {
		x.Set(i, c, 1)
	}
	for _, f := range coeff {
		for q, v := range x.RawMatrix().Data {
			psi.RawMatrix().Data[q] += f * v
		}
		w.Mul(next, x)
		x, next = next, x
	}
	e.psi, e.k = mat.DenseCopyOf(psi.T()), mat.NewDense(m, m, nil)
	e.k.Mul(e.psi, e.psi.T())
	return e
}

func (e *exact) compare(f *walk.Features, coeff []float64) (Accuracy, error) {
	phi, err := f.Combine(coeff)
	if err != nil {
		return Accuracy{}, err
	}
	m := len(e.nodes)
	rows, k := mat.NewDense(m, f.Nodes(), nil), mat.NewDense(m, m, nil)
	for r, i := range e.nodes {
		cols, vals := phi.Row(i)
		for p, j := range cols {
			rows.Set(r, int(j), vals[p])
		}
	}
	k.Mul(rows, rows.T())
	k.Sub(k, e.k)
	rows.Sub(rows, e.psi)
	opts := f.Options()
	return Accuracy{
		Sampler: opts.Sampler.String(), Walks: opts.Walks, Stored: perRow(f),
		RowError:    mat.Norm(rows, 2) / mat.Norm(e.psi, 2),
		KernelError: mat.Norm(k, 2) / mat.Norm(e.k, 2),
	}, nil
}
