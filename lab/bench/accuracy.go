package bench

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/sparse"
	"grfgp/walk"
)

// Accuracy is the error of a sampler against the exact diffusion kernel on random nodes:
// means and standard deviations over draws of nodes and walks.
type Accuracy struct {
	Graph   string  `json:"graph"`
	Beta    float64 `json:"beta"`
	Sampler string  `json:"sampler"`
	Walks   int     `json:"walks"`
	Draws   int     `json:"draws"`
	Stored  float64 `json:"stored_per_row"` // entries of Φ
	// Relative errors in the Frobenius norm: rows of Φ against Ψ, and ΦΦᵀ
	// against ΨΨᵀ between the chosen nodes.
	RowError      float64 `json:"row_error"`
	RowErrorSD    float64 `json:"row_error_sd"`
	KernelError   float64 `json:"kernel_error"`
	KernelErrorSD float64 `json:"kernel_error_sd"`
	// Ratios of the errors of the paper's walks to these errors, paired by draw.
	RowRatio      float64 `json:"row_ratio"`
	RowRatioSD    float64 `json:"row_ratio_sd"`
	KernelRatio   float64 `json:"kernel_ratio"`
	KernelRatioSD float64 `json:"kernel_ratio_sd"`
}

const (
	accuracyHops  = 10
	accuracyRows  = 256
	accuracyDraws = 5
	paperWalks    = 1000
)

// Named is a graph with a name.
type Named struct {
	Name  string
	Graph *graph.Graph
}

// Accuracies compares, for each graph and β, the paper's walks (n = 1000, p = 0.1, hops 0
// to 10) with the default sampler at equal storage, over several draws of nodes and
// walks.
func Accuracies(ctx context.Context, graphs []Named, betas []float64, seed uint64) ([]Accuracy, error) {
	var all []Accuracy
	for _, g := range graphs {
		w := g.Graph.Normalized(graph.NormalizedAdjacency)
		paper := walk.Options{
			Sampler: walk.Independent, Walks: paperWalks, Halt: 0.1, MaxLen: accuracyHops,
			Scale: g.Graph.WalkScale(graph.NormalizedAdjacency), Seed: seed,
		}
		found := make([][accuracyDraws][2]deviation, len(betas))
		var stored [2]float64
		var ours walk.Options
		for draw := range uint64(accuracyDraws) {
			paper.Seed = seed + draw
			fPaper, err := walk.Sample(ctx, w, paper)
			if err != nil {
				return nil, err
			}
			if draw == 0 {
				if ours, err = matchStorage(ctx, w, paper, perRow(fPaper)); err != nil {
					return nil, err
				}
			}
			ours.Seed = paper.Seed
			fOurs, err := walk.Sample(ctx, w, ours)
			if err != nil {
				return nil, err
			}
			for k, beta := range betas {
				coeff := diffusionCoeffs(beta)
				exact := newExact(w, coeff, paper.Seed)
				for side, f := range []*walk.Features{fPaper, fOurs} {
					if found[k][draw][side], err = exact.compare(f, coeff); err != nil {
						return nil, err
					}
				}
			}
			stored[0] += perRow(fPaper) / accuracyDraws
			stored[1] += perRow(fOurs) / accuracyDraws
		}
		for k, beta := range betas {
			for side, opts := range []walk.Options{paper, ours} {
				a := Accuracy{Graph: g.Name, Beta: beta, Sampler: opts.Sampler.String(), Walks: opts.Walks, Draws: accuracyDraws, Stored: stored[side]}
				var rows, kernels, rowRatios, kernelRatios []float64
				for _, d := range found[k] {
					rows, kernels = append(rows, d[side].rows), append(kernels, d[side].kernel)
					rowRatios, kernelRatios = append(rowRatios, d[0].rows/d[side].rows), append(kernelRatios, d[0].kernel/d[side].kernel)
				}
				a.RowError, a.RowErrorSD = stat.MeanStdDev(rows, nil)
				a.KernelError, a.KernelErrorSD = stat.MeanStdDev(kernels, nil)
				a.RowRatio, a.RowRatioSD = stat.MeanStdDev(rowRatios, nil)
				a.KernelRatio, a.KernelRatioSD = stat.MeanStdDev(kernelRatios, nil)
				all = append(all, a)
			}
		}
	}
	return all, nil
}

func diffusionCoeffs(beta float64) []float64 {
	coeff := make([]float64, accuracyHops+1)
	kernel.Diffusion{}.Coeffs(coeff, []float64{1, beta})
	return coeff
}

func perRow(f *walk.Features) float64 {
	s := f.Size()
	return float64(s.Entries) / float64(s.Rows)
}

// matchStorage finds the largest number of repelling walkers that stores at most limit
// entries per row.
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

// exact holds rows of Ψ of some nodes, and the kernel between them.
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

// deviation holds relative errors of rows and of the kernel.
type deviation struct{ rows, kernel float64 }

func (e *exact) compare(f *walk.Features, coeff []float64) (deviation, error) {
	phi, err := f.Combine(coeff)
	if err != nil {
		return deviation{}, err
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
	return deviation{mat.Norm(rows, 2) / mat.Norm(e.psi, 2), mat.Norm(k, 2) / mat.Norm(e.k, 2)}, nil
}
