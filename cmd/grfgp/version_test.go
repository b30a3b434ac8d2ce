package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"grfgp/internal/version"
)

// One file is the source of all that is said about the version.
func TestVersion(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../internal/version/version.txt")
	if err != nil {
		t.Fatal(err)
	}
	number := strings.TrimSpace(string(source))
	for _, args := range [][]string{{"version"}, {"--version"}} {
		if r := runLine(t, "", args...); r.code != exitOK || !strings.HasPrefix(r.out, "grfgp "+number) || strings.Count(r.out, "\n") != 1 {
			t.Errorf("%v: %+v", args, r)
		}
	}
	var answer struct {
		Version int
		Release string
		Go      string
	}
	r := runLine(t, "", "version", "--json")
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil || answer.Version != 1 || answer.Release != number || answer.Go == "" {
		t.Errorf("%v: %+v", err, r)
	}
	if programName() != "grfgp "+version.Current().String() {
		t.Errorf("reports are made by %q", programName())
	}
}
