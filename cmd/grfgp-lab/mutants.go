package main

import (
	"regexp"

	"github.com/spf13/cobra"

	"grfgp/internal/cli"
	"grfgp/lab/mutants"
)

func mutantsVerb(a *app) *cobra.Command {
	pattern := ""
	cmd := &cobra.Command{
		Use:   "mutants [--run PATTERN]",
		Short: "Check that the tests detect mistakes in formulas",
		Long: `Mutants makes one plausible mistake at a time in a formula of the sources and runs the quick
tests of its package, which must fail. It works within the repository, takes many minutes, and
does not change the sources. The exit code is 1 if a mistake was not detected.`,
		Example: "  grfgp-lab mutants\n  grfgp-lab mutants --run gp/",
		RunE: func(cmd *cobra.Command, _ []string) error {
			wanted, err := regexp.Compile(pattern)
			if err != nil {
				return cli.Usagef("--run: %w", err)
			}
			return mutants.Run(cmd.Context(), wanted, a.Out)
		},
	}
	cmd.Flags().StringVar(&pattern, "run", "", "only mutants whose file or description matches this regular `expression`")
	return cmd
}
