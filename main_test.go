package grfgp_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// Small models are computed in matrices that live for a moment: tests collect them less often.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
