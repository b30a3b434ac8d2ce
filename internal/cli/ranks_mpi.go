//go:build mpi

package cli

import (
	"context"
	"hash/fnv"
	"os"
	"runtime"
	"strings"

	"grfgp/internal/mpi"
	"grfgp/internal/ranks"
)

// join joins the ranks that a launcher started, if one did.
func join(string) (*world, error) {
	_, pmix := os.LookupEnv("PMIX_RANK")
	if LaunchedRanks() <= 1 && !pmix {
		return &world{}, nil
	}
	all, err := mpi.Start()
	if err != nil {
		return nil, err
	}
	w := &world{ranks.New(all), all.Finish, all.Abort}
	return w, shareProcessors(w.group)
}

// shareProcessors divides processors among the ranks that may run on the same ones: all
// ranks of a machine, or those that the launcher has bound to the same processors.
func shareProcessors(g *ranks.Group) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	h := fnv.New64a()
	h.Write([]byte(host))
	status, _ := os.ReadFile("/proc/self/status") // not everywhere; then all ranks of a machine share
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "Cpus_allowed_list:") {
			h.Write([]byte(line))
		}
	}
	own := h.Sum64()
	all, _, err := ranks.Gather(context.Background(), g, []uint64{own})
	if err != nil {
		return err
	}
	same := 0
	for _, other := range all {
		if other == own {
			same++
		}
	}
	runtime.GOMAXPROCS(max(1, runtime.GOMAXPROCS(0)/same))
	return nil
}
