package store_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/store"
	"grfgp/study"
)

// A store keeps a graph and the events of a study on it.
func ExampleOpen() {
	ctx := context.Background()
	s, err := store.Open(ctx, store.Memory, store.Options{}) // or a file name, or a postgres:// URL
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	g, err := graph.Ring(10)
	if err != nil {
		log.Fatal(err)
	}
	packed, err := graphio.Encode(graphio.NewNetwork(g, nil, nil))
	if err != nil {
		log.Fatal(err)
	}
	id, err := s.PutGraph(ctx, packed)
	if err != nil {
		log.Fatal(err)
	}
	settings := study.Settings{Name: "pressure", Graph: id}
	if _, err := study.Create(ctx, s.Log("pressure"), settings, "anna", time.Now()); err != nil {
		log.Fatal(err)
	}
	studies, err := s.Studies(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(studies[0].Name, studies[0].Events)
	// Output: pressure 1
}
