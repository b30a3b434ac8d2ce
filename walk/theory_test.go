package walk

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/testkit"
	"grfgp/sparse"
)

// diffusion sets coeff[l] = e^(−β/2) (β/2)^l / l!.
func diffusion(coeff []float64, beta float64) {
	f := math.Exp(-beta / 2)
	for l := range coeff {
		coeff[l] = f
		f *= beta / 2 / float64(l+1)
	}
}

// gram returns Φ as a dense matrix and ΦΦᵀ.
func gram(t testing.TB, f *Features, coeff []float64) (phi, k *mat.Dense) {
	t.Helper()
	sparsePhi, err := f.Combine(coeff)
	if err != nil {
		t.Fatal(err)
	}
	n := f.Nodes()
	phi, k = mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for i := range n {
		cols, vals := sparsePhi.Row(i)
		for p, j := range cols {
			phi.Set(i, int(j), vals[p])
		}
	}
	k.Mul(phi, phi.T())
	return phi, k
}

// exactGram returns Ψ = Σ f_l W^l and ΨΨᵀ.
func exactGram(m medium, coeff []float64) (psi, k *mat.Dense) {
	n, _ := m.w.Dims()
	psi, k = mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for l, power := range powers(m.w, len(coeff)-1) {
		power.Scale(coeff[l], power)
		psi.Add(psi, power)
	}
	k.Mul(psi, psi.T())
	return psi, k
}

// The first half of the paper's Theorem 1, for n independent walks that halt with
// probability p:
//
//	P(|φ(i)ᵀφ(j) − K_ij| > t) ≤ 2 exp(−t²n³ / (2(2n−1)²c⁴)), c = Σ |f_r| (max W_ij d_i/(1−p))^r.
//
// With 16,384 walks the deviation t of probability 0.1 is well below K_01, so that
// walks with wrong loads would break the bound. Frequencies over 100 runs may
// exceed it by five binomial standard deviations.
func TestTheorem1Concentration(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const walks, halt, maxLen, runs, bound = 16384, 0.2, 5, 100, 0.1
	coeff := make([]float64, maxLen+1)
	diffusion(coeff, 1)
	for _, m := range smallMedia(t)[:2] {
		n, _ := m.w.Dims()
		_, exact := exactGram(m, coeff)
		grows := 0.0
		for i := range n {
			cols, vals := m.w.Row(i)
			for _, v := range vals {
				grows = max(grows, v*float64(len(cols))/(1-halt))
			}
		}
		c := 0.0
		for r, f := range coeff {
			c += f * math.Pow(grows, float64(r))
		}
		dev := math.Sqrt(-math.Log(bound/2) * 2 * (2*walks - 1) * (2*walks - 1) * math.Pow(c, 4) / (walks * walks * walks))
		if dev > exact.At(0, 1)/2 {
			t.Fatalf("%s: the bound allows %v about %v and says nothing", m.name, dev, exact.At(0, 1))
		}
		far := 0
		for run := range runs {
			f, err := Sample(context.Background(), m.w, Options{
				Sampler: Independent, Steps: Uniform, Walks: walks, Halt: halt, MaxLen: maxLen, Seed: uint64(run), Hi: 2})
			if err != nil {
				t.Fatal(err)
			}
			phi, err := f.Combine(coeff)
			if err != nil {
				t.Fatal(err)
			}
			k := 0.0
			cols, vals := phi.Row(0)
			for p, j := range cols {
				k += vals[p] * phi.At(1, int(j))
			}
			if math.Abs(k-exact.At(0, 1)) > dev {
				far++
			}
		}
		if limit := runs*bound + 5*math.Sqrt(runs*bound*(1-bound)); float64(far) > limit {
			t.Errorf("%s: %d of %d runs were off by more than %v", m.name, far, runs, dev)
		}
	}
}

