package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
)

// result is what one command line gave.
type result struct {
	code     int
	out, err string
}

// runLine runs a command line with the given standard input.
func runLine(t testing.TB, stdin string, args ...string) result {
	t.Helper()
	return runLineContext(t, context.Background(), stdin, args...)
}

func runLineContext(t testing.TB, ctx context.Context, stdin string, args ...string) result {
	t.Helper()
	var out, err bytes.Buffer
	code := Run(ctx, args, Streams{In: strings.NewReader(stdin), Out: &out, Err: &err})
	return result{code, out.String(), err.String()}
}

func TestWithoutArguments(t *testing.T) {
	t.Parallel()
	r := runLine(t, "")
	if lines := strings.Count(strings.TrimSpace(r.out), "\n") + 1; r.code != exitOK || lines > 12 || r.err != "" {
		t.Errorf("%+v: want some ten lines", r)
	}
	for _, verb := range []string{"predict", "demo"} {
		if !strings.Contains(r.out, "grfgp "+verb) {
			t.Errorf("no example of %s in\n%s", verb, r.out)
		}
	}
}

func TestUsageErrors(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"frob", `there is no command "frob"`},
		{"--frob", "unknown flag: --frob"},
		{"check --frob", "'grfgp check --help' lists the flags"},
		{"check", "no graph: give --edges FILE"},
		{"check --edges e --knn 3", "give only one"},
		{"check --knn 3", "needs --nodes FILE with coordinates"},
		{"check --generate ring:9 --edges e", "leave out --edges"},
		{"check --generate ring:x", "write it as ring:1000"},
		{"check e.csv", "did you mean --edges e.csv?"},
		{"check extra", "did you mean --edges extra?"},
		{"completion bash x", `unknown command "x"`},
		{"check --nodes n --knn -1", "--knn -1: give 1 or more"},
		{"predict --edges e --measurements m --repeats foo", "give mean, keep, last or error"},
		{"predict --edges e --measurements m --family foo", "give auto, diffusion"},
		{"predict --edges e --model m --family matern", "leave out --family"},
		{"validate --edges e --measurements m --leave-out foo", "give scattered or neighbourhoods"},
		{"validate --edges e --measurements m --folds 1", "--folds 1"},
		{"check --edges e --weights heavy", "similarity, distance or ignore"},
		{"check --edges e --column source", "give a role and a column"},
		{"check --edges e --rejects r", "needs --on-bad-row skip"},
		{"check --generate ring:9 --threads -2", "--threads -2"},
		{"check --generate ring:9 --threads 1000000", "give 1 to 1024"},
		{"predct --edges e", `there is no command "predct"; did you mean predict?`},
		{"help nope", `there is no command "nope"`},
		{"help predct", "did you mean predict?"},
		{"classify --edges e --measurements m", "classify takes --labels FILE"},
		{"predict --edges e --labels l", "classify, validate, report and suggest take --labels FILE"},
		{"predict --edges - --measurements -", "--edges - and --measurements -: only one file can come from standard input"},
		{"suggest --edges e --goal learn --allowed - --cost -", "only one file can come from standard input"},
		{"predict --edges e --model nope.mod", "--model nope.mod: there is no such file; name a file that --save-model wrote"},
		{"serve --store http://127.0.0.1:1", "is the URL of a server; serve needs a file or a database"},
		{"serve --store s.db --token-file nope", "--token-file nope: there is no such file"},
		{"study list --store 127.0.0.1:18491", "if it is a server, give --store http://127.0.0.1:18491"},
	} {
		r := runLine(t, "", strings.Fields(c.args)...)
		if r.code != exitUsage || !strings.Contains(r.err, c.want) || r.out != "" {
			t.Errorf("grfgp %s: exit %d, %q; want exit %d and %q", c.args, r.code, r.err, exitUsage, c.want)
		}
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := runLineContext(t, ctx, "", "check", "--generate", "ring:5000")
	if r.code != exitInterrupted || r.out != "" || !strings.Contains(r.err, "no file was left incomplete") {
		t.Errorf("%+v", r)
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if r := runLine(t, "", "completion", shell); r.code != exitOK || !strings.Contains(r.out, "grfgp") {
			t.Errorf("completion for %s: exit %d", shell, r.code)
		}
	}
	r := runLine(t, "", "__complete", "predict", "--family", "")
	if !strings.Contains(r.out, "diffusion\n") || !strings.Contains(r.out, "matern\n") {
		t.Errorf("--family completes to\n%s", r.out)
	}
}

// A disk that is full is no fault of the program.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	r := runLine(t, "", "pack", "--generate", "ring:9", "-o", "/dev/full")
	if r.code != exitUsage || !strings.Contains(r.err, "name another file") {
		t.Errorf("%+v", r)
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	if r := runLine(t, "", "help", "study", "ask"); r.code != exitOK || !strings.Contains(r.out, "grfgp study ask NAME") {
		t.Errorf("%+v", r)
	}
	if r := runLine(t, "", "help"); r.code != exitOK || !strings.Contains(r.out, "predict") {
		t.Errorf("%+v", r)
	}
	if r := runLine(t, "", "predict", "--help"); r.code != exitOK || strings.Contains(r.out, "0 B") {
		t.Errorf("the help shows a size of nothing:\n%s", r.out)
	}
}
