// Package mutants is a mutation test: it makes one wrong change at a time to a formula and
// runs the tests of its package, which must fail.
//
// Sources are not modified: the go command gets an overlay. Only quick tests of the changed
// package count, because failures in other packages would be accidental.
package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Outcomes of a mutant.
const (
	killed   = "killed"
	survived = "SURVIVED"
	misfit   = "DID NOT APPLY"
	broken   = "DID NOT COMPILE"
)

// Run tries the mutants whose file or description matches, from anywhere in the repository, and
// writes a line for each to w.
func Run(ctx context.Context, wanted *regexp.Regexp, w io.Writer) error {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	root := filepath.Dir(strings.TrimSpace(string(out)))
	scratch, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)

	var chosen []mutant
	for _, m := range mutants {
		if wanted.MatchString(m.file) || wanted.MatchString(m.what) {
			chosen = append(chosen, m)
		}
	}
	if err := sound(ctx, root, chosen); err != nil {
		return err
	}
	count, began := map[string]int{}, time.Now()
	for k, m := range chosen {
		start := time.Now()
		outcome, how, err := try(ctx, root, scratch, m)
		if err != nil {
			return err
		}
		count[outcome]++
		fmt.Fprintf(w, "%3d/%d %-8s %s: %s (%s%.0f s)\n", k+1, len(chosen), outcome, m.file, m.what, how, time.Since(start).Seconds())
	}
	fmt.Fprintf(w, "\n%d mutants in %.0f min: %d killed, %d survived, %d did not apply, %d did not compile\n",
		len(chosen), time.Since(began).Minutes(), count[killed], count[survived], count[misfit], count[broken])
	if count[killed] < len(chosen) {
		return errors.New("not all were killed")
	}
	return nil
}

// sound runs the tests on the unchanged sources: if these fail, mutants tell nothing.
func sound(ctx context.Context, root string, chosen []mutant) error {
	var done []string
	for _, m := range chosen {
		if slices.Contains(done, m.dir()) {
			continue
		}
		done = append(done, m.dir())
		output, ok, err := test(ctx, root, m, "")
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("the tests of %s fail without a mutant: %s", m.dir(), output)
		}
	}
	return nil
}

// try runs the tests on one mutant.
func try(ctx context.Context, root, scratch string, m mutant) (outcome, how string, err error) {
	original := filepath.Join(root, filepath.FromSlash(m.file))
	source, err := os.ReadFile(original)
	if err != nil {
		return "", "", err
	}
	changed, err := m.apply(string(source))
	if err != nil {
		return misfit, err.Error() + "; ", nil
	}
	file, overlay := filepath.Join(scratch, filepath.Base(m.file)), filepath.Join(scratch, "overlay.json")
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		return "", "", err
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: file}})
	if err != nil {
		return "", "", err
	}
	if err := os.WriteFile(overlay, replace, 0o600); err != nil {
		return "", "", err
	}
	if output, ok, err := command(ctx, root, "build", "-overlay", overlay, m.dir()); err != nil || !ok {
		return broken, output + "; ", err
	}
	output, ok, err := test(ctx, root, m, overlay)
	if err != nil {
		return "", "", err
	}
	if ok {
		return survived, "", nil
	}
	return killed, firstFailure(output) + ", ", nil
}

// test runs the tests that a mutant must fail.
func test(ctx context.Context, root string, m mutant, overlay string) (output string, ok bool, err error) {
	args := []string{"test", "-failfast", "-count=1", "-vet=off", "-timeout", "10m"}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	if tests := m.tests(); tests != "" {
		args = append(args, "-run", tests)
	}
	return command(ctx, root, append(args, m.dir())...)
}

// command runs the go command, and reports whether it succeeded.
func command(ctx context.Context, root string, args ...string) (output string, ok bool, err error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GRFGP_FULL=")
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	err = cmd.Run()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return strings.TrimSpace(both.String()), false, nil
	}
	return strings.TrimSpace(both.String()), err == nil, err
}

// firstFailure names the first test that failed.
func firstFailure(output string) string {
	if m := regexp.MustCompile(`(?m)^--- FAIL: (\S+)`).FindStringSubmatch(output); m != nil {
		return m[1]
	}
	switch {
	case strings.Contains(output, "panic: test timed out"):
		return "by time"
	case strings.Contains(output, "panic:"):
		return "by a panic"
	}
	return ""
}
