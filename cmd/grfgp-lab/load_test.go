package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"grfgp/internal/cli"
	"grfgp/lab/load"
)

// startServer runs 'grfgp serve' and returns its address.
func startServer(t *testing.T) string {
	t.Helper()
	cmd := exec.Command(product(t), "serve", "--quiet", "--listen", "127.0.0.1:0", "--store", filepath.Join(t.TempDir(), "s.db"))
	out, err := cmd.StdoutPipe()
	if err := errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// checkClosed checks that the two studies of a load test are closed.
func checkClosed(t *testing.T, url string) {
	t.Helper()
	list, err := exec.Command(product(t), "study", "list", "--store", url).Output()
	if err != nil || strings.Count(string(list), "closed") != 2 {
		t.Errorf("studies are left open: %v\n%s", err, list)
	}
}

// A small ring has fewer nodes than there is time for: all are asked for, and no
// more.
func TestLoad(t *testing.T) {
	url := startServer(t)
	var answer struct{ Load []load.Result }
	r := runLine(t, "", "load", url, "--nodes", "200", "--time", "1h", "--clients", "3", "--json")
	if err := json.Unmarshal([]byte(r.out), &answer); r.code != cli.ExitOK || err != nil || len(answer.Load) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	if tells, asks := answer.Load[0].Requests, answer.Load[1].Requests; tells != 200 || asks != 99 {
		t.Errorf("%d tells and %d asks, want 200 and 99", tells, asks)
	}
	checkClosed(t, url)
}

// Ratios compare ways that were measured in the same rounds.
func TestLoadRatios(t *testing.T) {
	url := startServer(t)
	var answer struct{ Ratios []load.Ratio }
	r := runLine(t, "", "load", url, "--ratios", "--rounds", "2", "--time", "50ms", "--clients", "4", "--streams", "3", "--json")
	if err := json.Unmarshal([]byte(r.out), &answer); r.code != cli.ExitOK || err != nil || len(answer.Ratios) != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	for k, way := range answer.Ratios {
		if way.Rate <= 0 || (way.Times > 0) != (k > 0) || way.Streams != []int{0, 0, 3}[k] {
			t.Errorf("%+v", way)
		}
	}
	checkClosed(t, url)
}

// A server that does not answer is no fault of the program.
func TestLoadWithoutServer(t *testing.T) {
	if r := runLine(t, "", "load", "http://127.0.0.1:1", "--time", "1s"); r.code != cli.ExitUnreachable {
		t.Errorf("%+v", r)
	}
}
