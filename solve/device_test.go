package solve

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/gpu"
)

// gridOn returns the matrix of laplacian(n) on a card.
func gridOn(d *gpu.Device, n int) *gpu.Matrix {
	ptr, col, val := []int{0}, []uint32(nil), []float64(nil)
	one := mat.NewDense(n, 1, nil)
	column := mat.NewDense(n, 1, nil)
	for i := range n { // the matrix is symmetric: columns are rows
		one.Zero()
		one.Set(i, 0, 1)
		if err := laplacian(n).Apply(context.Background(), column, one); err != nil {
			panic(err)
		}
		for j := range n {
			if v := column.At(j, 0); v != 0 {
				col, val = append(col, uint32(j)), append(val, v)
			}
		}
		ptr = append(ptr, len(col))
	}
	return d.Matrix(n, n, ptr, col, val)
}

// TestDeviceCG: conjugate gradients on a card give the solutions of those in this process, take as many
// iterations, and stop each column by itself, with and without a preconditioner, from zero and from a guess.
func TestDeviceCG(t *testing.T) {
	t.Parallel()
	const n, k = 700, 6
	random := rand.New(rand.NewPCG(1, 2))
	noise, diag := make([]float64, n), make([]float64, n)
	for i := range noise {
		noise[i], diag[i] = 0.05+random.Float64(), 2
	}
	b, guess := mat.NewDense(n, k, nil), mat.NewDense(n, k, nil)
	for i := range n {
		for j := range k {
			b.Set(i, j, random.NormFloat64()*math.Pow(10, float64(j-2)))
			guess.Set(i, j, b.At(i, j)/3)
		}
		b.Set(i, 3, 0) // its solution is zero
	}
	jacobi, err := NewJacobi(diag, noise)
	if err != nil {
		t.Fatal(err)
	}
	d := gpu.Simulate(gpu.Simulated{})
	a, onNoise, onDiag := gridOn(d, n), d.Upload(1, noise), d.Upload(1, diag)
	for _, precond := range []Preconditioner{nil, jacobi} {
		for _, cold := range []bool{true, false} {
			system := DeviceSystem{Device: d, Noise: onNoise, Apply: func(dst, x *gpu.Block) { a.Mul(dst, x, 1) }}
			if precond != nil {
				system.Precond = NewDeviceJacobi(onDiag, onNoise, 0)
			}
			want := mat.DenseCopyOf(guess)
			if cold {
				want.Zero()
			}
			x, side := d.Upload(k, want.RawMatrix().Data), d.Upload(k, b.RawMatrix().Data)
			opts := Options{ColumnTol: []float64{1e-3, 1e-9, 1e-6, 1e-6, 1e-8, 1e-2}, MaxIter: 400, Precond: precond}
			stats, err := CG(background, want, laplacian(n), noise, b, opts)
			if err != nil {
				t.Fatal(err)
			}
			opts.Precond = nil
			other, err := system.CG(background, x, side, cold, opts)
			if err != nil {
				t.Fatal(err)
			}
			got := mat.NewDense(n, k, nil)
			x.Get(got.RawMatrix().Data)
			if other.Iterations != stats.Iterations || other.Products != stats.Products || !other.Converged {
				t.Errorf("%+v on the card, %+v here", other, stats)
			}
			for j := range k {
				scale := mat.Norm(want.ColView(j), 2)
				var diff mat.VecDense
				diff.SubVec(got.ColView(j), want.ColView(j))
				if mat.Norm(&diff, 2) > 1e-9*scale {
					t.Errorf("column %d differs by %g of %g", j, mat.Norm(&diff, 2), scale)
				}
			}
			if system.Precond != nil {
				system.Precond.Free()
			}
			x.Free()
			side.Free()
		}
	}
	// The log-determinant has the same probes.
	for _, precond := range []Factored{nil, jacobi} {
		system := DeviceSystem{Device: d, Noise: onNoise, Apply: func(dst, x *gpu.Block) { a.Mul(dst, x, 1) }}
		opts := LogDetOptions{Probes: 5, Steps: 30, Seed: 3}
		other := opts
		if precond != nil {
			opts.Precond, system.Precond = precond, NewDeviceJacobi(onDiag, onNoise, 0)
		}
		want, se, err := LogDet(background, laplacian(n), noise, opts)
		if err != nil {
			t.Fatal(err)
		}
		got, gotSE, err := system.LogDet(background, other)
		if err != nil || math.Abs(got-want) > 1e-9*math.Abs(want) || math.Abs(gotSE-se) > 1e-7*se {
			t.Errorf("log determinant %v ± %v, want %v ± %v (%v)", got, gotSE, want, se, err)
		}
		if system.Precond != nil {
			system.Precond.Free()
		}
	}
	for _, x := range []*gpu.Block{onNoise, onDiag} {
		x.Free()
	}
	a.Free()
	if d.InUse() != 0 || d.Err() != nil {
		t.Errorf("%d bytes were not given back; %v", d.InUse(), d.Err())
	}
}

// TestDeviceCGRejects: bad arguments, systems that are not positive definite, iterations that do not suffice, an
// end that somebody asked for and a lost card are errors.
func TestDeviceCGRejects(t *testing.T) {
	t.Parallel()
	const n = 50
	run := func(how gpu.Simulated, noise float64, ctx context.Context, opts Options) error {
		d := gpu.Simulate(how)
		all := make([]float64, n)
		for i := range all {
			all[i] = noise
		}
		a, on := gridOn(d, n), d.Upload(1, all)
		for i := range all {
			all[i] = float64(i%7) - 2
		}
		_, err := DeviceSystem{Device: d, Noise: on, Apply: func(dst, x *gpu.Block) { a.Mul(dst, x, 1) }}.CG(ctx, d.Zeros(n, 1), d.Upload(1, all),
			true, opts)
		return err
	}
	ended, end := context.WithCancel(background)
	end()
	good := Options{Tol: 1e-6, MaxIter: 100}
	for name, c := range map[string]struct {
		err  error
		want error
	}{
		"options":               {run(gpu.Simulated{}, 1, background, Options{}), ErrArgument},
		"not a number":          {run(gpu.Simulated{}, math.NaN(), background, good), ErrNotPositiveDefinite},
		"not positive definite": {run(gpu.Simulated{}, -3, background, good), ErrNotPositiveDefinite},
		"iterations":            {run(gpu.Simulated{}, 1e-6, background, Options{Tol: 1e-9, MaxIter: 3}), ErrNotConverged},
		"ended":                 {run(gpu.Simulated{}, 1, ended, good), context.Canceled},
		"lost":                  {run(gpu.Simulated{FailAfter: 12}, 1e-6, background, good), gpu.ErrLost},
		"memory":                {run(gpu.Simulated{Memory: 5 << 10}, 1, background, good), gpu.ErrMemory},
		"good":                  {run(gpu.Simulated{}, 1, background, good), nil},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
}
