package main

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"grfgp/internal/cli"
)

// completionWait is how long the completion of names waits for a server.
const completionWait = time.Second

// completeStudies completes the name of a study, if the studies are those of a server. A
// file or a database is not opened for that: it would be held by the press of a key.
func (a *app) completeStudies(f *studyFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 || !isServer(f.place()) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		a.Talk = cli.NewTalk(io.Discard, true)
		ctx, cancel := context.WithTimeout(cmd.Context(), completionWait)
		defer cancel()
		all, err := a.openStudies(ctx, f, true)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		defer all.Close()
		list, err := all.List(ctx, true)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var names []cobra.Completion
		for _, s := range list {
			if strings.HasPrefix(s.Name, begun) {
				names = append(names, s.Name)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
