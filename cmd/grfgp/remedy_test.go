package main

import (
	"strings"
	"testing"
)

// Errors of readers are told with the flags that settle them.
func TestRemediesAreFlags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ edges, want string }{
		{"u;v;w\na;b;1,5\nb;c;1.5\n", "some numbers have a point (1.5) and others a comma (1,5); write them alike, read decimal points with " +
			"--decimal edges=point, or read decimal commas with --decimal edges=comma"},
		{"u,v,km\na,b,5\n", "use it as a similarity (larger means more similar) with --weights similarity, use it as a distance (w = mean " +
			"distance / distance) with --weights distance, or treat all edges as equal with --weights ignore"},
		{"from,to,source,target\na,b,c,d\n", "say which with --column source=from --column target=to or --column source=source --column " +
			"target=target"},
		{"Person,Friend\nAnn,Bob\nCid,Dan\n", "take it as a header with --header edges=yes, or take it as the first edge with --header edges=no"},
		{"u,v\na,b\nc\n", "standard input:3:2: 1 field, but 2 are expected; complete the line, or leave such rows out with --on-bad-row skip"},
		{"a\nb\n", "name the delimiter with --delimiter edges=…, or give a file of edges"},
		{"source,target\n", "name another file, or build the edges from coordinates with --nodes FILE --knn K"},
		{"node,u_500,v_500\n1,0.5,0.25\n2,1.5,0.75\n", "name both ends with --column source=… --column target=…"},
	} {
		r := runLine(t, c.edges, "check", "--edges", "-")
		if !strings.HasSuffix(r.err, c.want+"\n") || strings.Contains(r.err, "Options.") {
			t.Errorf("%q: %s\nwant %s", c.edges, r.err, c.want)
		}
	}
}
