//go:build mpi

package main

import (
	"os"
	"runtime"

	"grfgp/internal/mpi"
	"grfgp/internal/ranks"
)

// join joins the ranks that a launcher started, if one did.
func join() (*world, error) {
	_, pmix := os.LookupEnv("PMIX_RANK")
	if launchedRanks() <= 1 && !pmix {
		return &world{}, nil
	}
	all, err := mpi.Start()
	if err != nil {
		return nil, err
	}
	shareProcessors()
	return &world{ranks.New(all), all.Finish, all.Abort}, nil
}

// shareProcessors gives the ranks of one machine equal shares of its processors.
func shareProcessors() {
	if n := ranksHere(); n > 1 {
		runtime.GOMAXPROCS(max(1, runtime.NumCPU()/n))
	}
}
