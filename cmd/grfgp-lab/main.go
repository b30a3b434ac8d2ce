// Command grfgp-lab has what studies grfgp itself: the paper's experiments and data sets,
// benchmarks, load tests of the service, and mutation tests.
package main

import (
	"time"

	"grfgp/internal/cli"
)

// patience is the time that an interrupted run has to end.
const patience = time.Second

func main() { cli.Main("grfgp-lab", patience, run) }
