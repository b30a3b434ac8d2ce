package gp

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	"grfgp/kernel"
)

// ellipticalSlice draws from p(f) ∝ N(f; 0, K) exp(logDensity(f)) by elliptical slice
// sampling (Murray, Adams and MacKay, AISTATS 2010) and calls each with every draw after
// the first tenth. root is a root of K.
func ellipticalSlice(root *mat.Dense, logDensity func(f []float64) float64, f []float64, draws int, seed uint64, each func(f []float64)) {
	random := rand.New(rng.New(seed, "elliptical slice sampling"))
	n := len(f)
	current := logDensity(f)
	z, nu, proposal := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil), make([]float64, n)
	for s := range draws + draws/10 {
		for i := range n {
			z.SetVec(i, random.NormFloat64())
		}
		nu.MulVec(root, z)
		level := current - random.ExpFloat64()
		angle := 2 * math.Pi * random.Float64()
		lo, hi := angle-2*math.Pi, angle
		for {
			sin, cos := math.Sincos(angle)
			for i := range f {
				proposal[i] = f[i]*cos + nu.AtVec(i)*sin
			}
			if v := logDensity(proposal); v > level {
				copy(f, proposal)
				current = v
				break
			}
			if angle < 0 {
				lo = angle
			} else {
				hi = angle
			}
			angle = lo + (hi-lo)*random.Float64()
		}
		if s >= draws/10 {
			each(f)
		}
	}
}

// sampled are means and standard deviations over a Markov chain, with the standard
// error of the means in standard deviations, from the means of 50 batches.
type sampled struct {
	mean, sd []float64
	se       float64 // largest over nodes, in standard deviations
}

// sampleLatent runs the chain for a model given data, at all nodes. The ellipses are
// those of a Gaussian q near the posterior, and N(f; 0, K)p(y|f)/q(f) takes the place of
// the likelihood: the chain has the same limit whatever q is, and mixes fast if q is
// near. With plain, q is the prior.
func sampleLatent(t *testing.T, p *Posterior, draws int, seed uint64, plain bool) sampled {
	t.Helper()
	m, n := p.model, p.Nodes()
	gram, center := mat.NewSymDense(n, nil), make([]float64, n)
	if plain {
		if err := p.cov.Gram(background, gram, allNodes(n)); err != nil {
			t.Fatal(err)
		}
	} else {
		cov, err := p.Covariance(background, allNodes(n), allNodes(n))
		if err != nil {
			t.Fatal(err)
		}
		if center, err = p.Mean(background, allNodes(n)); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			center[i] = (center[i] - m.units.Center) / m.units.Scale
			for j := i; j < n; j++ {
				gram.SetSym(i, j, cov.At(i, j)/m.units.Scale/m.units.Scale)
			}
		}
	}
	obs := p.measured.obs
	logDensity := func(f []float64) float64 {
		sum := 0.0
		for r, i := range p.data.Nodes {
			at := center[i] + f[i]
			sum += obs.at(r, at).value
			if !plain {
				sum += (p.data.Y[r] - at) * (p.data.Y[r] - at) / (2 * p.noise[r])
			}
		}
		return sum
	}
	const batches = 50
	means := mat.NewDense(batches, n, nil)
	first, second := make([]float64, n), make([]float64, n)
	k := 0
	ellipticalSlice(rootOf(t, gram), logDensity, make([]float64, n), draws, seed, func(f []float64) {
		b := k * batches / draws
		for i, v := range f {
			first[i] += v / float64(draws)
			second[i] += v * v / float64(draws)
			means.Set(b, i, means.At(b, i)+v*batches/float64(draws))
		}
		k++
	})
	out := sampled{mean: make([]float64, n), sd: make([]float64, n)}
	for i := range n {
		sd := math.Sqrt(second[i] - first[i]*first[i])
		between := 0.0
		for b := range batches {
			between += (means.At(b, i) - first[i]) * (means.At(b, i) - first[i])
		}
		out.se = max(out.se, math.Sqrt(between/(batches-1)/batches)/sd)
		out.mean[i] = m.units.Center + m.units.Scale*(center[i]+first[i])
		out.sd[i] = sd * m.units.Scale
	}
	return out
}

// rootOf returns the symmetric root of a positive semidefinite matrix.
func rootOf(t *testing.T, a *mat.SymDense) *mat.Dense {
	t.Helper()
	var eigen mat.EigenSym
	if !eigen.Factorize(a, true) {
		t.Fatal("no eigenvalues")
	}
	var v mat.Dense
	eigen.VectorsTo(&v)
	n := a.SymmetricDim()
	scaled := mat.DenseCopyOf(&v)
	for j, e := range eigen.Values(nil) {
		for i := range n {
			scaled.Set(i, j, scaled.At(i, j)*math.Sqrt(max(e, 0)))
		}
	}
	return scaled
}

