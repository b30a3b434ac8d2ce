package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"grfgp/internal/version"
)

func versionVerb(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of the program",
		Long: `Version prints the semantic version of the program, the commit that it was built
from if that is known, the version of Go, and the platform.`,
		Example: `  grfgp version
  grfgp version --json`,
		RunE: func(*cobra.Command, []string) error {
			b := version.Current()
			if a.json {
				return json.NewEncoder(a.Out).Encode(struct {
					Version int `json:"version"`
					version.Build
				}{1, b})
			}
			_, err := fmt.Fprintf(a.Out, "grfgp %s (%s, %s)\n", b, b.Go, b.Platform)
			return err
		},
	}
}
