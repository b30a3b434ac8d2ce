//go:build !mpi

package cli

import "fmt"

// join returns this process alone. It refuses to be one of several ranks, each of which
// would do all the work.
func join(program string) (*world, error) {
	if n := LaunchedRanks(); n > 1 {
		return nil, fmt.Errorf("a launcher started %d ranks, and this program was built without MPI, so each of them would do all the work: "+
			"build it with CC=mpicc go build -tags mpi ./cmd/%s, or start it alone", n, program)
	}
	return &world{}, nil
}
