//go:build mpi

package main

import (
	"os"
	"runtime"
	"strconv"

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
	for _, name := range []string{"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"} {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 1 {
			runtime.GOMAXPROCS(max(1, runtime.NumCPU()/n))
			return
		}
	}
}
