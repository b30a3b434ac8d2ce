package graph

import (
	"fmt"
	"math"
	"slices"

	"grfgp/sparse"
)

const rowBlock = 4096 // rows that are worked on as one

// mustCSR wraps rows that are right because those they were made from are.
func mustCSR(n int, rowPtr []int, col []uint32, val []float64) *sparse.CSR {
	m, err := sparse.NewCSR(n, n, rowPtr, col, val)
	if err != nil {
		panic("graph: rows made from a valid graph: " + err.Error())
	}
	return m
}

// rowSorter orders the entries of a row by column, marks aside, and those of
// the same column as they stand. What long rows need is kept from row to row.
type rowSorter struct {
	keys []uint64
	col  []uint32
	val  []float64
}

// sort may be given a nil val.
func (s *rowSorter) sort(col []uint32, val []float64) {
	sorted := true
	for p := 1; p < len(col) && sorted; p++ {
		sorted = col[p-1]&^reversed <= col[p]&^reversed
	}
	switch {
	case sorted:
	case len(col) <= 24:
		insertionSort(col, val)
	default:
		s.sortLong(col, val)
	}
}

func insertionSort(col []uint32, val []float64) {
	for p := 1; p < len(col); p++ {
		c, q := col[p], p
		for ; q > 0 && col[q-1]&^reversed > c&^reversed; q-- {
			col[q] = col[q-1]
		}
		col[q] = c
		if val != nil && q < p {
			w := val[p]
			copy(val[q+1:p+1], val[q:p])
			val[q] = w
		}
	}
}

// sortLong sorts keys of column and place, which no two entries share.
func (s *rowSorter) sortLong(col []uint32, val []float64) {
	s.keys = s.keys[:0]
	for p, c := range col {
		s.keys = append(s.keys, uint64(c&^reversed)<<32|uint64(p))
	}
	slices.Sort(s.keys)
	s.col = append(s.col[:0], col...)
	s.val = append(s.val[:0], val...)
	for p, key := range s.keys {
		q := uint32(key)
		col[p] = s.col[q]
		if val != nil {
			val[p] = s.val[q]
		}
	}
}

// checkStrengths says which node's weights add up to more than a float64 holds.
func checkStrengths(rowPtr []int, val []float64, ids *IDs) error {
	for i := range len(rowPtr) - 1 {
		if math.IsInf(sum(val[rowPtr[i]:rowPtr[i+1]]), 0) {
			return fmt.Errorf("%w: the weights at node %q add up to more than %g: scale them down", ErrInvalid, ids.At(i), math.MaxFloat64)
		}
	}
	return nil
}

func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}
