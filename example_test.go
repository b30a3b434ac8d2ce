package grfgp_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"grfgp"
	"grfgp/gp"
	"grfgp/graphio"
)

// From two files to a value with its range: here the files are strings, and
// graphio.File takes a path instead.
func Example() {
	ctx := context.Background()
	roads := graphio.Reader("roads.csv", strings.NewReader("source,target\na,b\nb,c\nc,d\nd,e\ne,f\nf,g\n"))
	speeds := graphio.Reader("speeds.csv", strings.NewReader("node,value\na,30\nb,32\nc,35\ne,44\ng,50\n"))
	net, err := graphio.ReadGraph(ctx, roads, graphio.Options{})
	if err != nil {
		log.Fatal(err)
	}
	read, err := graphio.ReadMeasurements(ctx, speeds, net.Graph, graphio.Options{})
	if err != nil {
		log.Fatal(err)
	}
	model, err := grfgp.Fit(ctx, net.Graph, gp.Data{Nodes: read.Nodes, Y: read.Values}, grfgp.Spec{})
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predict(ctx, []int{3}) // d lies between c and e
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(net.Graph.Labels().At(3), p.Mean[0] > 35 && p.Mean[0] < 44, p.SD[0] < 10)
	// Output: d true true
}
