package main

import (
	"fmt"
	"strings"
	"testing"

	"grfgp/internal/testkit"
)

// Measurements of nodes that are not in the graph stop a run if they are more than one in a hundred, and are never
// left out in silence.
func TestUnknownNodes(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	dir := t.TempDir()
	edges := write(t, dir, "adjacent.csv", "source,target\n"+strings.Join(ringRows("%05d", 200), "\n")+"\n")
	file := func(lost int) string { // as a spreadsheet writes ids, without leading zeros
		text := "node,value\n"
		for i := range 200 {
			form := "%05d,%d.5\n"
			if i < lost {
				form = "%d,%d.5\n"
			}
			text += fmt.Sprintf(form, i+1, i%7)
		}
		return write(t, dir, fmt.Sprintf("lost%d.csv", lost), text)
	}
	quick := []string{"--family", "diffusion", "--method", "dense", "--scales", "one", "--roles", "none", "--quiet"}
	for _, c := range []struct {
		lost  int
		flags []string
		code  int
		said  []string
	}{
		{0, nil, exitOK, nil},
		{2, nil, exitOK, []string{`2 of 200 rows have ids that are not in the graph, such as "1" and "2"; they are left out`,
			"only by leading zeros"}},
		{3, nil, exitBadData, []string{`3 of 200 rows have ids`, `only by leading zeros ("1" here, "00001" in the graph)`, "--on-unknown skip"}},
		{150, []string{"--on-unknown", "skip"}, exitOK, []string{"150 of 200 rows have ids"}},
	} {
		args := append([]string{"predict", "--edges", edges, "--measurements", file(c.lost)}, append(c.flags, quick...)...)
		r := runLine(t, "", args...)
		if r.code != c.code || (r.out == "") != (c.code != exitOK) {
			t.Errorf("%d lost: exit %d, want %d: %s", c.lost, r.code, c.code, r.err)
		}
		for _, text := range c.said {
			if !strings.Contains(r.err, text) {
				t.Errorf("%d lost: no %q in %q", c.lost, text, r.err)
			}
		}
		if c.said == nil && r.err != "" {
			t.Errorf("%d lost: %q", c.lost, r.err)
		}
	}
}

// ringRows are the edges of a ring of nodes 1 to n.
func ringRows(form string, n int) (rows []string) {
	for i := range n {
		rows = append(rows, fmt.Sprintf(form+","+form, i+1, (i+1)%n+1))
	}
	return rows
}
