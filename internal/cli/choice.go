package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Choice is a flag that takes one of a few words.
type Choice struct {
	Words []string // the first is the default
	Value string
}

// Flag registers the flag of cmd. The words are listed in the help, after its first
// clause, and completed by the shell.
func (c *Choice) Flag(cmd *cobra.Command, name, help string, words ...string) {
	*c = Choice{words, words[0]}
	cmd.Flags().Var(c, name, ChoiceHelp(help, words))
	Complete(cmd, name, words...)
}

// ChoiceHelp is "help: a, b or c; more" for the help "help; more".
func ChoiceHelp(help string, words []string) string {
	first, more, ok := strings.Cut(help, "; ")
	first += ": " + OneOf(words)
	if ok {
		first += "; " + more
	}
	return first
}

// OneOf lists words: "a, b or c".
func OneOf(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Set takes one of the words.
func (c *Choice) Set(text string) error {
	if !slices.Contains(c.Words, text) {
		return fmt.Errorf("give %s", OneOf(c.Words))
	}
	c.Value = text
	return nil
}

func (c *Choice) Type() string   { return "CHOICE" }
func (c *Choice) String() string { return c.Value }

// Chosen returns the word, "" for the default.
func (c *Choice) Chosen() string {
	if c.Value == c.Words[0] {
		return ""
	}
	return c.Value
}

// fileChoice is a Choice for all files, or for one: "edges=yes".
type fileChoice struct {
	Words []string // the first is the default
	of    map[string]string
}

// flag is that of Choice.
func (c *fileChoice) flag(cmd *cobra.Command, name, help string, words ...string) {
	*c = fileChoice{words, map[string]string{}}
	cmd.Flags().Var(c, name, ChoiceHelp(help+"; for one file as in edges="+words[1], words))
	Complete(cmd, name, words...)
}

// Set takes one of the words, with or without the name of a file.
func (c *fileChoice) Set(text string) error {
	file, value, ok := strings.Cut(text, "=")
	if !ok {
		file, value = "", text
	}
	if !slices.Contains([]string{"", "edges", "nodes", "measurements", "labels"}, file) || !slices.Contains(c.Words, value) {
		return fmt.Errorf("give %s, for all files or as in edges=%s", OneOf(c.Words), c.Words[1])
	}
	c.of[file] = value
	return nil
}

func (c *fileChoice) Type() string   { return "[FILE=]CHOICE" }
func (c *fileChoice) String() string { return "" }

// get returns the word for a file, "" for the default.
func (c *fileChoice) get(file string) string {
	value, ok := c.of[file]
	if !ok {
		value = c.of[""]
	}
	if value == c.Words[0] {
		return ""
	}
	return value
}

// fileTexts are texts for the files that a flag is mostly about, or for one: "nodes=-9999".
type fileTexts struct {
	files []string // those of a text without the name of a file
	of    map[string][]string
}

// flag registers the flag of cmd.
func (c *fileTexts) flag(cmd *cobra.Command, name, help string, files ...string) {
	*c = fileTexts{files, map[string][]string{}}
	cmd.Flags().Var(c, name, help)
}

// tableNames are the names of files before a "=".
var tableNames = []string{"edges", "nodes", "measurements", "labels"}

// Set takes a text, with or without the name of a file.
func (c *fileTexts) Set(text string) error {
	file, value, ok := strings.Cut(text, "=")
	if !ok || !slices.Contains(tableNames, file) {
		file, value = "", text
	}
	if value == "" {
		return errors.New("the text is empty")
	}
	c.of[file] = append(c.of[file], value)
	return nil
}

func (c *fileTexts) Type() string   { return "[FILE=]TEXT" }
func (c *fileTexts) String() string { return "" }

// get returns the texts for a file.
func (c *fileTexts) get(file string) []string {
	if slices.Contains(c.files, file) {
		return slices.Concat(c.of[""], c.of[file])
	}
	return c.of[file]
}

// Complete lets the shell complete a flag of cmd to one of the values.
func Complete(cmd *cobra.Command, flag string, values ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // there is no such flag
	}
}
