// Command grfgp fits Gaussian processes to measurements at the nodes of a graph.
package main

import (
	"os"
	"slices"
	"time"

	"grfgp/internal/cli"
)

func main() { cli.Main("grfgp", patienceFor(os.Args), run) }

// patience is the time that an interrupted run has to end; a server has to close its
// store first.
const (
	patience       = time.Second
	serverPatience = 20 * time.Second
)

func patienceFor(args []string) time.Duration {
	if slices.Contains(args, "serve") {
		return serverPatience
	}
	return patience
}
