package cli

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// nearestFlag returns the flag of a verb whose name is nearest to a word, "" if none is near.
func nearestFlag(cmd *cobra.Command, word string) string {
	type near struct {
		name string
		away int
	}
	var all []near
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if away := edits(word, f.Name); !f.Hidden && away <= max(1, len(word)/3) {
			all = append(all, near{f.Name, away})
		}
	})
	if len(all) == 0 {
		return ""
	}
	return slices.MinFunc(all, func(a, b near) int { return cmp.Or(cmp.Compare(a.away, b.away), cmp.Compare(a.name, b.name)) }).name
}

// edits is the number of letters to insert, delete, replace or exchange with a neighbour to
// make one word of another.
func edits(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replace := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			rows[i][j] = min(replace, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
