package kernel

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// lowRank is a covariance ZZᵀ whose factor Z has few columns.
type lowRank interface {
	Covariance
	width() int
	// factor returns Z[rows].
	factor(rows []int) *mat.Dense
	// pull adds Σ_im q_im·∂Z[rows]_im/∂θ_j to grad[j].
	pull(grad []float64, rows []int, q *mat.Dense)
}

// mostColumns is the largest number of columns of Z for an inverse by Woodbury's
// formula, whose cost grows with its square.
const mostColumns = 1024

// fewColumns reports whether the factor of c may be formed.
func fewColumns(c lowRank) bool { return c.width() > 0 && c.width() <= mostColumns }

// asLowRank returns c as a covariance of low rank, a sum of such ones included; nil
// if it is none.
func asLowRank(c Covariance) lowRank {
	var r lowRank
	switch c := c.(type) {
	case *sumCovariance:
		parts := &lowRankSum{sumCovariance: c}
		for _, t := range c.terms {
			part := asLowRank(t.Covariance)
			if part == nil {
				return nil
			}
			parts.parts = append(parts.parts, part)
		}
		r = parts
	case lowRank:
		r = c
	default:
		return nil
	}
	if !fewColumns(r) {
		return nil
	}
	return r
}

// lowRankSum is a sum of covariances of low rank: Z = [Z_1, Z_2, …].
type lowRankSum struct {
	*sumCovariance
	parts []lowRank // of the terms
}

func (s *lowRankSum) width() int {
	sum := 0
	for _, p := range s.parts {
		sum += p.width()
	}
	return sum
}

func (s *lowRankSum) factor(rows []int) *mat.Dense { return factorOf(s.parts, rows, 0) }

func (s *lowRankSum) pull(grad []float64, rows []int, q *mat.Dense) {
	at := 0
	for k, p := range s.parts {
		p.pull(s.terms[k].grad(grad), rows, q.Slice(0, len(rows), at, at+p.width()).(*mat.Dense))
		at += p.width()
	}
}

// factorOf returns the factors beside each other, and beside them a column for a
// constant unless it is 0.
func factorOf(parts []lowRank, rows []int, constant float64) *mat.Dense {
	width := 0
	for _, p := range parts {
		width += p.width()
	}
	if constant > 0 {
		width++
	}
	z := mat.NewDense(len(rows), width, nil)
	at := 0
	for _, p := range parts {
		z.Slice(0, len(rows), at, at+p.width()).(*mat.Dense).Copy(p.factor(rows))
		at += p.width()
	}
	if constant > 0 {
		for a := range rows {
			z.Set(a, at, math.Sqrt(constant))
		}
	}
	return z
}

// mostWork is the largest rows × columns² for a preconditioner: some seconds.
const mostWork = 1 << 35

// affordable reports whether a preconditioner of this size pays.
func affordable(rows, width int) bool { return rows*width*width <= mostWork }
