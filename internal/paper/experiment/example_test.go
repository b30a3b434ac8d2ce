package experiment_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"grfgp/internal/paper/experiment"
)

// shelf keeps cells in memory.
type shelf map[string][]byte

func (s shelf) Load(name string) ([]byte, error) {
	if data, ok := s[name]; ok {
		return data, nil
	}
	return nil, fs.ErrNotExist
}

func (s shelf) Save(name string, data []byte) error {
	s[name] = data
	return nil
}

// An experiment is a list of cells. What is on the shelf is not run again.
func ExampleRun() {
	e := &experiment.Experiment{
		Name: "squares", Title: "Squares", Version: 1,
		Columns: []experiment.Column{{Name: "k", Kind: experiment.Key, About: "a number"}, {Name: "square", Kind: experiment.Number, About: "k²"}},
		Cells: func(o experiment.Options) []experiment.Cell {
			var cells []experiment.Cell
			for k := range o.Repeats(1, 3) {
				cells = append(cells, experiment.Cell{
					Name: fmt.Sprintf("k%d", k), Settings: k,
					Run: func(context.Context, func(done, total int64)) (*experiment.Result, error) {
						fmt.Println("running", k)
						return &experiment.Result{Rows: []experiment.Row{{"k": k, "square": k * k}}}, nil
					},
				})
			}
			return cells
		},
	}
	kept := shelf{}
	for _, o := range []experiment.Options{{Quick: true}, {}} {
		r, err := experiment.Run(context.Background(), e, o, kept, experiment.Watch{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.Kept, "of", len(r.Cells), "kept; mean", r.Rows.Over("square"))
		if !o.Quick {
			_ = e.WriteCSV(os.Stdout, r.Rows)
		}
	}
	// Output:
	// running 0
	// 0 of 1 kept; mean 0
	// running 1
	// running 2
	// 1 of 3 kept; mean 1.7 ± 2.1
	// k,square
	// 0,0
	// 1,1
	// 2,4
}
