package main

import (
	"github.com/spf13/cobra"

	"grfgp/internal/cli"
)

// inLab are the commands of grfgp-lab that were commands of this program, by the command
// that they were below. They are answered with their new names.
var inLab = map[string][]string{
	"grfgp": {"bench", "dataset", "features", "reproduce"},
	"serve": {"load", "soak"},
}

// movedVerbs returns hidden commands below one of this program, each of which names its
// successor, whatever its arguments are.
func movedVerbs(parent string) (all []*cobra.Command) {
	for _, name := range inLab[parent] {
		all = append(all, &cobra.Command{
			Use: name, Short: "Moved to grfgp-lab", Hidden: true, DisableFlagParsing: true, Args: cobra.ArbitraryArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return cli.Usagef("'%s' is now 'grfgp-lab %s', a program of its own: go install ./cmd/grfgp-lab", cmd.CommandPath(), name)
			},
		})
	}
	return all
}
