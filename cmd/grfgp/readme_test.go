package main

import (
	"os"
	"strings"
	"testing"
)

// Every verb and flag that the README shows exists.
func TestReadmeCommands(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), " #")
		words := strings.Fields(strings.TrimPrefix(line, "go run ./cmd/"))
		if len(words) < 2 || words[0] != "grfgp" || strings.HasPrefix(line, "#") {
			continue
		}
		shown++
		help := runLine(t, "", words[1], "--help")
		if help.code != exitOK {
			t.Errorf("%s: there is no verb %s", line, words[1])
		}
		for _, w := range words[2:] {
			if strings.HasPrefix(w, "-") && !strings.Contains(help.out, w) {
				t.Errorf("%s: there is no flag %s", line, w)
			}
		}
	}
	if shown < 8 {
		t.Errorf("only %d commands found in the README", shown)
	}
}
