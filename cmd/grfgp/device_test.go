package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"grfgp"
	"grfgp/internal/cli"
	"grfgp/internal/gpu"
	"grfgp/internal/ranks"
)

// withoutCard skips a test that is about machines without a graphics card.
func withoutCard(t *testing.T) {
	t.Helper()
	if c, err := grfgp.Card(); err == nil {
		t.Skipf("there is a card, %s", c.Name)
	}
}

// Every verb that computes a model can be told where; studies, whose suggestions are to be
// the same on every machine, are computed on the processor unless somebody says otherwise.
func TestDeviceFlag(t *testing.T) {
	t.Parallel()
	want := map[string]string{"predict": "auto", "classify": "auto", "validate": "auto", "suggest": "auto", "simulate": "auto",
		"report": "auto", "demo": "auto", "study": "cpu", "serve": "cpu"}
	root := rootCommand()
	for verb, value := range want {
		cmd, _, err := root.Find([]string{verb})
		if err != nil {
			t.Fatal(err)
		}
		f := cmd.Flags().Lookup("device")
		if f == nil {
			f = cmd.PersistentFlags().Lookup("device")
		}
		if f == nil || f.DefValue != value {
			t.Errorf("%s has the flag %+v, want one of the value %s", verb, f, value)
		}
	}
	for _, cmd := range root.Commands() {
		if has := cmd.Flags().Lookup("device") != nil || cmd.PersistentFlags().Lookup("device") != nil; has != (want[cmd.Name()] != "") {
			t.Errorf("%s has the flag: %v", cmd.Name(), has)
		}
		cmd.SetHelpFunc(func(*cobra.Command, []string) {})
	}
}

// Whoever asks for a card where there is none learns what is missing and what to do, with
// exit code 9, and finds no file.
func TestNoCardNoFiles(t *testing.T) {
	t.Parallel()
	withoutCard(t)
	file := folder(t, schemaFiles())
	before, err := os.ReadDir(filepath.Dir(file("edges")))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"predict --edges $edges --measurements $values -o $out.csv --save-model $out.model",
		"predict --edges $edges --measurements $values -o $out.parquet --checkpoints $out.checkpoints",
		"classify --edges $edges --labels $labels -o $out.csv",
		"validate --edges $edges --measurements $values --folds 2",
		"validate --edges $edges --labels $labels --folds 2",
		"suggest --edges $edges --measurements $values --goal learn -o $out.csv",
		"simulate --edges $edges --truth $values --goal maximize --start 3 --steps 2 --seeds 1 -o $out.csv --plot $out.svg",
		"report --edges $edges --measurements $values --folds 2 -o $out.html",
		"report --edges $edges --labels $labels --folds 2 -o $out.html",
		"demo -o $out",
		"serve --store $out.db --listen 127.0.0.1:0",
		"study create pipes --store $out.db --edges $edges --goal learn",
	} {
		args := strings.Fields(line)
		for k, word := range args {
			if name, ok := strings.CutPrefix(word, "$"); ok {
				args[k] = file(name)
			}
		}
		r := runLine(t, "", append(args, "--device", "gpu")...)
		if r.code != exitTooLarge || !strings.Contains(r.err, gpu.ErrNone.Error()) || !strings.Contains(r.err, "--device auto") || r.out != "" {
			t.Errorf("%s: %+v", line, r)
		}
	}
	after, err := os.ReadDir(filepath.Dir(file("edges")))
	if err != nil || len(after) != len(before) {
		t.Errorf("files are left behind: %v, %v", after, err)
	}
}

