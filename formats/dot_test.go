package formats

import "testing"

func TestDOT(t *testing.T) {
	t.Parallel()
	for _, c := range []readCase{
		{name: "chain", text: "// x\nstrict graph \"G\" {\n rankdir=LR; node [shape=box, kind=road];\n a -- b--c [weight=2 color=\"red\"]\n a " +
			"[label=\"A \\\"1\\\"\" lat=50.5]; lone\n}\n",
			want: `edges by edge: source,target,weight / a,b,2 / b,c,2; nodes by node: id,kind,label,lat / a,road,A "1",50.5 / b,road / c,road / ` +
				`lone,road`},
		{name: "subgraphs", text: "digraph{ subgraph cluster_0 { edge [weight=3]; a->b:n } a -> {c d:p:sw} [len=1.5]; -1 -> a /* x */ # y\n}",
			want: `edges by edge: source,target,weight,len / a,b,3 / a,c,,1.5 / a,d,,1.5 / -1,a; nodes by node: id / a / b / c / d / -1; the ` +
				`graph is directed; directions are dropped`},
		{name: "quotes", text: "graph { \"a b\" -- <x <b>y</b>> [w=<1>]; \"\" }",
			want: `edges by edge: source,target,w / a b,<x <b>y</b>>,<1>; nodes by node: id / a b / <x <b>y</b>> / `},
		{name: "cut short", text: "graph {\n a -- b\n", want: `line 3: the graph does not end; was the file cut short? fetch or write it again`},
		{name: "cut in a list", text: "graph { a -- b [w=1",
			want: `line 1: a list of attributes that does not end; was the file cut short? fetch or write it again`},
		{name: "no node", text: "graph { a -- ; }", want: `line 1: ";" where a node is expected; correct the line, or write the file again`},
		{name: "two graphs", text: "graph { a -- b }\ngraph { c -- d }",
			want: `line 2: "graph" after the end of the graph; put one graph into a file`},
		{name: "open text", text: "graph { a -- \"b }", want: `line 1: a text that does not end; correct the line, or write the file again`},
	} {
		c.run(t, dotFormat, "f")
	}
}
