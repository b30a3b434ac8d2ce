package graphio_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"grfgp/graphio"
)

func ExampleReadGraph() {
	roads := strings.NewReader(`# downloaded today
from;to;weight
A7;B12;1,5
B12;C3;2
C3;C3;1
`)
	network, err := graphio.ReadGraph(context.Background(), graphio.Reader("roads.csv", roads), graphio.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, column := range network.Report.Columns {
		fmt.Println(column)
	}
	fmt.Println(network.Report.Ledger)
	fmt.Println(network.Graph.Len(), "nodes")
	// Output:
	// source: column 1 "from" (by name)
	// target: column 2 "to" (by name)
	// weight: column 3 "weight" (by name)
	// 5 lines = 1 header + 2 edges + 1 self loop + 1 comment
	// 3 nodes
}

// A file that can be read in two ways is a question, not a guess.
func ExampleError() {
	roads := strings.NewReader("from,to,km\nA,B,12\n")
	_, err := graphio.ReadGraph(context.Background(), graphio.Reader("roads.csv", roads), graphio.Options{})
	var e *graphio.Error
	if errors.As(err, &e) && errors.Is(err, graphio.ErrUsage) {
		fmt.Println(e.File + ": " + e.What)
	}
	// Output:
	// roads.csv: column km looks like a distance; as a weight it would make distant nodes similar
}

func ExampleReadMeasurements() {
	ctx := context.Background()
	network, err := graphio.ReadGraph(ctx, graphio.Reader("edges", strings.NewReader("a,b\nb,c\n")), graphio.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	speeds := strings.NewReader("station,speed_kmh\na,50\nc,NA\na,54\nz,1\n")
	m, err := graphio.ReadMeasurements(ctx, graphio.Reader("speeds", speeds), network.Graph, graphio.Options{Unknown: graphio.UnknownSkip})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Report.Ledger)
	fmt.Println(network.Graph.IDs().At(m.Nodes[0]), m.Values[0], m.Count[0])
	// Output:
	// 5 lines = 1 header + 1 row + 1 repeat + 1 missing value + 1 unknown id
	// a 52 2
}

// A program writes the remedies of an error in its own words; remedies that need an
// option which it does not have are left out.
func ExampleError_Text() {
	roads := graphio.Reader("roads.csv", strings.NewReader("source,target,length_km\na,b,2\nb,c,3\n"))
	_, err := graphio.ReadGraph(context.Background(), roads, graphio.Options{})
	var file *graphio.Error
	if !errors.As(err, &file) {
		return
	}
	fmt.Println(file.Code, len(file.Remedies))
	text := file.Text(graphio.Speller{And: "&", Spell: func(_ graphio.Table, s graphio.Setting) string {
		if s.Option == graphio.OptionWeights && s.Value != "similarity" {
			return "weights=" + s.Value
		}
		return ""
	}})
	fmt.Println(strings.ReplaceAll(text, "; ", ";\n"))
	// Output:
	// ambiguous 3
	// roads.csv: column length_km looks like a distance;
	// as a weight it would make distant nodes similar;
	// use it as a distance (w = mean distance / distance) with weights=distance, or treat all edges as equal with weights=ignore
}

// A table of times × nodes: every cell is a measurement with its time.
func ExampleMeasurements_Periods() {
	ctx := context.Background()
	network, err := graphio.ReadGraph(ctx, graphio.Reader("roads", strings.NewReader("from,to\na,b\nb,c\n")), graphio.Options{})
	if err != nil {
		panic(err)
	}
	speeds := strings.NewReader("month,a,b,c\n2024-01,50,61,\n2024-02,,58,70\n")
	m, err := graphio.ReadMeasurements(ctx, graphio.Reader("speeds", speeds), network.Graph, graphio.Options{Times: graphio.TimesKeep})
	if err != nil {
		panic(err)
	}
	fmt.Println(m.Report.Ledger, "with", m.Report.Cells, "values")
	periods := m.Periods(0)
	for p, name := range periods.Names {
		fmt.Println(name, m.InPeriod(periods, p).Values)
	}
	// Output:
	// 3 lines = 1 header + 2 rows with 4 values
	// 2024-01 [50 61]
	// 2024-02 [58 70]
}
