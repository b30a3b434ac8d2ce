package storetest

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Signal sends a signal to the server and all its processes. After SIGKILL it waits until they
// are gone.
func (s *Server) Signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	first := s.processID(t)
	if sig != syscall.SIGCONT {
		syscall.Kill(first, syscall.SIGSTOP) // so that it starts no others
	}
	all := append(children(first), first)
	for _, pid := range all {
		syscall.Kill(pid, sig) // it may have ended meanwhile
	}
	for began := time.Now(); sig == syscall.SIGKILL; time.Sleep(10 * time.Millisecond) {
		left := 0
		for _, pid := range all {
			if alive(pid) {
				left++
			}
		}
		if left == 0 {
			// Where nobody waits for dead processes, their numbers stay in use, and the locks look held.
			os.Remove(filepath.Join(s.data, "postmaster.pid"))
			os.Remove(filepath.Join(s.Dir, ".s.PGSQL.5432.lock"))
			return
		}
		if time.Since(began) > 30*time.Second {
			t.Fatalf("%d processes of the database are not gone", left)
		}
	}
}

func (s *Server) processID(t testing.TB) int {
	t.Helper()
	file, err := os.Open(filepath.Join(s.data, "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	line := bufio.NewScanner(file)
	line.Scan()
	pid, err := strconv.Atoi(line.Text())
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// children returns the processes that a process has started.
func children(of int) (all []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if fields := stat(dir); len(fields) > 1 && fields[1] == fmt.Sprint(of) {
			if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
				all = append(all, pid)
			}
		}
	}
	return all
}

// alive reports whether a process runs: it is neither gone nor dead and not yet waited for.
func alive(pid int) bool {
	fields := stat(fmt.Sprint("/proc/", pid))
	return len(fields) > 1 && fields[0] != "Z" && fields[0] != "X"
}

// stat returns the state of a process, its parent, and so on.
func stat(dir string) []string {
	text, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return nil
	}
	_, after, _ := strings.Cut(string(text), ") ")
	return strings.Fields(after)
}
