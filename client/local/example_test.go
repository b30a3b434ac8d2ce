package local_test

import (
	"context"
	"fmt"
	"log"

	"grfgp/bayesopt"
	"grfgp/client/local"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/store"
	"grfgp/study"
)

// A study in a store of this process: create it, ask for a node, and tell the value
// that was measured there. A file name such as "team.db" keeps the study.
func Example() {
	ctx := context.Background()
	studies, err := local.Open(ctx, store.Memory, local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer studies.Close()
	g, err := graph.Ring(10)
	if err != nil {
		log.Fatal(err)
	}
	packed, err := graphio.Encode(graphio.NewNetwork(g, nil, nil))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := studies.Create(ctx, study.Settings{Name: "ring", Goal: bayesopt.Minimize}, packed, "anna"); err != nil {
		log.Fatal(err)
	}
	ring, err := studies.Study(ctx, "ring")
	if err != nil {
		log.Fatal(err)
	}
	ask, err := ring.Ask(ctx, study.AskRequest{Count: 1, Holder: "anna"})
	if err != nil {
		log.Fatal(err)
	}
	trial, err := ring.Tell(ctx, ask.Trials[0].Trial, study.Outcome{Value: 3.1}, "anna")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(trial.State, *trial.Value)
	// Output: done 3.1
}
