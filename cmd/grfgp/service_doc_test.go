package main

import (
	"net"
	"strings"
	"testing"
)

// Every command of docs/service.md runs, in order, and prints the lines that are
// shown below it.
func TestServiceDocument(t *testing.T) {
	ports := strings.NewReplacer(":8080", freePort(t), ":8081", freePort(t), ":8082", freePort(t), "--time 5s", "--time 100ms")
	r := runDocument(t, "../../docs/service.md", t.TempDir(), "", ports)
	if len(r.printed) < 10 {
		t.Errorf("only %d blocks of commands", len(r.printed))
	}
	if ends := strings.Count(r.talk, "shut down"); ends != 3 { // the fourth is told to be quiet
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
