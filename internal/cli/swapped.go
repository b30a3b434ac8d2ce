package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"grfgp/graphio"
)

// swapped returns the words for an error about a file that was given under the flag of
// another: the command line with the files where they belong; "" for other errors.
func (a *App) swapped(ctx context.Context, err error) string {
	var file *graphio.Error
	if !errors.As(err, &file) || file.Looks == "" {
		return ""
	}
	args := a.words()
	given, belongs := "--"+string(file.Table), "--"+string(file.Looks)
	here, there := valueAt(args, given), valueAt(args, belongs)
	if here < 0 || there < 0 {
		return ""
	}
	mine, other := fileOf(args[here]), fileOf(args[there])
	if other == "-" || mine == other {
		return ""
	}
	if looks := graphio.LooksLike(ctx, graphio.File(other)); looks != "" && looks != file.Table {
		return ""
	}
	right := slices.Clone(args)
	right[here] = strings.TrimSuffix(args[here], mine) + other
	right[there] = strings.TrimSuffix(args[there], other) + mine
	for k, arg := range right {
		right[k] = shellWord(arg)
	}
	return fmt.Sprintf("\n%s %s and %s %s look swapped; try: %s %s", given, mine, belongs, other, a.Name, strings.Join(right, " "))
}

// valueAt returns the place of the value of a flag among the arguments, -1 without it.
func valueAt(args []string, flag string) int {
	for k, arg := range args {
		switch {
		case arg == flag && k+1 < len(args):
			return k + 1
		case strings.HasPrefix(arg, flag+"="):
			return k
		}
	}
	return -1
}

// fileOf returns the file of an argument: FILE, or --flag=FILE.
func fileOf(arg string) string {
	if strings.HasPrefix(arg, "--") {
		_, file, _ := strings.Cut(arg, "=")
		return file
	}
	return arg
}
