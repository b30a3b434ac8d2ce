package bench

import (
	"context"
	"fmt"
	"math"

	"grfgp/graph"
	"grfgp/partition"
	"grfgp/walk"
)

// Cluster is machines of one kind, each with one rank.
type Cluster struct {
	RAM     float64 `json:"ram_bytes"`
	Cores   int     `json:"cores"`
	Memory  float64 `json:"memory_bytes_per_second"`  // of all cores of a machine
	Reached float64 `json:"memory_share"`             // of it that products and sweeps reach
	Network float64 `json:"network_bytes_per_second"` // of a machine, in each direction
	Latency float64 `json:"latency_seconds"`          // of a message
	Walks   float64 `json:"entries_per_second"`       // of features that a core samples
}

// DefaultCluster is machines as clusters have them today. The share of the bandwidth is the lowest that products
// and sweeps have in docs/performance.md, rounded down, and the entries per second are those of walks on the grid of 10⁸ nodes there
// (61 entries a node in 60.6 s on 16 cores), rounded down; the rest are data sheets of common machines.
func DefaultCluster() Cluster {
	return Cluster{RAM: 512e9, Cores: 64, Memory: 300e9, Reached: 0.6, Network: 12.5e9, Latency: 5e-6, Walks: 6e6}
}

// Large is a regression on a large graph: learning by gradients from conjugate gradients, and then means and samples at all nodes.
type Large struct {
	Hops       int     `json:"hops"`
	Measured   float64 `json:"measured"`   // share of the nodes
	Epochs     int     `json:"epochs"`     // steps of learning
	Columns    int     `json:"columns"`    // right-hand sides of a step: measurements and probes
	Iterations int     `json:"iterations"` // of conjugate gradients in a step
	Samples    int     `json:"samples"`    // of the posterior
	Final      int     `json:"final"`      // iterations for means and samples
}

// DefaultLarge is the paper's scaling task: 60 % of the nodes measured, 50 epochs, 64 samples.
func DefaultLarge() Large {
	return Large{Hops: 3, Measured: 0.6, Epochs: 50, Columns: 4, Iterations: 10, Samples: 64, Final: 30}
}

// Shape is what counts of a kind of graph, from features and the plan of one that is small enough to look at.
type Shape struct {
	Name    string  `json:"name"`
	Degree  float64 `json:"degree"`  // entries of A per node
	Entries float64 `json:"entries"` // of a row of Φ
	Values  float64 `json:"values"`  // of a row of features
	// Rim of a range in the middle, as a multiple of hops·√N: the graph is flat, and a range has two sides.
	// 0: the graph is not flat, and rows reach nodes anywhere.
	Rim float64 `json:"rim"`
	// Spread is for graphs that are not flat: of n of N nodes with e entries each, the rim is
	// (N−n)·(1 − exp(−Spread·e·n/N)), as if entries fell on nodes at random.
	Spread float64 `json:"spread"`
}

// RimOf returns the rim of a machine that has 1/machines of the nodes.
func (s Shape) RimOf(nodes float64, machines, hops int) float64 {
	if machines == 1 {
		return 0
	}
	own := nodes / float64(machines)
	if s.Rim > 0 {
		sides := 2.0
		if machines == 2 {
			sides = 1
		}
		return min(nodes-own, sides/2*s.Rim*float64(hops)*math.Sqrt(nodes))
	}
	return (nodes - own) * -math.Expm1(-s.Spread*s.Entries/float64(machines))
}

// peers returns how many machines own the nodes of a rim.
func (s Shape) peers(machines int) float64 {
	if s.Rim > 0 {
		return float64(min(machines-1, 2))
	}
	return float64(machines - 1)
}

// Need is what a task needs on a kind of graph.
type Need struct {
	Shape    string  `json:"shape"`
	Nodes    float64 `json:"nodes"`
	Machines int     `json:"machines"`     // 0: no number of them is enough
	Memory   float64 `json:"memory_bytes"` // of a machine
	Rim      float64 `json:"rim"`          // nodes of others, of a machine
	Features float64 `json:"features_s"`
	Product  float64 `json:"product_s"`     // of a step of learning
	Waiting  float64 `json:"network_share"` // of the time of a product
	Training float64 `json:"training_s"`
	Predict  float64 `json:"inference_s"`
	Sent     float64 `json:"product_bytes"` // by all machines, in a product
	Total    float64 `json:"sent_bytes"`    // by all machines, in the whole task
}

// Bytes of memory, by what they are for.
const (
	allNodeBytes = 12 // per node of the whole graph, on every machine: strengths, and where rows begin
	rowBytes     = 16 // per own node: row of the graph, id, order of the input
	edgeBytes    = 12 // per entry of the graph
	// per entry of Φ at measured nodes, with its transpose: columns, local columns, values in float64 and float32, ways to the transpose
	phiBytes    = 48
	drawColumns = 16 // samples at a time
)