// ringModel returns a model of values on a ring of n nodes with known hyperparameters.
func ringModel(t testing.TB, n int, s State) *Model {
	t.Helper()
	g, err := graph.Ring(n)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	s.Solver = Exact
	if s.Theta == nil {
		s.Theta = []float64{1, 4}
	}
	if s.Units.Scale == 0 {
		s.Units.Scale = 1
	}
	m, err := NewModel(k, s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestSamplersAgree: ellipses of the prior and of an approximation of the posterior give
// the same means within five of their Monte-Carlo errors.
func TestSamplersAgree(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	for _, v := range nonGaussian {
		s, size := stateOf(v)
		m := ringModel(t, 20, s)
		p, err := m.Condition(background, simulated(v, allNodes(20)[:12], wave(20), size, s.Shape, 0.2, 3))
		if err != nil {
			t.Fatal(err)
		}
		draws := testkit.Size(8000, 40_000)
		a, b := sampleLatent(t, p, draws, 1, true), sampleLatent(t, p, draws, 2, false)
		for i := range a.mean {
			if off := math.Abs(a.mean[i]-b.mean[i]) / b.sd[i]; off > 5*(a.se+b.se) {
				t.Errorf("%v, node %d: means differ by %.3f sds, with errors %.3f and %.3f", v, i, off, a.se, b.se)
			}
		}
	}
}

// TestLaplaceAgainstSampling compares means and standard deviations of f with those of
// long Markov chains, at all 40 nodes of a ring of which 30 are measured.
func TestLaplaceAgainstSampling(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const n = 40
	draws := testkit.Size(20_000, 100_000)
	for name, c := range map[string]struct {
		state State
		size  float64 // exposure or trials
		mean  float64 // largest difference of means, in sds, beyond the Monte-Carlo error
		sd    float64 // largest relative difference of sds
	}{
		"counts of mean 30":         {State{Values: Counts, MeanVar: 1}, 30, 0.05, 0.05},
		"dispersed counts, mean 30": {State{Values: Counts, MeanVar: 1, Shape: Shape{Dispersion: 0.1}}, 30, 0.05, 0.05},
		"counts of mean 1":          {State{Values: Counts, MeanVar: 1}, 1, 0.05, 0.05},
		"shares of 40":              {State{Values: Shares, MeanVar: 1}, 40, 0.05, 0.05},
		"shares of 4":               {State{Values: Shares, MeanVar: 1}, 4, 0.05, 0.05},
		"counts of mean 0.2":        {State{Values: Counts, MeanVar: 1}, 0.2, 0.05, 0.1},
		"yes-no":                    {State{Values: YesNo, MeanVar: 1}, 1, 0.05, 0.05},
		"student":                   {State{Values: Student, MeanVar: 1, Noise: 0.05, Shape: Shape{Freedom: 4}}, 1, 0.1, 0.2},
	} {
		t.Run(name, func(t *testing.T) {
			m := ringModel(t, n, c.state)
			nodes := allNodes(n)[:30]
			d := simulated(c.state.Values, nodes, wave(n), c.size, c.state.Shape, math.Sqrt(c.state.Noise), 3)
			p, err := m.Condition(background, d)
			if err != nil {
				t.Fatal(err)
			}
			long := sampleLatent(t, p, draws, 11, false)
			mean, err := p.Mean(background, allNodes(n))
			if err != nil {
				t.Fatal(err)
			}
			variance, err := p.Variance(background, allNodes(n))
			if err != nil {
				t.Fatal(err)
			}
			worst, typical, ratio, average := 0.0, 0.0, 0.0, 0.0
			for i := range n {
				off := (mean[i] - long.mean[i]) / long.sd[i]
				worst = max(worst, math.Abs(off))
				typical += off / n
				r := math.Sqrt(variance[i])/long.sd[i] - 1
				ratio = max(ratio, math.Abs(r))
				average += r / n
			}
			t.Logf("means differ by up to %.3f sds (mean %.3f), Monte-Carlo error %.3f; sds by up to %.1f %% (mean %.1f %%)", worst, typical,
				long.se, 100*ratio, 100*average)
			if worst > c.mean+4*long.se {
				t.Errorf("a mean differs by %.3f sds, want %.2f and 4 Monte-Carlo errors of %.3f", worst, c.mean, long.se)
			}
			if ratio > c.sd+4*long.se {
				t.Errorf("an sd differs by %.1f %%", 100*ratio)
			}
		})
	}
}
