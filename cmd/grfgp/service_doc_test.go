package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// servicePages are the pages about the service, in the order in which their commands run: each goes on from those before.
var servicePages = []string{"service.md", "service-studies.md", "service-api.md", "service-access.md", "service-operations.md"}

// Every command of these pages runs, in order, and prints the lines that are
// shown below it.
func TestServiceDocument(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, page := range servicePages {
		text, err := os.ReadFile(filepath.Join("../../docs", page))
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	joined := filepath.Join(t.TempDir(), "service.md")
	if err := os.WriteFile(joined, []byte(all.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	ports := strings.NewReplacer(":8080", freePort(t), ":8081", freePort(t))
	r := runDocument(t, joined, t.TempDir(), "", ports, allBlocks)
	if len(r.printed) < 10 {
		t.Errorf("only %d blocks of commands", len(r.printed))
	}
	if ends := strings.Count(r.talk, "shut down"); ends != 3 {
		t.Errorf("%d servers were ended, want 3\n%s", ends, r.talk)
	}
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
