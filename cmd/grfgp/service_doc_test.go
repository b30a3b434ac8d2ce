package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// block is a piece of a document in a fence.
type block struct{ kind, text string }

var fences = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

// fenced returns the blocks of a document.
func fenced(t *testing.T, file string) (all []block) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range fences.FindAllStringSubmatch(string(text), -1) {
		all = append(all, block{m[1], m[2]})
	}
	return all
}

// Every command of docs/service.md runs, in order, and prints the lines that are
// shown below it.
func TestServiceDocument(t *testing.T) {
	if testing.Short() {
		t.Skip("starts some thirty processes")
	}
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s on this machine to run docs/service.md with", tool)
		}
	}
	dir := t.TempDir()
	wrapper := fmt.Sprintf("#!/bin/sh\nGRFGP_TEST_PROGRAM=1 exec %q '-test.run=^TestProgram$' -- \"$@\"\n", os.Args[0])
	if err := os.WriteFile(filepath.Join(dir, "grfgp"), []byte(wrapper), 0o700); err != nil {
		t.Fatal(err)
	}
	ports := strings.NewReplacer(":8080", freePort(t), ":8081", freePort(t), ":8082", freePort(t), "--time 5s", "--time 100ms")
	const mark = "@@@ end of block"
	script := "set -e -o pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"
	want := map[int]string{} // by number of block
	ran := 0
	for _, b := range fenced(t, "../../docs/service.md") {
		switch b.kind {
		case "sh":
			script += ports.Replace(b.text) + "\necho; echo '" + mark + "'\n"
			ran++
		case "text":
			want[ran-1] += b.text
		default:
			t.Errorf("a block of the kind %q", b.kind)
		}
	}
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"), storeEnv+"=", tokenEnv+"=", "USER=tester")
	var talk strings.Builder
	cmd.Stderr = &talk
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, talk.String())
	}
	printed := strings.Split(string(out), mark)
	if len(printed) != ran+1 || ran < 10 {
		t.Fatalf("%d blocks of %d ran\n%s\n%s", len(printed)-1, ran, out, talk.String())
	}
	for k, lines := range want {
		for line := range strings.Lines(lines) {
			if !strings.Contains(printed[k], strings.TrimSpace(line)) {
				t.Errorf("block %d prints no %q but\n%s", k+1, line, printed[k])
			}
		}
	}
	if ends := strings.Count(talk.String(), "shut down"); ends != 3 { // the fourth is told to be quiet
		t.Errorf("%d servers were ended, want 3\n%s", ends, talk.String())
	}
	t.Logf("%s", out)
}

// freePort returns a port that nobody listens on, as ":PORT".
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return ":" + port
}
