package grfgp_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math"
	"strings"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/graphio"
)

// From two files to a prediction with its credible interval. Here the files are
// strings; graphio.File takes a path instead.
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
	data, err := gp.DataOf(read) // with noise variances, if the file has a column of sds
	if err != nil {
		log.Fatal(err)
	}
	model, err := grfgp.Fit(ctx, net.Graph, data, grfgp.Spec{})
	if err != nil {
		log.Fatal(err)
	}
	node, _ := net.Graph.IDs().Lookup([]byte("d")) // which lies between c and e
	p, err := model.Predict(ctx, []int{node})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(net.Graph.IDs().At(node), p.Mean[0] > 35 && p.Mean[0] < 44, p.SD[0] < 10)
	// Output: d true true
}

// ring is 60 places around a lake, and the temperature at every fourth.
func ring() (*graph.Graph, gp.Data) {
	g, err := graph.Ring(60)
	if err != nil {
		log.Fatal(err)
	}
	var d gp.Data
	for i := 0; i < g.Len(); i += 4 {
		d.Nodes = append(d.Nodes, i)
		d.Y = append(d.Y, 10+3*math.Sin(2*math.Pi*float64(i)/60))
	}
	return g, d
}

// A model is saved to a file; Load needs the same graph.
func ExampleLoad() {
	ctx := context.Background()
	g, d := ring()
	model, err := grfgp.Fit(ctx, g, d, grfgp.Spec{})
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := model.Save(&file); err != nil {
		log.Fatal(err)
	}
	again, err := grfgp.Load(ctx, &file, g)
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predict(ctx, []int{14})
	if err != nil {
		log.Fatal(err)
	}
	q, err := again.Predict(ctx, []int{14})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the same to the bit:", p.Mean[0] == q.Mean[0] && p.SD[0] == q.SD[0])
	// Output: the same to the bit: true
}

// One of two rings has labels. Which node should be labelled next?
func ExampleClassification_labels() {
	var e graph.Edges
	for i := range uint32(8) {
		e.U, e.V = append(e.U, i, 8+i), append(e.V, (i+1)%8, 8+(i+1)%8)
	}
	g, _, err := graph.FromEdges(graph.NumberIDs(16), e, graph.BuildOptions{})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	c, err := grfgp.Classify(ctx, g, gp.Labels{Nodes: []int{0, 1, 4, 5}, Class: []int{0, 0, 1, 1}, Classes: 2}, grfgp.Spec{}, gp.Dirichlet)
	if err != nil {
		log.Fatal(err)
	}
	picks, _, err := bayesopt.SuggestLabels(ctx, c, 1, bayesopt.LabelOptions{Allowed: []int{2, 3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("one of the ring without labels:", picks[0].Node >= 8)
	// Output: one of the ring without labels: true
}

// A Trainer keeps eigenvectors and features from one fit to the next: here the noise is
// estimated from fewer and fewer measurements of one lake.
func ExampleTrainer() {
	g, d := ring()
	t, err := grfgp.NewTrainer(g, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Scales: "one"}})
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range []int{15, 10} {
		m, err := t.Fit(context.Background(), d.Select([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}[:n]))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(m.Data().Len(), "measurements,", m.Choice().Family)
	}
	// Output:
	// 15 measurements, diffusion
	// 10 measurements, diffusion
}
