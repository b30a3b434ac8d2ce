package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"grfgp/internal/cli"
)

// compiled returns the schema of a command's answer. What it shares with answers of grfgp is defined there.
func compiled(t *testing.T, command string) *jsonschema.Schema {
	t.Helper()
	type schemas struct {
		Commands map[string][]string
		Defs     map[string]json.RawMessage `json:"$defs"`
	}
	var all schemas
	for _, file := range []string{"../grfgp/schema.json", "testdata/schema.json"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &all); err != nil { // maps are merged
			t.Fatal(err)
		}
	}
	var answers []any
	for _, name := range all.Commands[command] {
		answers = append(answers, map[string]string{"$ref": "#/$defs/" + name})
	}
	whole, err := json.Marshal(map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "anyOf": answers, "$defs": all.Defs})
	if err != nil {
		t.Fatal(err)
	}
	text, err := jsonschema.UnmarshalJSON(strings.NewReader(string(whole)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("urn:test", text); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("urn:test")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func checkAnswerOf(t *testing.T, line string, schema *jsonschema.Schema, text string) {
	t.Helper()
	answer, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Errorf("%s: %v: %q", line, err, text)
		return
	}
	if err := schema.Validate(answer); err != nil {
		t.Errorf("%s: %.3000s\n%.1000s", line, err.Error(), text)
	}
}

// Every field of an answer is described, and has the type that the schema says. TestBenchGPU is about the answer of a card.
func TestAnswersFollowTheirSchemas(t *testing.T) {
	dir := t.TempDir()
	edges := write(t, dir, "edges.csv", "source,target\na,b\nb,c\nc,a\nc,d\n")
	for _, c := range []struct{ command, flags string }{
		{"features", "--edges " + edges},
		{"features", "--edges " + edges + " --show a"},
		{"features", "--edges " + edges + " -o " + filepath.Join(dir, "features")},
		{"dataset list", ""},
	} {
		line := c.command + " " + c.flags
		r := runLine(t, "", append(strings.Fields(line), "--json", "-q")...)
		if r.code != cli.ExitOK {
			t.Fatalf("%s: %+v", line, r)
		}
		checkAnswerOf(t, line, compiled(t, c.command), r.out)
	}
}
