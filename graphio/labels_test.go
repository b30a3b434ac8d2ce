package graphio

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"grfgp/graph"
)

func readLabels(g *graph.Graph, text string, opts Options) (*ClassLabels, error) {
	return ReadLabels(context.Background(), Reader("l", strings.NewReader(text)), g, opts)
}

func TestReadLabels(t *testing.T) {
	t.Parallel()
	g := ring("a", "b", "c", "7")
	for _, c := range []struct {
		name, text string
		opts       Options
		want       string // node=class
		ledger     string
	}{
		{"plain", "node,class\nb,red\na,blue\n", Options{}, "1=red 0=blue", "3 lines = 1 header + 2 rows"},
		{"no header", "a red\nb blue\nc red\n", Options{}, "0=red 1=blue 2=red", "3 lines = 3 rows"},
		{"classes first", "class;id\nred;a\nblue;b\n", Options{}, "0=red 1=blue", "3 lines = 1 header + 2 rows"},
		{"blank", "node,class\na,x\nb,\nc,NA\n7,y\n", Options{}, "0=x 3=y", "5 lines = 1 header + 2 rows + 2 missing values"},
		{"no class on the line", "node,class,note\na,x,q\nb\n7,y,r\n", Options{BadRows: BadRowsSkip}, "0=x 3=y",
			"4 lines = 1 header + 2 rows + 1 missing value"},
		{"again", "node,class\na,x\nb,y\na,x\n", Options{}, "0=x 1=y", "4 lines = 1 header + 2 rows + 1 repeat"},
		{"again, blank", "node,class\na,\nb,y\na,x\n", Options{}, "1=y 0=x", "4 lines = 1 header + 2 rows + 1 missing value"},
		{"unknown", "node,class\nzz,x\na,x\nb,y\n", Options{Unknown: UnknownSkip}, "0=x 1=y", "4 lines = 1 header + 2 rows + 1 unknown id"},
		{"contradiction left out", "node,class\na,x\na,y\nb,y\n", Options{BadRows: BadRowsSkip}, "0=x 1=y",
			"4 lines = 1 header + 2 rows + 1 bad"},
		{"the only other column", "node,species\na,finch\nb,wren\n", Options{}, "0=finch 1=wren", "3 lines = 1 header + 2 rows"},
		{"as told", "node,name,kind,year\na,q,x,1\nb,r,y,2\n", Options{Columns: map[Role]string{RoleClass: "year"}}, "0=1 1=2",
			"3 lines = 1 header + 2 rows"},
		{"quotes", "node,class\na,\"x, y\"\nb,\"\"\"z\"\"\"\n", Options{}, `0=x, y 1="z"`, "3 lines = 1 header + 2 rows"},
		{"classes that are ids too", "place,class\na,7\nb,7\nc,a\n", Options{}, "0=7 1=7 2=a", "4 lines = 1 header + 3 rows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := readLabels(g, c.text, c.opts)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for k, node := range l.Nodes {
				got = append(got, fmt.Sprintf("%d=%s", node, l.Classes[l.Class[k]]))
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("labels %s, want %s", text, c.want)
			}
			if s := l.Report.Ledger; s.String() != c.ledger || !s.Balanced() {
				t.Errorf("ledger %s, want %s", s, c.ledger)
			}
		})
	}
}

// Classes come by value where all are numbers, and else by spelling.
func TestClassOrder(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"node,class\na,10\nb,9\nc,1.0\n7,1\n": "1 1.0 9 10",
		"node,class\na,10\nb,9\nc,x\n":        "10 9 x",
	} {
		l, err := readLabels(ring("a", "b", "c", "7"), text, Options{})
		if err != nil || strings.Join(l.Classes, " ") != want {
			t.Errorf("%q: %v, classes %q, want %s", text, err, l.Classes, want)
		}
	}
}

