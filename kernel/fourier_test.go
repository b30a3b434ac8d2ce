package kernel_test

import (
	"fmt"
	"math"
	"testing"

	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
)

// The features of Fourier estimate Smooth without bias, with a variance of at most
// 1/(2·pairs) per entry: the mean square over 190 entries, which are not
// independent, must be below three times that. Its diagonal is exact.
func TestFourierEntries(t *testing.T) {
	t.Parallel()
	const n, pairs = 20, 4000
	x, group := covariates(n, 5), []int{0, 0, 1, 1, 1}
	theta := []float64{1, 2, 2.5}
	for _, shape := range kernel.Shapes() {
		got := gramOfAll(t, kernel.Fourier(x, group, shape, pairs, 3), theta)
		want := gramOfAll(t, kernel.Smooth(x, group, shape), theta)
		square := 0.0
		for i := range n {
			if math.Abs(got.At(i, i)-1) > 1e-12 {
				t.Errorf("%v: variance %v, want 1", shape, got.At(i, i))
			}
			for j := range i {
				off := got.At(i, j) - want.At(i, j)
				square += off * off / 190
			}
		}
		if square > 3./(2*pairs) {
			t.Errorf("%v: mean square error %v, want at most %v", shape, square, 3./(2*pairs))
		}
	}
}

// Features satisfy the contract of kernels, few and many.
func TestFourierContract(t *testing.T) {
	x, group := covariates(50, 5), []int{0, 0, 1, 1, 1}
	for _, shape := range kernel.Shapes() {
		for _, pairs := range []int{3, 60} {
			t.Run(fmt.Sprint(shape, pairs), func(t *testing.T) {
				kerneltest.Run(t, kernel.Fourier(x, group, shape, pairs, 1), kerneltest.Options{})
			})
		}
	}
}
