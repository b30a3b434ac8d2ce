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
		{"features --frob", "'grfgp features --help' lists the flags"},
		{"features", "no graph: give --edges FILE"},
		{"features --edges e --knn 3", "give only one"},
		{"features --knn 3", "needs --nodes FILE with coordinates"},
		{"features --generate ring:9 --edges e", "leave out --edges"},
		{"features --generate ring:x", "write it as ring:1000"},
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
		{"features e.csv", "did you mean --edges e.csv?"},
		{"check extra", "did you mean --edges extra?"},
		{"completion bash x", `unknown command "x"`},
		{"features --nodes n --knn -1", "--knn -1: give 1 or more"},
		{"predict --edges e --measurements m --repeats foo", "give mean, keep, last or error"},
		{"predict --edges e --measurements m --family foo", "give auto, diffusion"},
		{"predict --edges e --model m --family matern", "leave out --family"},
		{"validate --edges e --measurements m --leave-out foo", "give scattered or neighbourhoods"},
		{"validate --edges e --measurements m --folds 1", "--folds 1"},
		{"features --edges e --weights heavy", "similarity, distance or ignore"},
		{"features --edges e --column source", "give a role and a column"},
		{"features --edges e --rejects r", "needs --on-bad-row skip"},
		{"features --generate ring:9 --threads -2", "--threads -2"},
		{"features --generate ring:9 --threads 1000000", "give 1 to 1024"},
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
		{"bench --largest 15", "--largest 15: give 16 to 28"},
		{"bench --largest 29", "--largest 29: give 16 to 28"},
		{"bench nothing", `there is no part "nothing"`},
	} {
		r := runLine(t, "", strings.Fields(c.args)...)
		if r.code != exitUsage || !strings.Contains(r.err, c.want) || r.out != "" {
			t.Errorf("grfgp %s: exit %d, %q; want exit %d and %q", c.args, r.code, r.err, exitUsage, c.want)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := runLineContext(t, ctx, "", "features", "--generate", "ring:5000")
	if r.code != exitInterrupted || r.out != "" || !strings.Contains(r.err, "no file was left incomplete") {
		t.Errorf("%+v", r)
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if r := runLine(t, "", "completion", shell); r.code != exitOK || !strings.Contains(r.out, "grfgp") {
			t.Errorf("completion for %s: exit %d", shell, r.code)
		}
	}
	r := runLine(t, "", "__complete", "features", "--sampler", "")
	if !strings.Contains(r.out, "repelling\n") || !strings.Contains(r.out, "ad-hoc\n") {
		t.Errorf("--sampler completes to\n%s", r.out)
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]size{
		"1": 1, "10B": 10, "1k": 1 << 10, "1.5K": 1536, "2M": 2 << 20, "2MB": 2 << 20, "2 MiB": 2 << 20, "8GiB": 8 << 30, "1T": 1 << 40,
	} {
		var s size
		if err := s.Set(text); err != nil || s != want {
			t.Errorf("%q is %d, %v; want %d", text, s, err, want)
		}
	}
	for _, text := range []string{"", "G", "-1", "0", "1X", "1MG", "nan", "inf", "1e300T"} {
		var s size
		if err := s.Set(text); err == nil {
			t.Errorf("%q was read as %d", text, s)
		}
	}
	for s, want := range map[size]string{0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 5 << 30: "5 GiB", 123456789: "118 MiB"} {
		if got := s.String(); got != want {
			t.Errorf("%d is shown as %q, want %q", int64(s), got, want)
		}
	}
}

// A disk that is full is no fault of the program.
func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	r := runLine(t, "", "features", "--generate", "ring:9", "-o", "/dev/full")
	if r.code != exitUsage || !strings.Contains(r.err, "name another file") {
		t.Errorf("%+v", r)
	}
}

func TestHelp(t *testing.T) {
	if r := runLine(t, "", "help", "study", "ask"); r.code != exitOK || !strings.Contains(r.out, "grfgp study ask NAME") {
		t.Errorf("%+v", r)
	}
	if r := runLine(t, "", "help"); r.code != exitOK || !strings.Contains(r.out, "predict") {
		t.Errorf("%+v", r)
	}
	if r := runLine(t, "", "features", "--help"); r.code != exitOK || strings.Contains(r.out, "0 B") {
		t.Errorf("the help shows a size of nothing:\n%s", r.out)
	}
}
