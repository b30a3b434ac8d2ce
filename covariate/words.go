package covariate

import (
	"fmt"
	"math"

	"grfgp/sparse"
)

// words computes the matrix of words of all columns that hold words. A word in n of the
// N nodes that have words weighs log(N/n); a row has unit length. Words of one node
// only, and of all nodes, are left out.
func (s *Set) words(columns []Column) {
	var lists []Column
	for _, c := range columns {
		if c.Kind == Words {
			lists = append(lists, c)
		}
	}
	if len(lists) == 0 {
		return
	}
	having := 0
	for i := range s.Nodes {
		for _, c := range lists {
			if c.Has(i) {
				having++
				break
			}
		}
	}
	weights := make([][]float64, len(lists)) // 0 for a word that is left out
	numbers := make([][]uint32, len(lists))
	entries := 0
	for k, c := range lists {
		df := make([]int, len(c.Levels))
		for _, w := range c.Items {
			df[w]++
		}
		weights[k], numbers[k] = make([]float64, len(df)), make([]uint32, len(df))
		lone, common, commonest := 0, 0, -1
		for w, n := range df {
			switch {
			case n == 0:
				continue
			case n == 1:
				lone++
				continue
			case n == having:
				common++
				continue
			}
			weights[k][w] = math.Log(float64(having) / float64(n))
			numbers[k][w] = uint32(len(s.Vocabulary))
			entries += n
			name := c.Levels[w]
			if len(lists) > 1 {
				name = c.Name + "=" + name
			}
			s.Vocabulary = append(s.Vocabulary, name)
			if commonest < 0 || n > df[commonest] {
				commonest = w
			}
		}
		s.tellWords(c, df, lone, common, commonest)
	}
	if len(s.Vocabulary) == 0 {
		return
	}
	rowPtr := make([]int, s.Nodes+1)
	cols, vals := make([]uint32, 0, entries), make([]float64, 0, entries)
	for i := range s.Nodes {
		from, squares := len(cols), 0.0
		for k, c := range lists {
			for _, w := range c.Items[c.Start[i]:c.Start[i+1]] {
				if v := weights[k][w]; v > 0 {
					cols, vals = append(cols, numbers[k][w]), append(vals, v)
					squares += v * v
				}
			}
		}
		length := math.Sqrt(squares)
		for p := from; p < len(vals); p++ {
			vals[p] /= length
		}
		rowPtr[i+1] = len(cols)
	}
	m, err := sparse.NewCSR(s.Nodes, len(s.Vocabulary), rowPtr, cols, vals)
	if err != nil {
		panic("covariate: " + err.Error()) // weights are finite, and the columns were checked
	}
	s.Words = m
}

// tellWords adds the note about a column of words.
func (s *Set) tellWords(c Column, df []int, lone, common, commonest int) {
	used := 0
	for _, n := range df {
		if n > 0 {
			used++
		}
	}
	if used == 0 {
		s.Notes = append(s.Notes, c.Name+": left out: no values")
		return
	}
	note := fmt.Sprintf("%s: %s, weighted by how rare they are", c.Name, counted(used, "words"))
	if lone > 0 {
		note += fmt.Sprintf("; %s in one node only left out", grouped(lone))
	}
	if common > 0 {
		note += fmt.Sprintf("; %s in all nodes left out", grouped(common))
	}
	if commonest >= 0 {
		note += fmt.Sprintf("; %q is in %s nodes", c.Levels[commonest], grouped(df[commonest]))
	}
	if missing := c.Missing(); missing > 0 {
		note += fmt.Sprintf("; %s of %s nodes have no words", grouped(missing), grouped(s.Nodes))
	}
	s.Notes = append(s.Notes, note)
}
