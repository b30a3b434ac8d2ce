package solve_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"grfgp/solve"
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
	stats, err := solve.CG(context.Background(), x, ring(n), diag, b, solve.DefaultOptions())
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

// Two cells of three nodes each, strongly correlated: the solver starts from an
// exact inverse of that part.
func ExampleCoarse() {
	cells, err := sparse.NewCSR(6, 2, []int{0, 1, 2, 3, 4, 5, 6}, []uint32{0, 0, 0, 1, 1, 1}, []float64{1, 1, 1, 1, 1, 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	between := mat.NewSymDense(2, []float64{100, 99, 99, 100})
	p, err := solve.NewCoarse(cells, between, []float64{1, 1, 1, 1, 1, 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	// P times ones is 1 + 3·(100 + 99) everywhere.
	x, b := mat.NewDense(6, 1, nil), mat.NewDense(6, 1, []float64{598, 598, 598, 598, 598, 598})
	p.Apply(x, b)
	fmt.Printf("rank %d, %.3f\n", p.Rank(), mat.Col(nil, 0, x))
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
func ExampleLogDet() {
	const n = 500
	noise := make([]float64, n)
	for i := range noise {
		noise[i] = 3
	}
	opts := solve.LogDetOptions{}
	value, se, err := solve.LogDet(context.Background(), ring(n), noise, opts)
	if err != nil {
		fmt.Println(err)
		return
	}
	// log det = n log((3+√5)/2) for a long ring.
	fmt.Printf("within four standard errors: %t\n", value-4*se < 481.212 && 481.212 < value+4*se)
	// Output: within four standard errors: true
}
