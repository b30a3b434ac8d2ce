// Package kerneltest tests a kernel.Kernel against its contract. A kernel of your
// own that passes Run works with package gp:
//
//	func TestKernel(t *testing.T) { kerneltest.Run(t, newKernel(), kerneltest.Options{}) }
//
// The suite compares every operation with the matrix K formed entry by entry on a
// small graph, gradients with differences, draws with K, every ability of
// kernel.Abilities with the operations it stands for, its root in every memory with K, and results on one thread with
// results on several.
package kerneltest

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/testkit"
	"grfgp/kernel"
)

// MaxNodes is the largest number of nodes of a kernel for Run, which forms K as a
// whole many times.
const MaxNodes = 200

// Options says at which hyperparameters and with how many draws a kernel is tested;
// the zero value is a good choice.
type Options struct {
	Theta []float64 // hyperparameters; nil: a tenth above the start values
	Draws int       // prior draws whose sample covariance is compared with K, a tenth of it in the quick suite; 0: 4000
}

// Run tests k, a kernel on a small graph, against the contract of the interface. It changes the
// number of threads, so that a test that calls it cannot be parallel.
func Run(t *testing.T, k kernel.Kernel, opts Options) {
	t.Helper()
	n := k.Nodes()
	if n < 4 || n > MaxNodes {
		t.Fatalf("kernel on %d nodes, want 4 to %d", n, MaxNodes)
	}
	if opts.Theta == nil {
		for _, p := range k.Params() {
			opts.Theta = append(opts.Theta, 1.1*p.Start)
		}
	}
	if opts.Draws == 0 {
		opts.Draws = 4000
	}
	opts.Draws = testkit.Size(min(opts.Draws, max(100, opts.Draws/10)), opts.Draws)
	cov, err := k.At(opts.Theta)
	if err != nil {
		t.Fatalf("At(%v): %v", opts.Theta, err)
	}
	s := &suite{
		Kernel: k, Options: opts, cov: cov,
		rows: nodes(n, n/2, 3), cols: nodes(n, n/3+1, 5),
	}
	s.all = make([]int, n)
	for i := range s.all {
		s.all[i] = i
	}
	s.k = s.gram(t, cov, s.all)
	s.size = mat.Max(s.k)
	t.Run("theta", s.testTheta)
	if !testkit.Raced { // numbers of one goroutine; what follows does the same work in several
		t.Run("variances", s.testVariances)
		t.Run("entries", s.testEntries)
		t.Run("products", s.testProducts)
		t.Run("semidefinite", s.testSemidefinite)
		t.Run("prior", s.testPrior)
		t.Run("grad", s.testGrad)
		t.Run("gramgrad", s.testGramGrad)
		t.Run("abilities", s.testAbilities)
	}
	t.Run("roots", s.testRoots)
	t.Run("training", s.testTraining)
	t.Run("concurrent", s.testConcurrent)
	t.Run("threads", s.testThreads)
	t.Run("cancel", s.testCancel)
}

// exact is the largest difference of results that are equal up to rounding,
// relative to the largest entry of K.
const exact = 1e-10

// suite is the state that the tests of one kernel share.
type suite struct {
	kernel.Kernel
	Options
	cov        kernel.Covariance // at Theta
	all        []int             // every node
	rows, cols []int             // out of order, with repeats, of unlike lengths
	k          *mat.SymDense     // K as a whole
	size       float64           // its largest entry
}

// nodes returns count nodes of n in a scattered order, and the first of them
// twice more.
func nodes(n, count, step int) []int {
	list := make([]int, 0, count+2)
	for i := range count {
		list = append(list, (7+i*step)%n)
	}
	return append(list, list[0], list[0])
}

// gram returns K[rows, rows].
func (s *suite) gram(t *testing.T, cov kernel.Covariance, rows []int) *mat.SymDense {
	t.Helper()
	k := poisonedSym(len(rows))
	if err := cov.Gram(t.Context(), k, rows); err != nil {
		t.Fatalf("Gram: %v", err)
	}
	return k
}

// close fails unless |got − want| ≤ tol.
func (s *suite) close(t *testing.T, got, want, tol float64, format string, args ...any) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf(format+": %v, want %v ± %.2g", append(args, got, want, tol)...)
	}
}

// poisoned returns a matrix of NaN, a view into a wider one: results must not
// depend on old contents or on the stride.
func poisoned(r, c int) *mat.Dense {
	wide := mat.NewDense(r, c+3, nil)
	fill(wide.RawMatrix().Data)
	return wide.Slice(0, r, 2, 2+c).(*mat.Dense)
}

func poisonedSym(n int) *mat.SymDense {
	k := mat.NewSymDense(n, nil)
	fill(k.RawSymmetric().Data)
	return k
}

func fill(data []float64) {
	for i := range data {
		data[i] = math.NaN()
	}
}

// wave returns a fixed r×c matrix without structure, a view as poisoned is.
func wave(r, c int, phase float64) *mat.Dense {
	m := poisoned(r, c)
	for i := range r {
		for j := range c {
			m.Set(i, j, math.Sin(phase+1.7*float64(i)+0.9*float64(j)+0.31*float64(i*j)))
		}
	}
	return m
}

// waveSym is wave as a symmetric matrix.
func waveSym(n int, phase float64) *mat.SymDense {
	w, g := wave(n, n, phase), mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			g.SetSym(i, j, w.At(i, j))
		}
	}
	return g
}
