package main

import (
	"os"
	"strings"
	"testing"

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

// A family that one file registers is in the help, and is a value of --family.
func TestRegisteredFamily(t *testing.T) {
	t.Parallel()
	if !testkit.Apart(t, restarted) {
		return
	}
	if r := runLine(t, "", "predict", "--help"); !strings.Contains(r.out, "restart") {
		t.Errorf("the help does not name it:\n%s", r.out)
	}
	r := runLine(t, "node,value\n0,1\n1,2\n4,3\n7,1\n", "predict", "--generate", "ring:9", "--measurements", "-", "--family",
		"restart", "--json")
	if r.code != exitOK || !strings.Contains(r.out, `"family": "restart"`) && !strings.Contains(r.out, `"family":"restart"`) {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}
