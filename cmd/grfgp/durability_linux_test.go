package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"grfgp/internal/testkit"
	"grfgp/lab/load"
	"grfgp/store/storetest"
)

// soakOf runs a short soak with disturbances of some kinds, and fails if anything that was
// acknowledged is lost or there twice.
func soakOf(t *testing.T, place string, lasting time.Duration, deck ...load.Disturbance) load.Soaked {
	t.Helper()
	folder := t.TempDir()
	if place == "" {
		place = filepath.Join(folder, "soak.db")
	}
	happened := 0
	for k, d := range deck {
		if d.Do != nil {
			deck[k].Do = func(ctx context.Context) error { happened++; return d.Do(ctx) }
		}
	}
	r, err := load.Soak(t.Context(), load.SoakOptions{
		Disturbed: lasting, Clients: 16, Seed: 1, Folder: folder, Deck: deck,
		Enough: func(r load.Soaked) bool {
			return happened+r.Kills+r.Stops+r.Pauses+r.Jumps+r.Backups >= 2 && r.Told >= 50 && r.Asked >= 50 && r.Observed >= 10
		},
		Server: func(address, clock string) *exec.Cmd { return program(load.ServerArguments(place, address, clock)...) },
		Begin:  func(string) func(string) { return func(string) {} },
	})
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(folder, "server.log"))
		t.Fatalf("%v\n%s", err, log)
	}
	if len(r.Faults) > 0 {
		t.Errorf("%+v", r)
	}
	return r
}

// The disturbances of a server, whatever its store: nothing that was acknowledged is lost or
// there twice. TestServerKilled is the quick one of them.
func TestDurability(t *testing.T) {
	testkit.Full(t)
	for _, name := range []string{load.Kill, load.Stop, load.Pause, load.Jump, load.Backup} {
		t.Run(name, func(t *testing.T) { soakOf(t, "", 3*time.Second, load.Disturbance{Name: name}) })
	}
}

// The disturbances of a server with a PostgreSQL database, and of that database.
func TestDurabilityPostgres(t *testing.T) {
	testkit.Full(t)
	db := storetest.StartPostgres(t)
	soak := func(name string, place string, do func(ctx context.Context, t *testing.T) error) {
		t.Run(name, func(t *testing.T) {
			one := load.Disturbance{Name: name}
			if do != nil {
				one.Do = func(ctx context.Context) error { return do(ctx, t) }
			}
			soakOf(t, place, 3*time.Second, one)
		})
	}
	soak(load.Kill, db.URL, nil)
	soak("database killed", db.URL, func(_ context.Context, t *testing.T) error {
		db.Signal(t, syscall.SIGKILL)
		db.Start(t)
		return nil
	})
	soak("database paused", db.URL, func(_ context.Context, t *testing.T) error {
		db.Signal(t, syscall.SIGSTOP)
		time.Sleep(300 * time.Millisecond)
		db.Signal(t, syscall.SIGCONT)
		return nil
	})
	soak("connections ended", db.URL, func(ctx context.Context, _ *testing.T) error {
		admin, err := pgx.Connect(ctx, db.URL)
		if err != nil {
			return err
		}
		defer admin.Close(ctx)
		_, err = admin.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name `+
			`LIKE 'grfgp, %'`)
		return err
	})
	p := startSwallower(t, filepath.Join(db.Dir, ".s.PGSQL.5432"))
	through := "postgres:///postgres?" + url.Values{"host": {p.dir}, "user": {"grfgp"}}.Encode()
	soak("answers of commits swallowed", through, func(ctx context.Context, _ *testing.T) error {
		p.armed.Store(true)
		select {
		case <-p.swallowed:
		case <-ctx.Done():
		}
		return ctx.Err()
	})
}

// swallower is a proxy of a database. When it is armed, it lets the next commit through,
// swallows the answer, and ends the connection.
type swallower struct {
	dir       string // of its socket
	to        string
	armed     atomic.Bool
	swallowed chan struct{} // one for each answer
}

func startSwallower(t *testing.T, to string) *swallower {
	t.Helper()
	dir, err := os.MkdirTemp("", "grfgp-px") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	p := &swallower{dir: dir, to: to, swallowed: make(chan struct{}, 1)}
	t.Cleanup(func() { l.Close(); os.RemoveAll(dir) })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.relay(c)
		}
	}()
	return p
}

func (p *swallower) relay(client net.Conn) {
	database, err := net.Dial("unix", p.to)
	if err != nil {
		client.Close()
		return
	}
	end := sync.OnceFunc(func() { client.Close(); database.Close() })
	defer end()
	var committing atomic.Bool
	go func() {
		defer end()
		for buf := make([]byte, 1<<16); ; {
			n, err := database.Read(buf)
			if err != nil {
				return
			}
			if committing.Load() { // the commit is done
				select {
				case p.swallowed <- struct{}{}:
				default:
				}
				return
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	for buf := make([]byte, 1<<16); ; {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		if bytes.Contains(buf[:n], []byte("commit\x00")) && p.armed.CompareAndSwap(true, false) {
			committing.Store(true)
		}
		if _, err := database.Write(buf[:n]); err != nil {
			return
		}
	}
}

// A full disk: what is refused is not there, what was acknowledged is, also after a kill; the
// server reads on, is not ready, starts on the full disk, and takes results when there is room.
func TestDurabilityFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no disk can be mounted here: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(disk, syscall.MNT_DETACH) })
	file := filepath.Join(disk, "team.db")
	d := newDesk(t)
	p := startServer(t, "--store "+file)
	d.store = p.url
	d.ok("create a --generate ring:200 --goal learn")
	note := strings.Repeat("x", 3000)
	status := func(path, body string) int {
		resp, err := http.Post(p.url+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	taken, refused := 0, 0
	for k := 0; k < 2000 && refused < 3; k++ {
		switch s := status("/v1/studies/a/observations", fmt.Sprintf(`{"observations":[{"node":"%d","value":%d}],"note":%q}`, k%200, k,
			note)); s {
		case http.StatusCreated:
			taken++
		case http.StatusInsufficientStorage:
			refused++
		default:
			t.Fatalf("observation %d: %d", k, s)
		}
	}
	if refused == 0 || taken == 0 {
		t.Fatalf("%d taken, %d refused", taken, refused)
	}
	if got := d.shown("a").Values; got != taken {
		t.Errorf("%d values, and %d were taken", got, taken)
	}
	until(t, func() bool {
		resp, err := http.Get(p.url + "/readyz")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		var said struct{ Detail string }
		return json.NewDecoder(resp.Body).Decode(&said) == nil && resp.StatusCode == http.StatusServiceUnavailable
	})
	p.end(os.Kill)
	p = startServer(t, "--store "+file)
	d.store = p.url
	if got := d.shown("a").Values; got != taken {
		t.Errorf("after a kill: %d values, and %d were taken", got, taken)
	}
	if err := syscall.Mount("none", disk, "tmpfs", syscall.MS_REMOUNT, "size=64m"); err != nil {
		t.Fatal(err)
	}
	d.ok("observe a 1=1")
	if got := d.shown("a").Values; got != taken+1 {
		t.Errorf("with room: %d values", got)
	}
}