// Without a card, auto and cpu are the same, also of a saved model; and gpu needs a card for a
// saved one, too.
func TestDeviceOfSavedModel(t *testing.T) {
	t.Parallel()
	withoutCard(t)
	file := folder(t, schemaFiles())
	line := []string{"predict", "--edges", file("edges"), "--measurements", file("values"), "-q"}
	auto := runLine(t, "", append(line, "--save-model", file("auto.model"))...)
	cpu := runLine(t, "", append(line, "--device", "cpu", "--save-model", file("cpu.model"))...)
	one, err := os.ReadFile(file("auto.model"))
	two, err2 := os.ReadFile(file("cpu.model"))
	if auto.code != exitOK || cpu.code != exitOK || auto.out != cpu.out || errors.Join(err, err2) != nil || string(one) != string(two) {
		t.Fatalf("predictions or models differ:\n%+v\n%+v", auto, cpu)
	}
	line = []string{"predict", "--edges", file("edges"), "--model", file("cpu.model"), "-q", "--device"}
	if r := runLine(t, "", append(line, "cpu")...); r.code != exitOK || r.out != cpu.out {
		t.Errorf("loaded: %+v", r)
	}
	if r := runLine(t, "", append(line, "gpu")...); r.code != exitTooLarge || r.out != "" {
		t.Errorf("loaded for a card: %+v", r)
	}
	r := runLine(t, "", append(line[:len(line)-1], "--device", "tpu")...)
	if r.code != exitUsage || !strings.Contains(r.err, "auto, cpu or gpu") {
		t.Errorf("%+v", r)
	}
}

// Ranks have no card: asking for one is a mistake, not a lack of this machine.
func TestRanksHaveNoCard(t *testing.T) {
	t.Parallel()
	file := folder(t, schemaFiles())
	err := ranks.Together(t.Context(), 2, func(ctx context.Context, group *ranks.Group) error {
		for device, code := range map[string]int{"gpu": exitUsage} {
			var out, said strings.Builder
			got := run(ctx, []string{"predict", "--edges", file("edges"), "--measurements", file("values"), "--device", device},
				Streams{In: strings.NewReader(""), Out: &out, Err: &said}, group, nil)
			if got != code || !strings.Contains(said.String(), "ranks") {
				return fmt.Errorf("--device %s: exit code %d, %s", device, got, said.String())
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Failures of a card have the exit code 9 wherever they happen.
func TestExitCodeOfCard(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{grfgp.ErrNoCard, grfgp.ErrCardMemory, grfgp.ErrCardLost} {
		err := fmt.Errorf("%w: really", cause)
		for name, err := range map[string]error{"itself": err, "of a fit": fitError(t.Context(), err),
			"of suggesting": suggestError(t.Context(), err), "of a study": studyError(t.Context(), err)} {
			var said strings.Builder
			a := newApp(Streams{Err: &said})
			if code := a.Report(t.Context(), err); code != exitTooLarge || !strings.Contains(said.String(), "--device auto") ||
				strings.Count(said.String(), "really") != 1 {
				t.Errorf("%s: exit code %d, %s", name, code, said.String())
			}
		}
	}
}

// Failures that did not end the run are told once.
func TestTellReasonsOnce(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	a := newApp(Streams{})
	a.Talk = cli.NewTalk(&said, false)
	why := []string{"dense: cheap", "the graphics card failed; went on with the processor"}
	a.tellReasons(why[:1], nil)
	a.tellReasons(why, why[1:])
	a.tellReasons(why, why[1:])
	if strings.Count(said.String(), why[1]) != 1 {
		t.Errorf("said %q", said.String())
	}
}

func TestCheckDevice(t *testing.T) {
	t.Parallel()
	withoutCard(t)
	file := folder(t, schemaFiles())
	r := runLine(t, "", "check", "--edges", file("edges"), "-q")
	if r.code != exitOK || !strings.Contains(r.out, "\ndevice          processor only (no graphics card: ") {
		t.Errorf("%+v", r)
	}
	var answer struct {
		Device struct{ Name, Missing string }
	}
	r = runLine(t, "", "check", "--edges", file("edges"), "-q", "--json")
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil || answer.Device.Name != "" ||
		!strings.Contains(answer.Device.Missing, gpu.ErrNone.Error()) {
		t.Errorf("%v: %+v", err, r)
	}
	card := deviceFacts{Name: "NVIDIA H200", Bytes: 139 << 30, Free: 138 << 30}
	if got, want := card.words(), "NVIDIA H200, 139 GiB, 138 GiB free"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestVersionSaysGPU(t *testing.T) {
	t.Parallel()
	if r := runLine(t, "", "version"); strings.Contains(r.out, "gpu") != gpu.Built {
		t.Errorf("built for cards: %v; %+v", gpu.Built, r)
	}
}
