package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ceiling is the most that a package may have.
type ceiling struct{ lines, exported int }

func parseCeilings(text string) (map[string]ceiling, error) {
	all := map[string]ceiling{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var name string
		var c ceiling
		if _, err := fmt.Sscanf(line, "%s %d %d", &name, &c.lines, &c.exported); err != nil {
			return nil, fmt.Errorf("%s: %q: want a package, lines and exported names: %w", ceilingsFile, line, err)
		}
		all[name] = c
	}
	return all, nil
}

func format(all map[string]ceiling) string {
	var b strings.Builder
	b.WriteString("# The most lines of Go (code, comments and blank lines, without tests) and exported names of each package.\n" +
		"# Raising one is a line of a commit that says why; 'go run ./internal/size -write' lowers them.\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "%-32s %6d %5d\n", name, all[name].lines, all[name].exported)
	}
	return b.String()
}

// renew returns today's sizes as ceilings; a ceiling that is there rises only if raise is set.
func renew(old map[string]ceiling, packages map[string]size, raise bool) map[string]ceiling {
	up := func(n, step int) int { return (n + step - 1) / step * step }
	now := map[string]ceiling{}
	for name, s := range withTotals(packages) {
		c := ceiling{up(s.lines(), lineStep), up(s.exported, nameStep)}
		if was, ok := old[name]; ok && !raise {
			c = ceiling{min(c.lines, was.lines), min(c.exported, was.exported)}
		}
		now[name] = c
	}
	return now
}

// outgrown says which packages have no ceiling or are above it, and which ceilings have no package.
func outgrown(all map[string]ceiling, packages map[string]size) (problems []string) {
	const why = "make it smaller, or raise its ceiling in " + ceilingsFile + " in a commit that says why"
	sizes := withTotals(packages)
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		s := sizes[name]
		c, ok := all[name]
		if !ok {
			problems = append(problems, fmt.Sprintf("%s has no ceiling: add one by 'go run ./internal/size -write'", name))
			continue
		}
		if over := s.lines() - c.lines; over > 0 {
			problems = append(problems, fmt.Sprintf("%s has %d lines, %d above its ceiling of %d: %s", name, s.lines(), over, c.lines, why))
		}
		if over := s.exported - c.exported; over > 0 {
			problems = append(problems, fmt.Sprintf("%s has %d exported names, %d above its ceiling of %d: %s", name, s.exported, over,
				c.exported, why))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if _, ok := sizes[name]; !ok {
			problems = append(problems, fmt.Sprintf("%s has a ceiling in %s, and is no package: take it out", name, ceilingsFile))
		}
	}
	return problems
}

func withTotals(packages map[string]size) map[string]size {
	all := maps.Clone(packages)
	maps.Copy(all, totals(packages))
	return all
}
