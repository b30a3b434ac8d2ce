package client_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"

	"grfgp/bayesopt"
	"grfgp/client"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/server"
	"grfgp/store"
	"grfgp/study"
)

// A server in memory, a study on a ring of ten nodes, and three measurements. The
// program of a laboratory would connect to a server that runs elsewhere.
func Example() {
	ctx := context.Background()
	kept, err := store.Open(ctx, store.Memory, store.Options{})
	if err != nil {
		log.Fatal(err)
	}
	s := server.New(server.Options{Store: kept})
	defer s.Close()
	web := httptest.NewServer(s)
	defer web.Close()

	c, err := client.New(web.URL, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	g, err := graph.Ring(10)
	if err != nil {
		log.Fatal(err)
	}
	packed, err := graphio.Encode(graphio.NewNetwork(g, nil, nil))
	if err != nil {
		log.Fatal(err)
	}
	settings := study.Settings{Name: "ring", Goal: bayesopt.Maximize, Seed: 1}
	if _, err := c.Create(ctx, settings, packed, "anna"); err != nil {
		log.Fatal(err)
	}
	ring, err := c.Study(ctx, "ring")
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		ask, err := ring.Ask(ctx, study.AskRequest{Count: 1, Holder: "anna"})
		if err != nil {
			log.Fatal(err)
		}
		trial := ask.Trials[0]
		measured := float64(len(trial.Node)) // of the node trial.Node
		if _, err := ring.Tell(ctx, trial.Trial, study.Outcome{Value: measured}, "anna"); err != nil {
			log.Fatal(err)
		}
	}
	shown, err := ring.Show(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d measurements, best %v\n", shown.Values, shown.Best.Value)
	// Output: 3 measurements, best 1
}
