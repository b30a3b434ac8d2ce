package main

import (
	"os"
	"strings"
	"testing"

	"grfgp/internal/cli"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
)

const restarted = "GRFGP_TEST_RESTART"

func init() {
	if os.Getenv(restarted) != "" {
		kernel.Register(kerneltest.Restart)
	}
}

// A family that one file registers is a kernel of features, with a flag for its reach.
func TestRegisteredFamily(t *testing.T) {
	t.Parallel()
	if !testkit.Apart(t, restarted) {
		return
	}
	if r := runLine(t, "", "features", "--generate", "ring:40", "--kernel", "restart", "--t", "3"); r.code != cli.ExitOK ||
		!strings.Contains(r.out, "t = 3") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}
