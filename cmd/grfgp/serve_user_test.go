//go:build unix

package main

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
)

// Another user of this machine needs a token, or --open.
func TestOtherUser(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("there is no curl on this machine")
	}
	stranger := func(url string) string {
		cmd := exec.Command(curl, "-s", "-o", "/dev/null", "-w", "%{http_code}", url+"/v1/studies")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		cmd.Dir = "/"
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v %s", err, out)
		}
		return string(out)
	}
	d := newDesk(t)
	if got := stranger(serveHere(t, "--store", d.store)); got != "401" {
		t.Errorf("another user gets %s", got)
	}
	if got := stranger(serveHere(t, "--store", d.store+"2", "--open")); got != "200" {
		t.Errorf("with --open another user gets %s", got)
	}
}
