package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grfgp/internal/ranks"
	"grfgp/internal/testkit"
)

// runRanks runs a command line on several ranks and returns what rank 0 wrote.
func runRanks(t *testing.T, size int, args ...string) result {
	t.Helper()
	var all result
	err := ranks.Together(t.Context(), size, func(ctx context.Context, g *ranks.Group) error {
		var out, talk bytes.Buffer
		s := Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}
		if g.Rank() == 0 {
			s.Out, s.Err = &out, &talk
		}
		code := run(ctx, args, s, g, nil)
		if g.Rank() == 0 {
			all = result{code, out.String(), talk.String()}
		}
		if code != exitOK {
			return fmt.Errorf("exit code %d", code)
		}
		return nil
	})
	if err != nil && (all.code == exitOK || errors.Is(err, ranks.ErrLost)) {
		t.Fatal(err)
	}
	return all
}

// Answers of several ranks are those of one, byte by byte.
func TestRanksGiveTheSameAnswer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	edges, values := filepath.Join(dir, "edges.csv"), filepath.Join(dir, "values.csv")
	e, v := "from,to\n", "node,value\n"
	for i := range 120 {
		e += fmt.Sprintf("n%d,n%d\n", i, (i+1)%120)
		if i%3 == 0 {
			v += fmt.Sprintf("n%d,%.2f\n", i, 0.31*float64((i/10)%7))
		}
	}
	for name, text := range map[string]string{edges: e, values: v} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	line := []string{"validate", "--edges", edges, "--measurements", values, "--family", "diffusion", "--folds", "5", "--json"}
	want := runLine(t, "", line...)
	if want.code != exitOK {
		t.Fatalf("%+v", want)
	}
	for size := 2; size <= testkit.Size(2, 4); size++ {
		if got := runRanks(t, size, line...); got.code != exitOK || got.out != want.out {
			t.Errorf("%d ranks: %+v\nalone: %+v", size, got, want)
		}
	}
	if got := runRanks(t, 2, "predict", "--edges", "-", "--measurements", values); got.code != exitUsage ||
		!strings.Contains(got.err, "--edges -: all 2 ranks read the file") {
		t.Errorf("standard input: %+v", got)
	}
	if got := runRanks(t, 2, "check", "--edges", edges); got.code != exitUsage ||
		!strings.Contains(got.err, "check is for one process, and there are 2 ranks") {
		t.Errorf("a verb for one process: %+v", got)
	}
}
