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

	"grfgp/internal/cli"
	"grfgp/internal/ranks"
)

// result is what one command line gave.
type result struct {
	code     int
	out, err string
}

// runLine runs a command line with the given standard input.
func runLine(t testing.TB, stdin string, args ...string) result {
	t.Helper()
	var out, err bytes.Buffer
	code := run(context.Background(), args, cli.Streams{In: strings.NewReader(stdin), Out: &out, Err: &err}, nil, nil)
	return result{code, out.String(), err.String()}
}

// runRanks runs a command line on several ranks and returns what rank 0 wrote.
func runRanks(t *testing.T, size int, args ...string) result {
	t.Helper()
	var all result
	err := ranks.Together(t.Context(), size, func(ctx context.Context, g *ranks.Group) error {
		var out, talk bytes.Buffer
		s := cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}
		if g.Rank() == 0 {
			s.Out, s.Err = &out, &talk
		}
		code := run(ctx, args, s, g, nil)
		if g.Rank() == 0 {
			all = result{code, out.String(), talk.String()}
		}
		if code != cli.ExitOK {
			return fmt.Errorf("exit code %d", code)
		}
		return nil
	})
	if err != nil && (all.code == cli.ExitOK || errors.Is(err, ranks.ErrLost)) {
		t.Fatal(err)
	}
	return all
}

// write makes a file in a folder and returns its path.
func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A command line without words lists all commands.
func TestWithoutArguments(t *testing.T) {
	r := runLine(t, "")
	for _, verb := range []string{"reproduce", "bench", "dataset", "features", "soak", "load", "mutants", "help", "completion"} {
		if r.code != cli.ExitOK || !strings.Contains(r.out, verb) {
			t.Errorf("no %s in %+v", verb, r)
		}
	}
	if lines := strings.Count(strings.TrimSpace(r.out), "\n") + 1; lines > 14 {
		t.Errorf("%d lines:\n%s", lines, r.out)
	}
}

func TestUsageErrors(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"frob", `there is no command "frob"; 'grfgp-lab --help' lists the commands`},
		{"predict --edges e", `there is no command "predict"`},
		{"load", "give URL"},
		{"load ftp://127.0.0.1", "ftp://127.0.0.1"},
		{"load http://127.0.0.1:1 --clients 0", "give 1 client or more"},
		{"load http://127.0.0.1:1 --token-file nope", "--token-file nope: there is no such file"},
		{"soak --time 1s --program grfgp", "give a time of 2s or more"},
		{"mutants --run [", "--run: "},
		{"dataset", "use grfgp-lab dataset list, fetch or verify"},
		{"features --frob", "'grfgp-lab features --help' lists the flags"},
		{"features --generate ring:9 --beta -1", "--beta -1"},
		{"features --generate ring:9 --kernel rbf", "give diffusion or matern"},
		{"features --generate ring:9 --kernel matern --nu 0", "must be positive"},
		{"features --generate ring:9 --matrix foo", "--matrix"},
		{"features --generate ring:9 --sampler foo", "give repelling, independent or ad-hoc"},
		{"features --generate ring:9 --walks 0", "--walks 0"},
		{"features --generate ring:9 --hops -1", "--hops -1"},
		{"features --generate ring:9 --halt 1 --sampler independent", "--halt 1"},
		{"features --generate ring:9 --error 0", "--error 0"},
		{"features --generate ring:9 --memory lots", "is not a size"},
		{"features --generate ring:9 --rows 5:2", "give LO:HI"},
		{"features --generate ring:9 --rows 5:20", "give LO:HI"},
		{"features --generate ring:9 --rows 0:3abc", "give LO:HI"},
		{"features --generate ring:9 --rows 3", "give LO:HI"},
		{"features --generate ring:9 --show 77", "no such node"},
		{"features --generate ring:9 --rows 0:1 --show 5", "not in --rows 0:1"},
		{"features --edges e --budget 5", "--budget needs --walks"},
		{"features --edges e --budget 5 --walks 5 --sampler independent", "--budget needs --sampler repelling"},
		{"features --edges e --halt 0.2", "--halt needs --sampler independent or ad-hoc"},
		{"features --edges e --error 0.2 --walks 5", "give only one of --error and --walks"},
		{"features --edges e --kappa 2", "--kappa needs --kernel matern"},
		{"features --edges e --nu 2", "--nu needs --kernel matern"},
		{"features --edges e --kernel matern --beta 2", "--beta needs --kernel diffusion"},
		{"features --edges e --from f.grf --walks 5", "leave out --walks"},
		{"features --edges e --hops 300", "--hops 300"},
		{"bench --largest 15", "--largest 15: give 16 to 28"},
		{"bench --largest 29", "--largest 29: give 16 to 28"},
		{"bench nothing", `there is no part "nothing"`},
	} {
		r := runLine(t, "", strings.Fields(c.args)...)
		if r.code != cli.ExitUsage || !strings.Contains(r.err, c.want) || r.out != "" {
			t.Errorf("grfgp-lab %s: exit %d, %q; want exit %d and %q", c.args, r.code, r.err, cli.ExitUsage, c.want)
		}
	}
}

func TestCompletion(t *testing.T) {
	r := runLine(t, "", "__complete", "features", "--sampler", "")
	if !strings.Contains(r.out, "repelling\n") || !strings.Contains(r.out, "ad-hoc\n") {
		t.Errorf("--sampler completes to\n%s", r.out)
	}
}

// A disk that is full is no fault of the program.
func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	r := runLine(t, "", "features", "--generate", "ring:9", "-o", "/dev/full")
	if r.code != cli.ExitUsage || !strings.Contains(r.err, "name another file") {
		t.Errorf("%+v", r)
	}
}

func TestHelp(t *testing.T) {
	if r := runLine(t, "", "help", "bench", "medium"); r.code != cli.ExitOK || !strings.Contains(r.out, "grfgp-lab bench medium") {
		t.Errorf("%+v", r)
	}
	if r := runLine(t, "", "features", "--help"); r.code != cli.ExitOK || strings.Contains(r.out, "0 B") {
		t.Errorf("the help shows a size of nothing:\n%s", r.out)
	}
}
