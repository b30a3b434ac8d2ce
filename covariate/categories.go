package covariate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// planCategory plans a column for each level of a category. Levels of few nodes, and
// those beyond the most common ones, are pooled as "other". Two levels need one column.
func planCategory(p *plan, c Column, most int) {
	n := len(c.Codes)
	counts := make([]int, len(c.Levels)+1)
	for _, k := range c.Codes {
		counts[k]++
	}
	keep, pooled := chooseLevels(c, counts, n, most)
	rest := 0
	for _, k := range pooled {
		rest += counts[k]
	}
	names := make([]string, 0, len(keep)+1)
	of := make([]uint32, len(c.Levels)+1) // code → 1 + number of a name
	sizes := make([]int, 0, len(keep)+1)
	for _, k := range keep {
		names, sizes = append(names, c.Levels[k-1]), append(sizes, counts[k])
		of[k] = uint32(len(names))
	}
	if rest >= few(n) {
		other := slices.Index(names, "other")
		if other < 0 {
			other, names, sizes = len(names), append(names, "other"), append(sizes, 0)
		}
		sizes[other] += rest
		for _, k := range pooled {
			of[k] = uint32(other + 1)
		}
	}
	switch {
	case len(keep) == 0 && rest == 0:
		p.note("%s: left out: no values", c.Name)
		return
	case len(keep) == 0:
		p.note("%s: left out: no level has %s", c.Name, counted(few(n), "nodes"))
		return
	case len(names) == 1 && sizes[0] == n:
		p.note("%s: left out: all values are %s", c.Name, names[0])
		return
	}
	said := len(p.notes)
	tellLevels(p, c, names, len(pooled), rest, n)
	code := func(i int) uint32 { return of[c.Codes[i]] }
	switch len(names) {
	case 1:
	case 2:
		r := indicator(Reading{Column: c.Name, Form: Level, Of: names[1], Missing: counts[0]}, sizes[1], sizes[0]+sizes[1], math.Sqrt2)
		p.add(c.Name+"="+names[1], r, func(i int) bool { return code(i) == 2 })
	default:
		for k, name := range names {
			r := indicator(Reading{Column: c.Name, Form: Level, Of: name, Missing: counts[0]}, sizes[k], sum(sizes), 1)
			p.add(c.Name+"="+name, r, func(i int) bool { return code(i) == uint32(k+1) })
		}
	}
	for j := range p.dense { // a node without a level is an average node
		at := p.dense[j].at
		p.dense[j].at = func(i int) float64 {
			if code(i) == 0 {
				return 0
			}
			return at(i)
		}
	}
	planAbsent(p, c, counts[0])
	if len(p.dense) == 0 {
		p.notes = p.notes[:said]
		p.note("%s: left out: only one level has %s", c.Name, counted(few(n), "nodes"))
	}
}

// chooseLevels returns the codes of levels that stay, in the order of their names, and
// those of levels that are pooled.
func chooseLevels(c Column, counts []int, n, most int) (keep, pooled []int) {
	order := make([]int, 0, len(c.Levels))
	for k := range c.Levels {
		if counts[k+1] > 0 {
			order = append(order, k+1)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) })
	for _, k := range order {
		if len(keep) < most && counts[k] >= few(n) {
			keep = append(keep, k)
		} else {
			pooled = append(pooled, k)
		}
	}
	slices.Sort(keep)
	return keep, pooled
}

func tellLevels(p *plan, c Column, names []string, pooled, rest, n int) {
	what := counted(len(names), "levels")
	switch {
	case pooled > 0 && rest >= few(n):
		what += fmt.Sprintf(", one of which pools %s", counted(pooled, "rare levels"))
	case pooled > 0:
		what += fmt.Sprintf("; %s of %s taken as missing", counted(pooled, "rare levels"), counted(rest, "nodes"))
	}
	p.notes = append(p.notes, note{c.Name, c.Name + ": " + what, "levels"})
}

func sum(counts []int) int {
	total := 0
	for _, k := range counts {
		total += k
	}
	return total
}
