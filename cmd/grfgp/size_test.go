package main

import (
	"strings"
	"testing"

	"grfgp/internal/cli"
)

// What no machine holds is refused before any of it is made.
func TestGenerateTooLarge(t *testing.T) {
	t.Parallel()
	if cli.FreeMemory() == 0 {
		t.Skip("this system does not say how much memory is free")
	}
	for _, spec := range []string{"ring:2000000000,1000", "ba:2000000000,30", "blocks:2000000000,2,60,1", "rmat:30,60000000000"} {
		if r := runLine(t, "", "check", "--generate", spec); r.code != exitTooLarge || !strings.Contains(r.err, "edges need about") {
			t.Errorf("%s: exit %d, %s", spec, r.code, r.err)
		}
	}
}
