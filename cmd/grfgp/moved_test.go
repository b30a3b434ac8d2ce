package main

import (
	"strings"
	"testing"
)

// Commands that are now those of grfgp-lab are answered with their new names, whatever their flags; help does not list them.
func TestMovedCommands(t *testing.T) {
	for line, want := range map[string]string{
		"reproduce all --quick":         "'grfgp reproduce' is now 'grfgp-lab reproduce'",
		"bench":                         "'grfgp bench' is now 'grfgp-lab bench'",
		"bench medium --help":           "'grfgp bench' is now 'grfgp-lab bench'",
		"--seed 2 dataset fetch enron":  "'grfgp dataset' is now 'grfgp-lab dataset'",
		"features --edges roads.csv -q": "'grfgp features' is now 'grfgp-lab features'",
		"serve soak --time 1h":          "'grfgp serve soak' is now 'grfgp-lab soak'",
		"serve load http://localhost":   "'grfgp serve load' is now 'grfgp-lab load'",
	} {
		if r := runLine(t, "", strings.Fields(line)...); r.code != exitUsage || r.out != "" || !strings.Contains(r.err, want) {
			t.Errorf("%s: %+v, want %q", line, r, want)
		}
	}
	for parent, names := range inLab {
		help := runLine(t, "", strings.Fields(strings.TrimPrefix(parent+" --help", "grfgp "))...)
		for _, name := range names {
			if strings.Contains(help.out, "\n  "+name+" ") {
				t.Errorf("the help of %s lists %s", parent, name)
			}
		}
	}
}
