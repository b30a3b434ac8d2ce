package kerneltest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
	"grfgp/space"
)

// job is one use of a covariance; it returns the result.
type job struct {
	name string
	do   func(ctx context.Context, cov kernel.Covariance) ([]float64, error)
}

// jobs are all methods of a covariance and of its operators, each once.
func (s *suite) jobs() []job {
	g := waveSym(len(s.rows), 2)
	u, w := wave(len(s.rows), 3, 1), wave(len(s.rows), 3, 5)
	noise := slices.Repeat([]float64{s.size}, len(s.rows))
	jobs := []job{
		{"Gram", func(ctx context.Context, cov kernel.Covariance) ([]float64, error) {
			k := mat.NewSymDense(len(s.rows), nil)
			err := cov.Gram(ctx, k, s.rows)
			return flat(k), err
		}},
		{"Diag", func(ctx context.Context, cov kernel.Covariance) ([]float64, error) {
			d := make([]float64, len(s.rows))
			err := cov.Diag(ctx, d, s.rows)
			return d, err
		}},
		{"Prior", func(ctx context.Context, cov kernel.Covariance) ([]float64, error) {
			z := poisoned(s.Nodes(), 4)
			err := cov.Prior(ctx, z, 7)
			return flat(z), err
		}},
		{"Grad", func(ctx context.Context, cov kernel.Covariance) ([]float64, error) {
			grad := s.held(0)
			err := cov.Grad(ctx, grad, s.rows, u, w)
			return grad, err
		}},
		{"GramGrad", func(ctx context.Context, cov kernel.Covariance) ([]float64, error) {
			grad := s.held(0)
			err := cov.GramGrad(ctx, grad, s.rows, g)
			return grad, err
		}},
	}
	for _, cols := range [][]int{s.rows, s.cols, s.all} {
		x := wave(len(cols), 5, 4)
		jobs = append(jobs, job{fmt.Sprintf("Apply to %d", len(cols)),
			func(ctx context.Context, cov kernel.Covariance) ([]float64, error) {
				dst := poisoned(len(s.rows), 5)
				err := cov.Cross(s.rows, cols).Apply(ctx, dst, x)
				return flat(dst), err
			}})
	}
	a := kernel.AbilitiesOf(s.cov)
	if a.Precondition != nil {
		jobs = append(jobs, job{"Precondition", func(ctx context.Context, cov kernel.Covariance) ([]float64, error) {
			p, err := kernel.AbilitiesOf(cov).Precondition(ctx, s.rows, 0.5, noise)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return nil, err
			}
			dst := space.Host().Block(space.Rows(len(s.rows)), 3)
			p.Apply(dst, block(space.Host(), space.Rows(len(s.rows)), u))
			return flat(fetched(dst)), nil
		}})
	}
	return jobs
}

// flat returns the entries of m row by row.
func flat(m mat.Matrix) []float64 {
	r, c := m.Dims()
	v := make([]float64, 0, r*c)
	for i := range r {
		for j := range c {
			v = append(v, m.At(i, j))
		}
	}
	return v
}

// results does all jobs with a new covariance.
func (s *suite) results(t *testing.T) [][]float64 {
	t.Helper()
	cov, err := s.At(s.Theta)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]float64
	for _, j := range s.jobs() {
		v, err := j.do(t.Context(), cov)
		if err != nil {
			t.Fatalf("%s: %v", j.name, err)
		}
		all = append(all, v)
	}
	return all
}

// testConcurrent: one covariance and one operator serve many goroutines at once,
// from their first use on.
func (s *suite) testConcurrent(t *testing.T) {
	want := s.results(t)
	cov, err := s.At(s.Theta)
	if err != nil {
		t.Fatal(err)
	}
	op := cov.Cross(s.rows, s.cols)
	x := wave(len(s.cols), 5, 4)
	product := s.apply(t, s.cov.Cross(s.rows, s.cols), x)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i, j := range s.jobs() {
				if v, err := j.do(t.Context(), cov); err != nil || !slices.Equal(v, want[i]) {
					t.Errorf("%s differs when others use the covariance (error %v)", j.name, err)
				}
				dst := poisoned(len(s.rows), 5)
				if err := op.Apply(t.Context(), dst, x); err != nil || !mat.Equal(dst, product) {
					t.Errorf("Apply differs when others use the operator (error %v)", err)
				}
			}
		})
	}
	wg.Wait()
}

// testThreads: the same bits at any GOMAXPROCS.
func (s *suite) testThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := s.results(t)
	for _, threads := range []int{2, 5} {
		runtime.GOMAXPROCS(threads)
		for i, v := range s.results(t) {
			if !slices.Equal(v, want[i]) {
				t.Errorf("%s differs on %d threads", s.jobs()[i].name, threads)
			}
		}
	}
}

// testCancel: every method returns an error if the context has ended.
func (s *suite) testCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, j := range s.jobs() {
		if _, err := j.do(ctx, s.cov); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want %v", j.name, err, context.Canceled)
		}
	}
}
