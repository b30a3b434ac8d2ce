package dataset_test

import (
	"context"
	"errors"
	"fmt"

	"grfgp/lab/dataset"
)

// Data sets are found by name. The error for a missing one says how to get it; nothing
// is downloaded without Fetch.
func ExampleStore_Graph() {
	set, err := dataset.Named("enron")
	if err != nil {
		panic(err)
	}
	fmt.Println(set.Nodes, "nodes and", set.Edges, "edges, see", set.Home)
	nowhere := dataset.Store{Roots: []string{"/no/such/folder"}}
	_, err = nowhere.Graph(context.Background(), set)
	fmt.Println(errors.Is(err, dataset.ErrMissing))
	// Output:
	// 36692 nodes and 183831 edges, see https://snap.stanford.edu/data/email-Enron.html
	// true
}