// The second half: a row has at most n·log(1−(1−δ)^{1/n}) / log(1−p) non-zeros
// with probability 1−δ, on a graph of 401 nodes where walks rarely meet. The same
// limit must fail for walks that halt four times less often, or it says nothing.
func TestTheorem1Sparsity(t *testing.T) {
	t.Parallel()
	const nodes, walks, halt, runs, delta = 401, 4, 0.2, 600, 0.1
	var rowPtr, col, val = []int{0}, []uint32(nil), []float64(nil)
	for i := range nodes {
		for _, step := range []int{1, 7, 31, 101} {
			for _, j := range []int{i + step, i - step + nodes} {
				col, val = append(col, uint32(j%nodes)), append(val, 0.125)
			}
		}
		rowPtr = append(rowPtr, len(col))
	}
	w, err := sparse.NewCSR(nodes, nodes, rowPtr, col, val)
	if err != nil {
		t.Fatal(err)
	}
	most := walks * math.Log(1-math.Pow(1-delta, 1.0/walks)) / math.Log(1-halt)
	dense := func(halt float64) (count float64) {
		for run := range runs {
			f, err := Sample(context.Background(), w, Options{
				Sampler: Independent, Steps: Uniform, Walks: walks, Halt: halt, MaxLen: 200, Seed: uint64(run), Hi: 1})
			if err != nil {
				t.Fatal(err)
			}
			if float64(f.Size().Entries) > most {
				count++
			}
		}
		return count
	}
	limit := runs*delta + 5*math.Sqrt(runs*delta*(1-delta))
	if got := dense(halt); got > limit {
		t.Errorf("%v of %d rows have more than %v non-zeros", got, runs, most)
	}
	if got := dense(halt / 4); got < limit {
		t.Errorf("only %v of %d rows of longer walks break the limit of %v: it says nothing", got, runs, most)
	}
}

// Kernel estimates off the diagonal are unbiased because roots are independent;
// on the diagonal n independent walks are biased up by b/n, and two independent
// ensembles not at all. Means of 2,000 runs, within five standard errors.
func TestDiagonalBias(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const maxLen, runs = 4, 2000
	coeff := make([]float64, maxLen+1)
	diffusion(coeff, 2)
	m := smallMedia(t)[2]
	_, exact := exactGram(m, coeff)
	bias := func(walks int, cross bool, i, j int) (mean, se float64) {
		sum, square := 0.0, 0.0
		for run := range runs {
			var rows [2][]float64
			for side := range rows {
				opts := Options{Sampler: Independent, Walks: walks, Halt: 0.1, MaxLen: maxLen, Scale: m.scale, Seed: uint64(2 * run)}
				if cross {
					opts.Seed += uint64(side)
				}
				f, err := Sample(context.Background(), m.w, opts)
				if err != nil {
					t.Fatal(err)
				}
				phi, _ := gram(t, f, coeff)
				rows[side] = phi.RawRowView([]int{i, j}[side])
			}
			d := -exact.At(i, j)
			for q := range rows[0] {
				d += rows[0][q] * rows[1][q]
			}
			sum += d
			square += d * d
		}
		mean = sum / runs
		return mean, math.Sqrt((square/runs - mean*mean) / runs)
	}
	if mean, se := bias(4, false, 0, 1); math.Abs(mean) > 5*se {
		t.Errorf("off the diagonal: bias %v ± %v", mean, se)
	}
	if mean, se := bias(4, true, 0, 0); math.Abs(mean) > 5*se {
		t.Errorf("two ensembles: bias %v ± %v", mean, se)
	}
	few, seFew := bias(2, false, 0, 0)
	many, seMany := bias(8, false, 0, 0)
	if few < 10*seFew {
		t.Errorf("diagonal bias with 2 walks is %v ± %v, want it clearly positive", few, seFew)
	}
	if off := math.Abs(few - 4*many); off > 5*math.Hypot(seFew, 4*seMany) {
		t.Errorf("bias %v ± %v with 2 walks and %v ± %v with 8: not as 1/n", few, seFew, many, seMany)
	}
}

// Repelling walkers alone, without exact steps, are sharper than as many
// independent walks that never halt: squared error down by a tenth or more over
// 300 runs, where the ratio is known to a few hundredths.
func TestRepellingIsSharper(t *testing.T) {
	t.Parallel()
	const maxLen, runs = 6, 300
	coeff := make([]float64, maxLen+1)
	diffusion(coeff, 6)
	for _, m := range smallMedia(t)[:4] {
		psi, _ := exactGram(m, coeff)
		mse := func(opts Options) float64 {
			sum := 0.0
			for run := range runs {
				opts.Seed, opts.Walks, opts.MaxLen, opts.Scale = uint64(run), 6, maxLen, m.scale
				f, err := Sample(context.Background(), m.w, opts)
				if err != nil {
					t.Fatal(err)
				}
				phi, _ := gram(t, f, coeff)
				phi.Sub(phi, psi)
				sum += math.Pow(mat.Norm(phi, 2), 2)
			}
			return sum / runs
		}
		iid := mse(Options{Sampler: Independent})
		apart := mse(Options{Sampler: Repelling})
		if apart > 0.9*iid {
			t.Errorf("%s: squared error %v repelling, %v independent", m.name, apart, iid)
		}
	}
}
