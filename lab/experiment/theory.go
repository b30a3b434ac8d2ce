package experiment

import (
	"context"
	"fmt"
	"math"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/sparse"
	"grfgp/walk"
)

func theory() *Experiment {
	return &Experiment{
		Name: "theory", Title: "Tests of the paper's bounds (Theorems 1 and 2, Lemma 1, appendix B)", Version: 1,
		About: "Every bound is tested as stated, with features from the paper's Algorithm 2 on Ã: independent walks with uniform steps and " +
			"halting probability 0.1. " +
			"Tables compare observed numbers with the bounds; c is Σ|f_r| (max W_ij d_i/(1−p))^r for the coefficients f of a diffusion kernel. " +
			"Graphs are rings, square grids " +
			"and graphs with hubs (preferential attachment, three edges per new node).",
		Columns: []Column{
			{"check", Key, "concentration and sparsity: Theorem 1; conditioning: Theorem 2 and Lemma 1; woodbury: appendix B"},
			{"graph", Key, "ring, grid or hubs"},
			{"nodes", Key, "N"},
			{"walks", Key, "n, walks per node"},
			{"rank", Key, "m, dimensions of the projection"},
			{"seed", Key, "seed of graph and walks"},
			{"quantity", Key, "observed quantity"},
			{"observed", Number, "observed value"},
			{"bound", Number, "the paper's bound; empty if there is none"},
			{"seconds", Cost, "seconds of a product or of a solve"},
		},
		Parts: theoryParts,
		Show:  showTheory,
	}
}

const (
	theoryHalt   = 0.1
	theoryHops   = 10
	theoryBeta   = 2
	theoryNoise  = 0.01 // σ_n²
	theoryChance = 0.05 // δ
)

// theorySettings are the settings of a part.
type theorySettings struct {
	Check  string
	Graph  string
	Nodes  int
	Walks  int
	Rank   int `json:",omitempty"`
	Runs   int `json:",omitempty"`
	Halt   float64
	Hops   int
	Beta   float64
	Noise  float64
	Chance float64
	Seed   uint64
}

func theoryParts(o Options) []Part {
	var parts []Part
	add := func(s theorySettings, work float64, run func(theorySettings, context.Context) (*Result, error)) {
		s.Halt, s.Hops, s.Beta, s.Noise, s.Chance = theoryHalt, theoryHops, theoryBeta, theoryNoise, theoryChance
		name := fmt.Sprintf("%s-%s-%d-%d", s.Check, s.Graph, s.Nodes, s.Walks)
		if s.Rank > 0 {
			name += fmt.Sprintf("-rank%d", s.Rank)
		}
		parts = append(parts, Part{Name: fmt.Sprintf("%s-seed%d", name, s.Seed), Settings: s, Work: work,
			Run: func(ctx context.Context, _ func(done, total int64)) (*Result, error) {
				return run(s, ctx)
			}})
	}
	runs, largest, rankNodes, ranks := 2000, 18, 1024, 12
	if o.Quick {
		runs, largest, rankNodes, ranks = 200, 13, 512, 10
	}
	for _, on := range []string{"grid", "hubs"} {
		for _, walks := range []int{4, 16, 64, 256, 1024, 4096} {
			add(theorySettings{Check: "concentration", Graph: on, Nodes: 900, Walks: walks, Runs: runs, Seed: o.Seed}, float64(runs*walks)/1e6,
				theorySettings.concentration)
		}
	}
	for _, bits := range []int{10, 13, 16} {
		if bits > largest {
			continue
		}
		for _, walks := range []int{1, 4, 16, 64, 256} {
			add(theorySettings{Check: "sparsity", Graph: "hubs", Nodes: 1 << bits, Walks: walks, Seed: o.Seed}, float64(walks<<bits)/1e6,
				theorySettings.sparsity)
		}
	}
	for _, on := range []string{"ring", "grid", "hubs"} {
		for bits := 8; bits <= largest; bits++ {
			for seed := range o.Repeats(1, 3) {
				add(theorySettings{Check: "conditioning", Graph: on, Nodes: 1 << bits, Walks: 100, Seed: o.Seed + uint64(seed)},
					float64(int(1)<<bits)/5e3, theorySettings.conditioning)
			}
		}
	}
	for bits := 3; bits <= ranks; bits++ {
		for seed := range o.Repeats(1, 5) {
			add(theorySettings{Check: "woodbury", Graph: "grid", Nodes: rankNodes, Walks: 100, Rank: 1 << bits, Seed: o.Seed + uint64(seed)}, 0.2+
				float64(rankNodes)*math.Exp2(float64(2*bits))/1e9, theorySettings.woodbury)
		}
	}
	return parts
}

// walked is a graph with its matrix, the coefficients of the kernel and the constant c.
type walked struct {
	graph *graph.Graph
	w     *sparse.CSR
	coeff []float64
	c     float64
}

func (s theorySettings) prepare() (*walked, error) {
	var m walked
	var err error
	switch s.Graph {
	case "ring":
		m.graph, err = graph.Ring(s.Nodes)
	case "grid":
		side := int(math.Round(math.Sqrt(float64(s.Nodes))))
		m.graph, err = graph.Grid(side, s.Nodes/side)
	default:
		m.graph, err = graph.BarabasiAlbert(s.Nodes, 3, s.Seed)
	}
	if err != nil {
		return nil, err
	}
	m.w = m.graph.Normalized(graph.NormalizedAdjacency)
	m.coeff = make([]float64, s.Hops+1)
	kernel.Diffusion{}.Coeffs(m.coeff, []float64{1, s.Beta})
	m.c = theoremConstant(m.w, m.coeff, s.Halt)
	return &m, nil
}

// theoremConstant is c = Σ |f_r| (max W_ij d_i/(1−p))^r of Theorem 1.
func theoremConstant(w *sparse.CSR, coeff []float64, halt float64) float64 {
	n, _ := w.Dims()
	grows := 0.0
	for i := range n {
		cols, vals := w.Row(i)
		for _, v := range vals {
			grows = max(grows, math.Abs(v)*float64(len(cols))/(1-halt))
		}
	}
	c := 0.0
	for r, f := range coeff {
		c += math.Abs(f) * math.Pow(grows, float64(r))
	}
	return c
}

// options returns the options of Algorithm 2.
func (s theorySettings) options() walk.Options {
	return walk.Options{Sampler: walk.Independent, Steps: walk.Uniform, Walks: s.Walks, Halt: s.Halt, MaxLen: s.Hops, Seed: s.Seed}
}

// row returns a row of results.
func (s theorySettings) row(nodes int, quantity string, observed, bound float64) Row {
	r := Row{"check": s.Check, "graph": s.Graph, "nodes": nodes, "walks": s.Walks, "seed": int(s.Seed), "quantity": quantity,
		"observed": observed, "bound": bound}
	if s.Rank > 0 {
		r["rank"] = s.Rank
	}
	return r
}
