package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// choice is a flag that takes one of a few words.
type choice struct {
	words []string // the first is the default
	value string
}

func newChoice(words ...string) choice { return choice{words, words[0]} }

// Set takes one of the words.
func (c *choice) Set(text string) error {
	if !slices.Contains(c.words, text) {
		return fmt.Errorf("give %s", strings.Join(c.words, ", "))
	}
	c.value = text
	return nil
}

func (c *choice) Type() string   { return "CHOICE" }
func (c *choice) String() string { return c.value }

// chosen returns the word, "" for the default.
func (c *choice) chosen() string {
	if c.value == c.words[0] {
		return ""
	}
	return c.value
}

// complete lets the shell complete a flag of cmd to one of the values.
func complete(cmd *cobra.Command, flag string, values ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // there is no such flag
	}
}
