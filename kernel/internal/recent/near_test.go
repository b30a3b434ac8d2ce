package recent

import (
	"slices"
	"testing"
)

func TestWithin(t *testing.T) {
	t.Parallel()
	long := make([]int, nearRows)
	for i := range long {
		long[i] = 3 * i
	}
	with := func(at int, nodes ...int) []int { return slices.Insert(slices.Clone(long), at, nodes...) }
	for name, c := range map[string]struct {
		part, rows, others []int
		ok                 bool
	}{
		"itself":        {long, long, nil, true},
		"at the end":    {long, with(nearRows, 1, 2), []int{nearRows, nearRows + 1}, true},
		"at the start":  {long, with(0, 1), []int{0}, true},
		"between":       {long, with(7, 5, 5), []int{7, 8}, true},
		"the same node": {long, with(7, 21), []int{8}, true},
		"shorter":       {long, long[:nearRows-1], nil, false},
		"another order": {long, append([]int{long[1], long[0]}, long[2:]...), nil, false},
		"another node":  {long, append([]int{1}, long[1:]...), nil, false},
		"too many":      {long, with(0, make([]int, nearMost+1)...), nil, false},
		"short":         {long[1:], long, nil, false},
	} {
		if others, ok := Within(c.part, c.rows); ok != c.ok || ok && !slices.Equal(others, c.others) {
			t.Errorf("%s: %v, %v, want %v, %v", name, others, ok, c.others, c.ok)
		}
	}
}

func TestNear(t *testing.T) {
	t.Parallel()
	var c Cache[int]
	long := make([]int, nearRows)
	if _, _, ok := c.Near(long); ok {
		t.Error("an empty cache has something near")
	}
	c.Get(long, func([]int) int {
		if _, _, ok := c.Near(long); ok {
			t.Error("what is not computed yet is near")
		}
		return 5
	})
	c.Get([]int{1}, func([]int) int { return 6 })
	if v, others, ok := c.Near(append(long, 9)); v != 5 || !ok || !slices.Equal(others, []int{nearRows}) {
		t.Errorf("%v, %v, %v", v, others, ok)
	}
}
