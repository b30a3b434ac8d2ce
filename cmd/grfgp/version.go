package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"grfgp/internal/gpu"
	"grfgp/internal/version"
)

func versionVerb(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of the program",
		Long: `Version prints the semantic version of the program, the commit that it was built
from if that is known, the version of Go, the platform, and gpu if it can use graphics
cards.`,
		Example: `  grfgp version
  grfgp version --json`,
		RunE: func(*cobra.Command, []string) error {
			b := version.Current()
			if a.JSON {
				return json.NewEncoder(a.Out).Encode(struct {
					Version int `json:"version"`
					version.Build
					GPU bool `json:"gpu"`
				}{1, b, gpu.Built})
			}
			built := ""
			if gpu.Built {
				built = ", gpu"
			}
			_, err := fmt.Fprintf(a.Out, "grfgp %s (%s, %s%s)\n", b, b.Go, b.Platform, built)
			return err
		},
	}
}
