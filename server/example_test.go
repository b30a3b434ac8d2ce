package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"grfgp/server"
	"grfgp/store"
)

// A server with a store in memory takes a graph as CSV and reports its size. A
// program would use Server.Serve or http.ListenAndServe.
func Example() {
	st, err := store.Open(context.Background(), store.Memory, store.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer st.Close()
	s := server.New(server.Options{Store: st})
	defer s.Close()
	web := httptest.NewServer(s)
	defer web.Close()

	answer, err := http.Post(web.URL+"/v1/graphs", "text/csv", strings.NewReader("source,target\na,b\nb,c\n"))
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	var g struct{ Nodes, Edges int }
	if err := json.NewDecoder(answer.Body).Decode(&g); err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.StatusCode, g.Nodes, "nodes,", g.Edges, "edges")
	// Output: 201 3 nodes, 2 edges
}
