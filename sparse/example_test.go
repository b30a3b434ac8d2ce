package sparse_test

import (
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"grfgp/sparse"
)

// The path a–b–c as a matrix, times two right-hand sides at once.
func ExampleCSR_Mul() {
	path, err := sparse.NewCSR(3, 3, []int{0, 1, 3, 4}, []uint32{1, 0, 2, 1}, []float64{1, 1, 1, 1})
	if err != nil {
		log.Fatal(err)
	}
	x := mat.NewDense(3, 2, []float64{
		1, 10,
		2, 20,
		3, 30,
	})
	dst := mat.NewDense(3, 2, nil)
	path.Mul(dst, x)
	fmt.Println(mat.Formatted(dst))
	// Output:
	// ⎡ 2  20⎤
	// ⎢ 4  40⎥
	// ⎣ 2  20⎦
}
