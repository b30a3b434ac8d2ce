package chol_test

import (
	"context"
	"fmt"
	"log"

	"grfgp/sparse"
	"grfgp/sparse/chol"
)

// A path a–b–c: precision I + L. A measurement at a, of variance 1/4, adds 4 to the diagonal there.
func Example() {
	q, err := sparse.NewCSR(3, 3, []int{0, 2, 5, 7}, []uint32{0, 1, 0, 1, 2, 1, 2}, []float64{2, -1, -1, 3, -1, -1, 2})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	a, err := chol.Analyze(q)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("entries:", a.Entries())
	f, err := a.Factor(ctx, q)
	if err != nil {
		log.Fatal(err)
	}
	print := func() {
		variances, err := f.InverseDiag(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("log-determinant %.4f, variances %.4f\n", f.LogDet(), variances)
	}
	print()
	if err := f.Update([]int{0}, []float64{2}); err != nil {
		log.Fatal(err)
	}
	print()
	// Output:
	// entries: 6
	// log-determinant 2.0794, variances [0.6250 0.5000 0.6250]
	// log-determinant 3.3322, variances [0.1786 0.4286 0.6071]
}