func TestLabelErrors(t *testing.T) {
	t.Parallel()
	many := func(class string) string {
		text := "node,class\n"
		for i := range MaxClasses + 1 {
			text += fmt.Sprintf("n%d,%s%d\n", i, class, i)
		}
		return text
	}
	const predict = "read measurements with ReadMeasurements"
	ids := []string{"1", "2", "3"}
	for i := range MaxClasses + 1 {
		ids = append(ids, fmt.Sprintf("n%d", i))
	}
	few := "node,class\n"
	for i := range 30 {
		few += fmt.Sprintf("n%d,%d\n", i, 100+i)
	}
	for _, c := range []struct {
		name, text string
		opts       Options
		kind       error
		want       string
	}{
		{"two classes", "node,class\n1,x\n2,y\n1,z\n", Options{}, ErrData,
			`l:4:3: class "z", but the node has another class on line 2; keep one of the two, or leave the later ones out with Options.BadRows = ` +
				`"skip"`},
		{"no node", "node,class\n,x\n", Options{}, ErrData,
			`l:2:1: the node is empty; correct the line, or leave such rows out with Options.BadRows = "skip"`},
		{"two columns", "node,class,label\n1,0,x\n2,1,y\n", Options{}, ErrUsage,
			`l: the class may be in column class or label; say which with Options.Columns["class"] = "class" or Options.Columns["class"] = "label"`},
		{"no column", "node\n1\n2\n", Options{}, ErrData, "l: there is no column beside the ids; give a table of two columns: node and class"},
		{"one column", "node,class\n1,x\n", Options{Columns: map[Role]string{RoleClass: "node"}}, ErrUsage,
			"l: one column has two roles; give different columns for node and class"},
		{"all missing", "node,class\n1,\n2,NA\n", Options{}, ErrData,
			`l: all its classes are missing; label some nodes, or name the column of classes with Options.Columns["class"]`},
		{"nothing", "node,class\n", Options{}, ErrData, "l: it contains no labels, only a header; name another file"},
		{"other ids", "node,class\n001,x\n002,y\n", Options{}, ErrData,
			`l: none of its ids, such as "001" and "002", is a node of the graph, which has ids such as "1", "2" and "3"; 2 of 2 such ids differ ` +
				`from those of the graph only by leading zeros ("001" here, "1" in the graph); ` + neverChanged},
		{"fractions", "node,class\n1,0.5\n2,1\n", Options{}, ErrUsage,
			`l: there are 2 different numbers in 2 labels, such as "0.5" and "1": they look like measurements, not like classes; ` + predict +
				`, or take them as classes with Options.Columns["class"] = "class"`},
		{"many numbers", few, Options{}, ErrUsage,
			`l: there are 30 different numbers in 30 labels, such as "100", "101" and "102": they look like measurements, not like classes; ` +
				predict + `, or take them as classes with Options.Columns["class"] = "class"`},
		{"too many", many("c"), Options{}, ErrData,
			`l: there are 1001 classes, such as "c0", "c1" and "c10", and at most 1000 are possible (are these names?); name the column of ` +
				`classes with Options.Columns["class"]`},
		{"too many numbers", many(""), Options{Columns: map[Role]string{RoleClass: "class"}}, ErrData,
			"l: there are 1001 different numbers, and at most 1000 classes; " + predict},
		{"unknown", "node,class\n1,x\nq,y\n", Options{}, ErrData,
			`l: 1 of 2 rows has an id that is not in the graph, such as "q"; check that both files use the same ids; ` + neverChanged +
				`, list nodes that have no edge in a node table, or leave such rows out with Options.Unknown = "skip"`},
		{"graph", "%%MatrixMarket matrix coordinate pattern general\n1 1 0\n", Options{}, ErrData,
			"l: is MatrixMarket, but a table of labels is expected; give a table of delimited text, or read it as a graph with ReadGraph"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readLabels(ring(ids...), c.text, c.opts)
			checkError(t, err, c.kind, c.want)
		})
	}
	l, err := readLabels(ring(ids...), "node,class\n1,x\n2,x\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkError(t, l.Enough(), ErrData, `l: all labels are "x": there is nothing to learn from; label a node of another class, or name `+
		`another column with Options.Columns["class"]`)
}

func TestLabelWarnings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"numbers", "node,class\n1,0\n2,1\n4,1\n", `the classes look like numbers and are taken as names, not as amounts: "0" and "1"; read ` +
			`measurements with ReadMeasurements`},
		{"single", "node,class\n1,x\n2,x\n4,y\n", `classes with one label: 1, such as "y"; little can be learned about them, and nothing if ` +
			`that label is held out`},
		{"case", "node,class\n1,red\n2,Red\n", `classes that differ only in upper and lower case: "Red" and "red"; they are taken as different`},
		{"words", "node,class\n1,x\n2,y\n4,None\n", `words that stand for a missing class: "None"; if one of them is a class, write it in ` +
			`another way`},
		{"unknown", "node,class\n1,x\n2,y\nq,x\n", `1 of 3 rows has an id that is not in the graph, such as "q"; they are left out`},
		{"counted from 0", "node,class\n0,x\n1,y\n2,x\n", "the graph has no node 0: are ids here counted from 0, and there from 1? " +
			neverChanged},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := readLabels(ring("1", "2", "4", "Ab"), c.text, Options{Unknown: UnknownSkip})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(warnings(l.Report), c.want) {
				t.Errorf("warnings %q, want %q", l.Report.Warnings, c.want)
			}
			if err := l.Enough(); err != nil {
				t.Errorf("enough to learn from: %v", err)
			}
		})
	}
}

func FuzzLabels(f *testing.F) {
	for _, text := range []string{
		"node,class\na,x\nb,y\na,z\nzz,x\n", "a red\nb blue\n1 red\n", "id;label\na;\nb;NA\n\"a\";\"x;y\"\n", "node,class\r\na,0.5\r\nb,1\r\n",
		"node,class,label\na,0,x\n", "a,1\nb,2\n1,1\n", "node\na\n", "class,node\nx,a\n,b\n",
	} {
		for _, b := range []byte{0, 1, 9, 17} {
			f.Add(text, b)
		}
	}
	g := ring("a", "b", "1", "2")
	f.Fuzz(func(t *testing.T, text string, b byte) {
		sameEverywhere(t, text, choices(b), func(text string, opts Options) string {
			var rejects bytes.Buffer
			opts.Rejects = &rejects
			l, err := readLabels(g, text, opts)
			if err != nil {
				return judged(t, nil, err)
			}
			seen := map[int]bool{}
			for k, node := range l.Nodes {
				if node < 0 || node >= g.Len() || seen[node] || l.Class[k] < 0 || l.Class[k] >= len(l.Classes) {
					t.Fatalf("label %d: node %d, class %d of %d", k, node, l.Class[k], len(l.Classes))
				}
				seen[node] = true
			}
			if slices.Contains(l.Counts(), 0) {
				t.Fatalf("a class without labels among %q", l.Classes)
			}
			return judged(t, l.Report, nil, rejects.String(), fmt.Sprint(l.Nodes, l.Class, l.Classes))
		})
	})
}
