package testkit

import (
	"os"
	"os/exec"
	"testing"
)

// Apart runs a test again in a process of its own, in which an environment variable is set, and reports whether this is
// that process: for tests that change what all tests of a process share.
func Apart(t *testing.T, variable string) bool {
	t.Helper()
	if os.Getenv(variable) != "" {
		return true
	}
	run := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	run.Env = append(os.Environ(), variable+"=1")
	if text, err := run.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	return false
}
