package formats

import "testing"

func TestGML(t *testing.T) {
	t.Parallel()
	for _, c := range []readCase{
		{
			name: "networkx",
			text: "graph [\n  directed 1\n  node [\n    id 0\n    label \"a &#38; &quot;b&quot;\"\n    pos 1\n    pos 2.5\n  ]\n  node [ id 1 " +
				"label \"c\" ]\n  edge [\n    source 0\n    target 1\n    weight 0.5\n  ]\n]\n",
			want: `edges by edge: source,target,weight / a & "b",c,0.5; nodes by node: label,pos / a & "b",1|2.5 / c; the graph is directed; ` +
				`directions are dropped; nodes are named by their label, which is different for each, and not by the id`,
		},
		{
			name: "labels that repeat",
			text: `Creator "x" Version 1 graph [ node [ id 7 label "a" ] node [ id 8 label "a" ] edge [ source 7 target 8 ] ]`,
			want: `edges by edge: source,target / 7,8; nodes by node: id,label / 7,a / 8,a`,
		},
		{
			name: "the id as asked", opts: Options{ID: "id"},
			text: `graph [ node [ id 7 label "a" ] node [ id 8 label "b" ] edge [ source 7 target 8 ] ]`,
			want: `edges by edge: source,target / 7,8; nodes by node: id,label / 7,a / 8,b`,
		},
		{
			name: "drawn by yEd",
			text: "# made by hand\nCreator \"yFiles\"\ngraph\n[ comment \"]\" node [ id 1 graphics [ x 1.5 y -2 w 30 fill \"#FF\" ] ] edge [ " +
				"source 1 target 1 graphics [ fill \"x\" ] ] ]",
			want: `edges by edge: source,target / 1,1; nodes by node: id,x,y / 1,1.5,-2`,
		},
		{name: "nested", text: `graph [ node [ id 1 at [ lat 2 ] ] ]`, want: `edges by edge: source,target; nodes by node: id,at.lat / 1,2`},
		{name: "cut short", text: "graph [\n node [ id 0 ]\n node [ id",
			want: `line 3: "id" has no value; was the file cut short? fetch or write it again`},
		{name: "open list", text: "graph [\n node [ id 0 ]\n",
			want: `line 1: the list that begins here does not end; was the file cut short? fetch or write it again`},
		{name: "open text", text: "graph [\n node [ label \"a ]",
			want: `line 2: a text that does not end; close the quote, or write the file again`},
		{name: "too many brackets", text: "graph [ ] ]", want: `line 1: a ] that closes nothing; correct the line, or write the file again`},
		{name: "value without key", text: "graph [ 7 ]", want: `line 1: "7 ]" where the name of an attribute is expected; correct the line, ` +
			`or write the file again`},
		{name: "unknown end", text: `graph [ node [ id 1 label "a" ] edge [ source 1 target 2 ] ]`,
			want: `edge 1: there is no node with the id "2"; add that node, or remove the edge`},
		{name: "id twice", text: `graph [ node [ id 1 label "a" ] node [ id 1 label "b" ] ]`,
			want: `the ids of nodes cannot be used: "1" occurs twice; give every node its own id`},
		{name: "no such attribute", opts: Options{ID: "code"}, text: `graph [ node [ id 1 ] ]`,
			want: `nodes have no attribute "code" that could be their id; the attributes are id`},
	} {
		c.run(t, gmlFormat, "f.gml")
	}
}
