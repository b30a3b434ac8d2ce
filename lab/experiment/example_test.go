package experiment_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"grfgp/lab/experiment"
)

// cache is a cache in memory.
type cache map[string][]byte

func (s cache) Load(name string) ([]byte, error) {
	if data, ok := s[name]; ok {
		return data, nil
	}
	return nil, fs.ErrNotExist
}

func (s cache) Save(name string, data []byte) error {
	s[name] = data
	return nil
}

// A second run of an experiment computes only the parts that are not in the cache.
func ExamplePlan() {
	e := &experiment.Experiment{
		Name: "squares", Title: "Squares", Version: 1,
		Columns: []experiment.Column{{Name: "k", Kind: experiment.Key, About: "a number"},
			{Name: "square", Kind: experiment.Number, About: "k²"}},
		Parts: func(o experiment.Options) []experiment.Part {
			var parts []experiment.Part
			for k := range o.Repeats(1, 3) {
				parts = append(parts, experiment.Part{
					Name: fmt.Sprintf("k%d", k), Settings: k,
					Run: func(context.Context, func(done, total int64)) (*experiment.Result, error) {
						fmt.Println("running", k)
						return &experiment.Result{Rows: []experiment.Row{{"k": k, "square": k * k}}}, nil
					},
				})
			}
			return parts
		},
	}
	results := cache{}
	for _, o := range []experiment.Options{{Quick: true}, {}} {
		p, err := experiment.NewPlan(e, o, results, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		r, err := p.Run(context.Background(), experiment.Watch{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.Cached, "of", len(r.Parts), "cached; mean", r.Rows.Over("square"))
		if !o.Quick {
			_ = e.WriteCSV(os.Stdout, r.Rows)
		}
	}
	// Output:
	// running 0
	// 0 of 1 cached; mean 0
	// running 1
	// running 2
	// 1 of 3 cached; mean 1.7 ± 2.1
	// k,square
	// 0,0
	// 1,1
	// 2,4
}
