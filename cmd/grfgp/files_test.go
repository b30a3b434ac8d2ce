package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// No output may replace an input or another output, and one that cannot be
// written is refused before any work is done.
func TestOutputsAreChecked(t *testing.T) {
	t.Parallel()
	const chain = "source,target\na,b\nb,c\nc,d\n"
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"e.csv", "m.csv"} {
		if err := os.WriteFile(at(name), []byte(chain), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(at("e.csv"), at("hard.csv")); err != nil {
		t.Skip("no links here")
	}
	if err := os.Symlink(at("e.csv"), at("soft.csv")); err != nil {
		t.Skip("no symbolic links here")
	}
	for _, c := range []struct{ args, want string }{
		{"pack --edges e.csv -o e.csv", "would overwrite --edges"},
		{"pack --edges e.csv -o hard.csv", "would overwrite --edges"},
		{"pack --edges e.csv -o soft.csv", "would overwrite --edges"},
		{"pack --edges soft.csv -o e.csv", "would overwrite --edges"},
		{"check --edges e.csv --on-bad-row skip --rejects e.csv", "would overwrite --edges"},
		{"pack --edges e.csv --on-bad-row skip --rejects new.csv -o new.csv", "--rejects new.csv would overwrite --out"},
		{"predict --edges e.csv --measurements m.csv -o m.csv", "would overwrite --measurements"},
		{"predict --edges e.csv --measurements m.csv --save-model e.csv", "would overwrite --edges"},
		{"pack --edges e.csv -o none/f.grf", "there is no directory"},
		{"pack --edges e.csv -o .", "is a directory"},
	} {
		args := strings.Fields(c.args)
		for i, arg := range args {
			if strings.Contains(arg, ".") {
				args[i] = at(arg)
			}
		}
		r := runLine(t, "", args...)
		if said := strings.ReplaceAll(r.err, dir+string(filepath.Separator), ""); r.code != exitUsage || !strings.Contains(said, c.want) ||
			strings.Contains(said, "reading") {
			t.Errorf("grfgp %s: exit %d, %q; want %q", c.args, r.code, said, c.want)
		}
	}
	if got, _ := os.ReadFile(at("e.csv")); string(got) != chain {
		t.Errorf("the input now holds %q", got)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 4 {
		t.Errorf("files left behind: %v", entries)
	}
}
