package covariates

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
)

// Kernels are the terms of a kernel over blocks: a linear one for each kind of
// block, with a mean variance of one over the nodes at s² = 1, and a smooth one of all
// blocks together, in which every block has a length.
type Kernels struct {
	Path   string // of the hyperparameters
	Blocks []Block
	Linear []LinearPart
	Smooth kernel.Kernel

	group []int // of the columns of the smooth one
	pairs int
	seed  uint64
}

// LinearPart is a linear term.
type LinearPart struct {
	Kind   Kind
	Kernel kernel.Kernel
	Scale  float64 // of the columns in the kernel
}

// New returns the kernels over blocks. With pairs the smooth one is that of so many pairs of Fourier features, which depend on
// the seed; without it is exact.
func New(path string, blocks []Block, pairs int, seed uint64) *Kernels {
	k := &Kernels{Path: path, Blocks: blocks, pairs: pairs, seed: seed}
	for kind := range kinds {
		var parts []*mat.Dense
		for _, b := range blocks {
			if b.Kind == kind {
				parts = append(parts, b.Linear())
			}
		}
		if len(parts) == 0 {
			continue
		}
		x := Beside(parts...)
		scale := 1 / math.Sqrt(max(meanSquareLength(x), 1e-12))
		x.Scale(scale, x)
		k.Linear = append(k.Linear, LinearPart{kind, kernel.Linear(x, kindNames[kind]), scale})
	}
	var all []*mat.Dense
	for g, b := range blocks {
		_, width := b.X.Dims()
		all, k.group = append(all, b.X), append(k.group, slices.Repeat([]int{g}, width)...)
	}
	k.Smooth = k.SmoothOn(Beside(all...))
	return k
}

// SmoothOn returns the smooth kernel on other rows of columns than those of nodes.
func (k *Kernels) SmoothOn(x *mat.Dense) kernel.Kernel {
	var names []string
	for _, b := range k.Blocks {
		names = append(names, b.Name)
	}
	if k.pairs > 0 {
		return kernel.Fourier(x, k.group, kernel.Matern32, k.pairs, k.seed, names...)
	}
	return kernel.Smooth(x, k.group, kernel.Matern32, names...)
}

// Width returns the number of columns of the smooth kernel.
func (k *Kernels) Width() int { return len(k.group) }

// Terms returns all terms of the sum.
func (k *Kernels) Terms() []kernel.Kernel {
	var all []kernel.Kernel
	for _, l := range k.Linear {
		all = append(all, kernel.Named(k.Path, l.Kernel))
	}
	return append(all, kernel.Named(k.Path, k.Smooth))
}

// meanSquareLength is the mean of the squared lengths of rows.
func meanSquareLength(x *mat.Dense) float64 {
	n, _ := x.Dims()
	sum := 0.0
	for i := range n {
		for _, v := range x.RawRowView(i) {
			sum += v * v / float64(n)
		}
	}
	return sum
}
