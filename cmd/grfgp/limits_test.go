package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grfgp"
	"grfgp/internal/testkit"
)

// hubFiles writes a star of 400 leaves, ten of them measured, and a pair of nodes
// apart.
func hubFiles(t testing.TB) (edges, measurements string) {
	t.Helper()
	var e, m strings.Builder
	e.WriteString("source,target\nx,y\n")
	m.WriteString("node,value\n")
	for i := range 400 {
		fmt.Fprintf(&e, "hub,n%d\n", i)
		if i%40 == 0 {
			fmt.Fprintf(&m, "n%d,%d\n", i, i%7)
		}
	}
	dir := t.TempDir()
	edges, measurements = filepath.Join(dir, "e.csv"), filepath.Join(dir, "m.csv")
	for path, text := range map[string]string{edges: e.String(), measurements: m.String()} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return edges, measurements
}

// Predict, validate and report say where measurements do not reach, and how far
// walks are off; exact kernels say nothing of walks.
func TestLimitsAreTold(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	edges, measurements := hubFiles(t)
	common := []string{"--edges", edges, "--measurements", measurements, "--scales", "one", "--family", "diffusion", "--values", "gaussian"}
	page := filepath.Join(t.TempDir(), "r.html")
	for _, c := range []struct {
		verb   []string
		beyond string // what of, if any is beyond reach
	}{
		{[]string{"predict"}, "2 of 403 nodes"},
		{[]string{"validate", "--folds", "2"}, ""},
		{[]string{"report", "--folds", "0", "-o", page}, "2 of 403 nodes"},
	} {
		for _, method := range []string{"grf", "dense"} {
			args := append(append(c.verb, common...), "--method", method, "--walks", "5")
			said := runLine(t, "", args...)
			if said.code != exitOK {
				t.Fatalf("%v: %+v", args, said)
			}
			text := said.out + said.err
			if c.verb[0] == "report" {
				html, err := os.ReadFile(page)
				if err != nil {
					t.Fatal(err)
				}
				text = string(html)
			}
			if got := strings.Contains(strings.ToLower(text), "random walks: kernel rows have a relative error of"); got != (method == "grf") {
				t.Errorf("%v: walks are told of: %v\n%s", args, got, said.err)
			}
			if c.beyond != "" && !strings.Contains(text, c.beyond) {
				t.Errorf("%v: nothing is said of %s beyond reach\n%s", args, c.beyond, said.err)
			}
			in := runLine(t, "", append([]string{"--json"}, args...)...)
			var answer struct {
				Limits *grfgp.Limits `json:"limits"`
			}
			if err := json.Unmarshal([]byte(in.out), &answer); err != nil || answer.Limits == nil {
				t.Fatalf("%v: %v in %.300s", args, err, in.out)
			}
			if w := answer.Limits.Walks; (w != nil) != (method == "grf") || w != nil && (w.Kernel <= 0 || w.Nodes == 0 || w.Walkers != 5) {
				t.Errorf("%v: walks are off by %+v", args, w)
			}
		}
	}
}
