package solve_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/solve"
	"grfgp/space"
	"grfgp/sparse"
)

// ring is the adjacency matrix of a ring, seen by its action.
type ring int

func (n ring) Dims() (r, c int) { return int(n), int(n) }

func (n ring) Apply(_ context.Context, dst, x *mat.Dense) error {
	_, k := x.Dims()
	for i := range int(n) {
		for j := range k {
			dst.Set(i, j, x.At((i+1)%int(n), j)+x.At((i+int(n)-1)%int(n), j))
		}
	}
	return nil
}

// Two right-hand sides share every product. The eigenvalues of the ring lie in
// [−2, 2], so with 3 on the diagonal the system is positive definite.
func ExampleCG() {
	const n = 1000
	b := mat.NewDense(n, 2, nil)
	diag := make([]float64, n)
	for i := range n {
		b.Set(i, 0, 5) // solved by ones
		diag[i] = 3
	}
	b.Set(7, 1, 1)

	x := mat.NewDense(n, 2, nil) // start from zero
	stats, err := solve.CG(context.Background(), x, ring(n), diag, b, nil, solve.DefaultOptions())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f %.4f\n", x.At(0, 0), x.At(7, 1))
	fmt.Println("converged:", stats.Converged)
	// Output:
	// 1.0000 0.4472
	// converged: true
}

// The same system in blocks of a memory: here that of float32; on a graphics card, or with rows that several processes
// share, nothing else changes. A preconditioner is made for the memory of its system.
func ExampleSystem() {
	const n = 1000
	ctx, memory, rows := context.Background(), space.Host32(), space.Rows(n)
	var entries space.Entries
	entries.Ptr = append(entries.Ptr, 0)
	diag, ones := make([]float64, n), make([]float64, n)
	for i := range n {
		entries.Col = append(entries.Col, uint32((i+1)%n), uint32((i+n-1)%n))
		entries.Val = append(entries.Val, 1, 1)
		entries.Ptr = append(entries.Ptr, len(entries.Col))
		diag[i], ones[i] = 3, 5
	}
	a, err := memory.Sparse(ctx, rows, rows, entries)
	if err != nil {
		fmt.Println(err)
		return
	}
	jacobi, err := solve.NewJacobi(memory, rows, diag)
	if err != nil {
		fmt.Println(err)
		return
	}
	s := &solve.System{Space: memory, Axis: rows, Noise: memory.Block(rows, 1), Precond: jacobi}
	s.Noise.Set(diag)
	s.Apply = func(_ context.Context, dst, x space.Block) error {
		a.Mul(dst, x, 0, 1, false)
		return nil
	}
	x, b := memory.Block(rows, 1), memory.Block(rows, 1)
	x.Zero()
	b.Set(ones)
	stats, err := s.CG(ctx, x, b, true, solve.Options{Tol: 1e-4, MaxIter: 100})
	if err != nil {
		fmt.Println(err)
		return
	}
	solution := make([]float64, n)
	x.Get(solution)
	fmt.Printf("%.3f, converged: %t\n", solution[0], stats.Converged)
	// Output: 1.000, converged: true
}

// Two cells of three nodes each, strongly correlated: the solver starts from an
// exact inverse of that part.
func ExampleLowRank() {
	cells, err := sparse.NewCSR(6, 2, []int{0, 1, 2, 3, 4, 5, 6}, []uint32{0, 0, 0, 1, 1, 1}, []float64{1, 1, 1, 1, 1, 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	memory, rows := space.Host(), space.Rows(6)
	a, err := memory.Sparse(context.Background(), rows, space.Rows(2), space.Of(cells))
	if err != nil {
		fmt.Println(err)
		return
	}
	between := mat.NewSymDense(2, []float64{100, 99, 99, 100})
	ones := []float64{1, 1, 1, 1, 1, 1}
	p, err := solve.NewLowRankIn(memory, rows, a, 2, between, ones, func(inv []float64) (blas64.General, error) {
		return space.Gram(memory, rows, cells, inv)
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	// P times ones is 1 + 3·(100 + 99) everywhere.
	x, b := memory.Block(rows, 1), memory.Block(rows, 1)
	b.Set([]float64{598, 598, 598, 598, 598, 598})
	p.Apply(x, b)
	fmt.Printf("rank %d, %.3f\n", p.Rank(), mat.Col(nil, 0, space.DenseOf(x)))
	// Output: rank 2, [1.000 1.000 1.000 1.000 1.000 1.000]
}

// A factor grows by one observation at a time.
func ExampleCholesky() {
	c, err := solve.NewCholesky(mat.NewSymDense(2, []float64{4, 2, 2, 3}))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := c.Append([]float64{0, 0, 5}); err != nil {
		fmt.Println(err)
		return
	}
	x := mat.NewDense(3, 1, nil)
	c.Solve(x, mat.NewDense(3, 1, []float64{6, 5, 10}))
	fmt.Printf("%.3f\n", mat.Col(nil, 0, x))
	// Output: [1.000 1.000 2.000]
}

// An estimate comes with its standard error.
func ExampleSystem_LogDet() {
	const n = 500
	noise := make([]float64, n)
	for i := range noise {
		noise[i] = 3
	}
	value, se, err := solve.SystemOf(ring(n), noise).LogDet(context.Background(), solve.LogDetOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	// log det = n log((3+√5)/2) for a long ring.
	fmt.Printf("within four standard errors: %t\n", value-4*se < 481.212 && 481.212 < value+4*se)
	// Output: within four standard errors: true
}
