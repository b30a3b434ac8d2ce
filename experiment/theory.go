package experiment

import (
	"context"
	"fmt"
	"math"

	"grfgp/graph"
	"grfgp/walk"
)

// theory checks what the paper proves.
func theory() *Experiment {
	return &Experiment{
		Name: "theory", Title: "What the paper proves", Version: 1,
		About: "The bounds of Theorems 1 and 2, Lemma 1 and appendix B as inequalities: what was observed beside what is promised.",
		Columns: []Column{
			{"check", Key, "what is checked"},
			{"walks", Key, "n, walks per node"},
			{"seed", Key, "repetition"},
			{"observed", Number, "what was seen"},
			{"bound", Number, "what the paper promises"},
		},
		Cells: func(o Options) []Cell {
			var cells []Cell
			for _, n := range []int{10, 100, 1000} {
				for seed := range o.Repeats(1, 5) {
					cells = append(cells, sparsity(n, uint64(seed)+o.Seed))
				}
			}
			return cells
		},
		Show: func(_ Options, r *Results) (*Section, error) {
			t := Table{Title: "Non-zeros of a feature", Head: []string{"walks", "observed", "bound"}}
			for _, n := range r.Rows.Distinct("walks") {
				rows := r.Rows.Where("walks", n)
				t.Rows = append(t.Rows, []string{Short(n), rows.Over("observed").String(), rows.Over("bound").String()})
			}
			return &Section{Tables: []Table{t}}, nil
		},
	}
}

func sparsity(walks int, seed uint64) Cell {
	settings := struct {
		Walks int
		Seed  uint64
	}{walks, seed}
	return Cell{Name: fmt.Sprintf("sparsity-%d-seed%d", walks, seed), Settings: settings, Run: func(ctx context.Context, _ func(done, total int64)) (*Result, error) {
		g, err := graph.BarabasiAlbert(2000, 3, seed)
		if err != nil {
			return nil, err
		}
		o := walk.Options{Sampler: walk.Independent, Steps: walk.Uniform, Walks: walks, Halt: 0.1, MaxLen: walk.MaxMaxLen, Seed: seed}
		f, err := walk.Sample(ctx, g.Normalized(graph.NormalizedAdjacency), o)
		if err != nil {
			return nil, err
		}
		most := 0
		for i := range g.Len() {
			k := 0
			for range f.Row(i) {
				k++
			}
			most = max(most, k)
		}
		n := float64(walks)
		bound := n * math.Log(1-math.Pow(1-0.05, 1/n)) / math.Log(1-0.1)
		return &Result{Rows: []Row{{"check": "sparsity", "walks": walks, "seed": int(seed), "observed": most, "bound": bound}}}, nil
	}}
}
