// Package storetest tests the contract of store.Store, and starts a private
// PostgreSQL server for tests.
package storetest

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"testing"
)

// Postgres starts a PostgreSQL server for one test, on a socket in a temporary
// directory, and returns the URL of its empty database. It skips the test if
// PostgreSQL is not installed.
func Postgres(t testing.TB) string {
	t.Helper()
	return StartPostgres(t).URL
}

// Server is a PostgreSQL server of one test.
type Server struct {
	URL  string // of its empty database
	Dir  string // of its socket
	data string
	run  func(t testing.TB, name string, args ...string)
}

// StartPostgres is Postgres for tests that end the server and start it again.
func StartPostgres(t testing.TB) *Server {
	t.Helper()
	bin := postgresPrograms()
	if bin == "" {
		t.Skip("no PostgreSQL server on this machine: initdb and pg_ctl are in no /usr/lib/postgresql/*/bin and not on the path")
	}
	dir, err := os.MkdirTemp("", "grfgp-pg") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	as := unprivileged(t, dir)
	s := &Server{URL: "postgres:///postgres?" + url.Values{"host": {dir}, "user": {"grfgp"}}.Encode(), Dir: dir,
		data: filepath.Join(dir, "data")}
	s.run = func(t testing.TB, name string, args ...string) {
		t.Helper()
		line := append(append([]string{}, as...), append([]string{filepath.Join(bin, name)}, args...)...)
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Fatalf("%s: %v\n%s%s", name, err, out, log[max(0, len(log)-2000):])
		}
	}
	s.run(t, "initdb", "--pgdata="+s.data, "--username=grfgp", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C")
	s.Start(t)
	t.Cleanup(func() { s.run(t, "pg_ctl", "stop", "--pgdata="+s.data, "--mode=immediate", "--silent") })
	return s
}

// Start starts the server after it was killed.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	s.run(t, "pg_ctl", "start", "--pgdata="+s.data, "--wait", "--silent", "--log="+filepath.Join(s.Dir, "log"),
		"-o", fmt.Sprintf("-c listen_addresses='' -c unix_socket_directories='%s' -c fsync=off -c shared_buffers=16MB", s.Dir))
}

// postgresPrograms returns the directory of initdb and pg_ctl, "" if there is none.
func postgresPrograms() string {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if path, err := exec.LookPath("pg_ctl"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}
	for _, dir := range dirs {
		if _, err := exec.LookPath(filepath.Join(dir, "initdb")); err == nil {
			if _, err := exec.LookPath(filepath.Join(dir, "pg_ctl")); err == nil {
				return dir
			}
		}
	}
	return ""
}

// unprivileged returns how to run a program as another user if this process runs as
// root, which PostgreSQL refuses, and gives the directory to that user.
func unprivileged(t testing.TB, dir string) []string {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errU := strconv.Atoi(u.Uid)
		gid, errG := strconv.Atoi(u.Gid)
		if errU != nil || errG != nil || os.Chown(dir, uid, gid) != nil {
			continue
		}
		if path, err := exec.LookPath("setpriv"); err == nil {
			return []string{path, "--reuid=" + u.Uid, "--regid=" + u.Gid, "--clear-groups"}
		}
	}
	t.Skip("no PostgreSQL server as root: there is no user postgres or nobody to run it as, or no setpriv")
	return nil
}
