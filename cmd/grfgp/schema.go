package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grfgp/internal/cli"
)

// answerSchemas describe what commands write with --json; docs/json.md explains them.
//
//go:embed schema.json
var answerSchemas []byte

func schemaVerb(a *app) *cobra.Command {
	all := readSchemas()
	return &cobra.Command{
		Use:   "schema [COMMAND]",
		Short: "Print the JSON Schema of what a command writes with --json",
		Long: `Schema prints the JSON Schema (draft 2020-12) of the answer that a command writes
with --json, with a description of every field. Without a command, it lists the
commands whose answers have a schema.`,
		Example: `  grfgp schema predict
  grfgp schema study ask`,
		ValidArgs: all.names(),
		Args:      cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				_, err := fmt.Fprintln(a.Out, strings.Join(all.names(), "\n"))
				return err
			}
			name := strings.Join(args, " ")
			if _, ok := all.Commands[name]; !ok {
				return cli.Usagef("there is no schema of %q; 'grfgp schema' lists the commands that have one", name)
			}
			text, err := all.of(name)
			if err == nil {
				_, err = a.Out.Write(text)
			}
			return err
		},
	}
}

// schemas are the definitions of all answers.
type schemas struct {
	Schema   string                     `json:"$schema"`
	Commands map[string][]string        `json:"commands"` // definitions of the answers of a command
	Defs     map[string]json.RawMessage `json:"$defs"`
}

func readSchemas() *schemas {
	s := new(schemas)
	if err := json.Unmarshal(answerSchemas, s); err != nil {
		panic(err) // a test reads it, too
	}
	return s
}

// names returns the commands, sorted.
func (s *schemas) names() []string { return slices.Sorted(maps.Keys(s.Commands)) }

// reference is that of one definition by another.
var reference = regexp.MustCompile(`"#/\$defs/(\w+)"`)

// of returns the schema of a command's answer, with the definitions that it needs.
func (s *schemas) of(command string) ([]byte, error) {
	type ref struct {
		To string `json:"$ref"`
	}
	out := struct {
		Schema string                     `json:"$schema"`
		ID     string                     `json:"$id"`
		Title  string                     `json:"title"`
		Any    []ref                      `json:"anyOf"`
		Defs   map[string]json.RawMessage `json:"$defs"`
	}{s.Schema, "urn:grfgp:answer:" + strings.ReplaceAll(command, " ", "-"), "grfgp " + command + " --json", nil, map[string]json.RawMessage{}}
	left := slices.Clone(s.Commands[command])
	for _, name := range left {
		out.Any = append(out.Any, ref{"#/$defs/" + name})
	}
	for len(left) > 0 {
		name := left[0]
		left = left[1:]
		if _, done := out.Defs[name]; done {
			continue
		}
		out.Defs[name] = s.Defs[name]
		for _, found := range reference.FindAllSubmatch(s.Defs[name], -1) {
			left = append(left, string(found[1]))
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, text, "", "  "); err != nil {
		return nil, err
	}
	indented.WriteByte('\n')
	return indented.Bytes(), nil
}