// memory returns the bytes of one of so many machines.
func (t Large) memory(s Shape, nodes float64, machines int) float64 {
	own := nodes / float64(machines)
	rim := s.RimOf(nodes, machines, t.Hops)
	perNode := rowBytes + edgeBytes*s.Degree + 9 + 5*s.Entries + 5*s.Values + phiBytes*s.Entries*t.Measured +
		8*6*float64(t.Columns)*t.Measured + 2*8*drawColumns + 80
	return allNodeBytes*nodes + own*perNode + rim*8*2*float64(max(t.Columns, drawColumns))
}

// product returns the seconds of a product of K and so many columns, the bytes that a machine sends in it, and the seconds
// of these.
func (t Large) product(c Cluster, s Shape, nodes float64, machines, columns int) (seconds, sent, network float64) {
	own := nodes / float64(machines)
	k := float64(columns)
	moved := own * (t.Measured*s.Entries*2*8 + (1+t.Measured)*2*4*k)
	if machines > 1 {
		sent = s.RimOf(nodes, machines, t.Hops) * (1 + t.Measured) * 4 * k
		network = sent/c.Network + 2*c.Latency*s.peers(machines)
	}
	return moved/(c.Memory*c.Reached) + network, sent, network
}

// sweeps returns the seconds of the vector work of an iteration: twelve passes over blocks of float32, and two sums over machines.
func (t Large) sweeps(c Cluster, nodes float64, machines, columns int) float64 {
	own := t.Measured * nodes / float64(machines)
	return 12*4*own*float64(columns)/(c.Memory*c.Reached) + 2*c.Latency*math.Ceil(math.Log2(float64(machines)))
}

// Needs returns what a task needs on a graph of so many nodes: the smallest number of machines whose memory it fills by no more than
// 80 %, and their time.
func (t Large) Needs(c Cluster, s Shape, nodes float64) Need {
	out := Need{Shape: s.Name, Nodes: nodes}
	const most = 1 << 16
	fits := func(m int) bool { return t.memory(s, nodes, m) <= 0.8*c.RAM }
	m := 1
	for m < most && !fits(m) {
		m++
	}
	if !fits(m) {
		return out
	}
	out.Machines, out.Memory, out.Rim = m, t.memory(s, nodes, m), s.RimOf(nodes, m, t.Hops)
	out.Features = nodes * s.Entries / (c.Walks * float64(c.Cores) * float64(m))
	product, sent, network := t.product(c, s, nodes, m, t.Columns)
	out.Product, out.Sent, out.Waiting = product, sent*float64(m), network/product
	steps := float64(t.Epochs)
	// A gradient takes about as long as two products.
	out.Training = steps * (float64(t.Iterations+2)*product + float64(t.Iterations)*t.sweeps(c, nodes, m, t.Columns))
	out.Total = steps * float64(t.Iterations+2) * out.Sent
	for left := t.Samples + 1; left > 0; left -= drawColumns { // with the mean
		k := min(left, drawColumns)
		each, sent, _ := t.product(c, s, nodes, m, k)
		out.Predict += float64(t.Final+2)*each + float64(t.Final)*t.sweeps(c, nodes, m, k)
		out.Total += float64(t.Final+2) * sent * float64(m)
	}
	return out
}

// Shapes finds the shapes of the kinds of graphs that the model knows, from generated graphs of some ten thousand nodes.
func Shapes(ctx context.Context, hops int, seed uint64) ([]Shape, error) {
	var all []Shape
	for _, kind := range []struct {
		name string
		flat bool
		make func() (*graph.Graph, error)
	}{
		{"grid", true, func() (*graph.Graph, error) { return graph.Grid(320, 320) }},
		{"roads", true, func() (*graph.Graph, error) { return graph.Roads(336, 336, seed) }},
		{"social", false, func() (*graph.Graph, error) { return graph.BarabasiAlbert(40_000, 3, seed) }},
	} {
		g, err := kind.make()
		if err != nil {
			return nil, err
		}
		s, err := shapeOf(ctx, g.Ordered(), kind.name, kind.flat, hops, seed)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind.name, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// shapeOf returns the shape of a graph.
func shapeOf(ctx context.Context, g *graph.Graph, name string, flat bool, hops int, seed uint64) (Shape, error) {
	opts := RanksRun{Hops: hops, Seed: seed}.WalkOptions()
	plan, err := partition.New(ctx, g, opts, shapeRanks)
	if err != nil {
		return Shape{}, err
	}
	w, scale, strengths := g.WalkMatrix(graph.NormalizedAdjacency)
	opts.Scale, opts.Strengths, opts.Rooted = scale, strengths, strengths != nil
	f, err := walk.Sample(ctx, w, opts)
	if err != nil {
		return Shape{}, err
	}
	n := float64(g.Len())
	size := f.Size()
	s := Shape{Name: name, Degree: float64(g.Adjacency().NNZ()) / n, Entries: float64(size.Entries) / n, Values: float64(size.Values) / n}
	_, rim, _ := plan.Largest()
	if flat {
		s.Rim = float64(rim) / (float64(hops) * math.Sqrt(n))
		return s, nil
	}
	own := n / shapeRanks
	s.Spread = -math.Log1p(-min(float64(rim)/(n-own), 1-1e-3)) * shapeRanks / s.Entries
	return s, nil
}

// shapeRanks is the number of ranks in the plans of shapes: two in the middle.
const shapeRanks = 4
