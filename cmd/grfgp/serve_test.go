package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"grfgp/internal/testkit"
	"grfgp/study"
)

// TestProgram is no test but the program, for tests that need another process. Its
// arguments come after --.
func TestProgram(t *testing.T) {
	if os.Getenv("GRFGP_TEST_PROGRAM") == "" {
		t.Skip("run by other tests")
	}
	os.Args = append([]string{"grfgp"}, flag.Args()...)
	main()
}

// program is a command that runs grfgp in another process.
func program(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{"-test.run=^TestProgram$", "--"}, args...)...)
	cmd.Env = append(os.Environ(), "GRFGP_TEST_PROGRAM=1")
	return cmd
}

// process is a server in another process.
type process struct {
	t   testing.TB
	cmd *exec.Cmd
	url string
	err *bytes.Buffer
}

// startServer runs 'grfgp serve' in another process.
func startServer(t testing.TB, flags string) *process {
	t.Helper()
	p := &process{t: t, cmd: program(append([]string{"serve", "--listen", "127.0.0.1:0"}, strings.Fields(flags)...)...),
		err: new(bytes.Buffer)}
	p.cmd.Stderr = p.err
	out, err := p.cmd.StdoutPipe()
	if err := errors.Join(err, p.cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill(); p.cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "http://127.0.0.1:") {
		p.cmd.Wait()
		t.Fatalf("%q, %v; %s", line, err, p.err)
	}
	p.url = strings.TrimSpace(line)
	return p
}

// end sends a signal and returns the exit code.
func (p *process) end(sig os.Signal) int {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Fatal(err)
	}
	p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

// serveHere runs 'grfgp serve' in this process until the test ends, and returns
// its URL.
func serveHere(t testing.TB, flags ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	done := make(chan int, 1)
	var talk bytes.Buffer
	go func() {
		done <- Run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0"}, flags...), Streams{In: strings.NewReader(""), Out: w, Err: &talk})
		w.Close()
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-done; code != exitOK {
			t.Errorf("serve: exit %d; %s", code, talk.String())
		}
	})
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("serve: %v; %s", err, talk.String())
	}
	go io.Copy(io.Discard, r)
	return strings.TrimSpace(line)
}

// remoteDesk is a desk whose studies are those of a server.
func remoteDesk(t testing.TB, flags ...string) *desk {
	d := newDesk(t)
	d.store = serveHere(t, append([]string{"--store", d.store}, flags...)...)
	return d
}

func TestRemoteStudyLife(t *testing.T)   { studyLife(t, remoteDesk(t)) }
func TestRemoteStudyExport(t *testing.T) { exportedStudy(t, remoteDesk(t), newDesk(t)) }

// A server without TLS says so at once.
func TestRemoteScheme(t *testing.T) {
	t.Parallel()
	d := remoteDesk(t)
	d.store = strings.Replace(d.store, "http://", "https://", 1)
	if r := d.run("list"); r.code != exitUnreachable || !strings.Contains(r.err, "speaks http, not https; give --store http://127.0.0.1:") {
		t.Errorf("%+v", r)
	}
}

// What goes wrong has the same exit code there as here.
func TestRemoteStudyRefuses(t *testing.T) {
	t.Parallel()
	d := remoteDesk(t)
	d.ok("create s --goal maximize --edges " + d.edges)
	d.asks("s -n 1")
	for _, c := range []struct {
		code       int
		want, line string
	}{
		{exitUsage, "the name \"a/b\"", "create a/b --goal learn --edges " + d.edges},
		{exitUsage, "there is no study \"t\"", "ask t"},
		{exitUsage, "there is no trial 7", "tell s 7=1"},
		{exitBadData, "no such node: \"nowhere\"", "observe s nowhere=1"},
		{exitUsage, "there is no observation 1", "retract s 1"},
		{exitConflict, "already, with other settings", "create s --goal minimize --edges " + d.edges},
	} {
		if r := d.run(c.line); r.code != c.code || !strings.Contains(r.err, c.want) || r.out != "" {
			t.Errorf("study %s: %+v; want exit %d and %q", c.line, r, c.code, c.want)
		}
	}
	if r := (&desk{t, d.dir, d.edges, d.store + "/v1"}).run("list"); r.code != exitUsage ||
		!strings.Contains(r.err, "leave /v1 out, as in --store "+d.store+"\n") {
		t.Errorf("%+v", r)
	}
	for _, place := range []string{"HTTP://127.0.0.1:9", "ftp://127.0.0.1"} {
		if r := (&desk{t, d.dir, d.edges, place}).run("list"); r.code != exitUsage ||
			!strings.Contains(r.err, "begins with http:// or https://") {
			t.Errorf("%+v", r)
		}
	}
	nobody := &desk{t, d.dir, d.edges, "http://127.0.0.1:9"}
	if r := nobody.run("list"); r.code != exitUnreachable || !strings.Contains(r.err, "cannot be reached") {
		t.Errorf("%+v", r)
	}
	if r := (&desk{t, d.dir, d.edges, "http://anna:secret@127.0.0.1:9"}).run("list"); r.code != exitUsage {
		t.Errorf("%+v", r)
	}
}

func TestServeFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	short := write(t, dir, "short", "tiny\n")
	blanks := write(t, dir, "blanks", "two words of text\n")
	good := write(t, dir, "good", strings.Repeat("t", 20)+"\n")
	file := filepath.Join(dir, "s.db")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct{ want, line string }{
		{"no store", ""},
		{"other machines can reach this address", "--store " + file + " --listen 0.0.0.0:0"},
		{"other machines can reach this address", "--store " + file + " --listen :0"},
		{"other machines can reach this address", "--store " + file + " --listen lab.example.org:0 --token-file " + good},
		{"--allow-remote needs tokens", "--store " + file + " --listen 0.0.0.0:0 --allow-remote"},
		{"that only this machine can reach", "--store " + file + " --listen 0.0.0.0:0 --allow-remote --open --token-file " + good},
		{"contradict each other", "--store " + file + " --open --token-file " + good},
		{"there is no such file; 'grfgp token add", "--store " + file + " --tokens nowhere"},
		{"belong together", "--store " + file + " --tls-cert " + good},
		{"in PEM files", "--store " + file + " --tls-key " + good + " --tls-cert " + good},
		{"needs no TLS", "--store " + file + " --listen unix:" + file + ".sock --tls-key " + good + " --tls-cert " + good},
		{"give a path such as /grfgp", "--store " + file + " --base-path grfgp"},
		{"give a path such as /grfgp", "--store " + file + " --base-path /a/../b"},
		{"--proxy needs tokens", "--store " + file + " --proxy 10.0.0.1"},
		{"--proxy nginx: give an address", "--store " + file + " --proxy nginx --open"},
		{"--proxy unix: give an address", "--store " + file + " --proxy unix --open"},
		{"give a mode such as", "--store " + file + " --socket-mode 999"},
		{"that is no socket", "--store " + file + " --listen unix:" + good},
		{"a directory where you may write", "--store " + file + " --listen unix:" + filepath.Join(dir, "no", "s.sock")},
		{"of 16 characters or more", "--store " + file + " --token-file " + short},
		{"without blanks", "--store " + file + " --token-file " + blanks},
		{"no such file", "--store " + file + " --token-file nowhere"},
		{"--basemap nowhere: there is no such file; give a file of map tiles", "--store " + file + " --basemap nowhere"},
		{"give an address and a port", "--store " + file + " --listen 8080"},
		{"--max-body 0: give 1 or more", "--store " + file + " --max-body 0"},
		{"--patience -1s: give a duration", "--store " + file + " --patience -1s"},
		{"a port up to 65535", "--store " + file + " --listen 127.0.0.1:99999"},
		{"the port is in use", "--store " + file + " --listen " + taken.Addr().String()},
		{"there is no directory", "--store " + filepath.Join(dir, "no", "s.db")},
	} {
		r := runLine(t, "", append([]string{"serve"}, strings.Fields(c.line)...)...)
		if r.code != exitUsage || !strings.Contains(r.err, c.want) || r.out != "" {
			t.Errorf("serve %s: %+v; want %q", c.line, r, c.want)
		}
	}
}

// A file that is no map is refused before anything is served.
func TestServeBasemap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bad := write(t, dir, "city.pmtiles", "id,lat,lon\n")
	r := runLine(t, "", "serve", "--store", filepath.Join(dir, "s.db"), "--basemap", bad)
	if r.code != exitBadData || !strings.Contains(r.err, "city.pmtiles: not a PMTiles archive of version 3") ||
		!strings.Contains(r.err, "'pmtiles extract'") {
		t.Errorf("%+v", r)
	}
}

// With a token, only those who have it see anything.
func TestServeToken(t *testing.T) {
	dir := t.TempDir()
	token := write(t, dir, "token", "correct-horse-battery\n")
	d := remoteDesk(t, "--token-file", token)
	if r := d.run("list"); r.code != exitUnreachable ||
		!strings.Contains(r.err, "needs a token: give --token-file FILE, or name the file in "+tokenEnv) {
		t.Errorf("%+v", r)
	}
	d.ok("list", "--token-file", token)
	t.Setenv(tokenEnv, token)
	d.ok("create s --goal maximize --edges " + d.edges)
	other := write(t, dir, "other", "correct-horse-buttery\n")
	if r := d.run("list", "--token-file", other); r.code != exitUnreachable ||
		!strings.Contains(r.err, "the token in "+other+" is not that of "+d.store) {
		t.Errorf("%+v", r)
	}
}

// What a server says as it starts: where it is, in JSON too, and that its token is
// open to others.
func TestServeStarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	token := write(t, dir, "token", "correct-horse-battery\n")
	if err := os.Chmod(token, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, w := io.Pipe()
	var talk bytes.Buffer
	done := make(chan int, 1)
	go func() {
		line := []string{"serve", "--json", "--listen", "127.0.0.1:0", "--store", filepath.Join(dir, "s.db"), "--token-file", token}
		done <- Run(ctx, line, Streams{In: strings.NewReader(""), Out: w, Err: &talk})
		w.Close()
	}()
	var answer struct{ URL string }
	if err := json.NewDecoder(r).Decode(&answer); err != nil || !strings.HasPrefix(answer.URL, "http://127.0.0.1:") {
		t.Errorf("%+v, %v", answer, err)
	}
	go io.Copy(io.Discard, r)
	cancel()
	if code := <-done; code != exitOK || !strings.Contains(talk.String(), "chmod 600 "+token) {
		t.Errorf("exit %d; %s", code, talk.String())
	}
}

func TestServeReadOnly(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.ok("create s --goal maximize --edges " + d.edges)
	d.store = serveHere(t, "--store", d.store, "--read-only")
	d.ok("show s")
	if r := d.run("ask s"); r.code != exitUnreachable || !strings.Contains(r.err, "read-only") {
		t.Errorf("%+v", r)
	}
}

// One process owns a store: a second server says who, and ends with a code of its
// own. The first ends in order when it is asked to.
func TestTwoServersOneStore(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "s.db")
	p := startServer(t, "--store "+file)
	r := runLine(t, "", "serve", "--listen", "127.0.0.1:0", "--store", file)
	if r.code != exitHeld || !strings.Contains(r.err, fmt.Sprintf("is used by the server %s, process %d", p.url, p.cmd.Process.Pid)) ||
		r.out != "" {
		t.Errorf("%+v", r)
	}
	if code := p.end(syscall.SIGTERM); code != exitOK || !strings.Contains(p.err.String(), "shut down") {
		t.Errorf("exit %d after SIGTERM; %s", code, p.err)
	}
	second := startServer(t, "--store "+file)
	if code := second.end(os.Interrupt); code != exitOK {
		t.Errorf("exit %d after Ctrl-C; %s", code, second.err)
	}
}

// The server is killed while eight clients tell: all that it answered with success
// is there afterwards, once. What it did not answer is told again under its key.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	rounds := testkit.Size(2, 10)
	d := newDesk(t)
	d.ok("create s --goal maximize --edges " + d.edges)
	file := d.store
	const clients = 8
	next := make([]int, clients) // what each client tells next: all before was answered
	for round := range rounds {
		p := startServer(t, "--store "+file)
		var wg sync.WaitGroup
		var acknowledged sync.WaitGroup
		least := 2 + round%5 // answers to each before the kill
		acknowledged.Add(least * clients)
		for c := range clients {
			wg.Go(func() {
				for answers := 0; ; answers++ {
					if !observeOnce(p.url, c, next[c]) {
						for ; answers < least; answers++ {
							acknowledged.Done()
						}
						return
					}
					next[c]++
					if answers < least {
						acknowledged.Done()
					}
				}
			})
		}
		acknowledged.Wait()
		p.end(syscall.SIGKILL)
		wg.Wait()
		d.ok("verify s")
		checkObserved(t, d, next)
	}
	told := 0
	for _, n := range next {
		told += n
	}
	if told < 2*clients*rounds {
		t.Errorf("only %d values were answered", told)
	}
}

// observeOnce tells value k of client c and reports whether it was acknowledged.
func observeOnce(base string, c, k int) bool {
	body := fmt.Sprintf(`{"observations":[{"node":"a%d","value":%d}]}`, c, 1000*c+k)
	req, err := http.NewRequest("POST", base+"/v1/studies/s/observations", strings.NewReader(body))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", fmt.Sprintf("%d-%d", c, k))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	var taken struct{ Observations []study.Record }
	return resp.StatusCode == http.StatusCreated && json.NewDecoder(resp.Body).Decode(&taken) == nil && len(taken.Observations) == 1
}

// checkObserved looks for every value that was acknowledged, once; one more of each
// client may be there, of which the answer was lost.
func checkObserved(t *testing.T, d *desk, next []int) {
	t.Helper()
	seen := map[int]int{}
	for _, v := range d.shown("s").Observations {
		seen[int(v.Value)]++
	}
	total := 0
	for c, n := range next {
		for k := range n {
			if seen[1000*c+k] != 1 {
				t.Fatalf("value %d of client %d is there %d times", k, c, seen[1000*c+k])
			}
		}
		if lost := seen[1000*c+n]; lost > 1 {
			t.Fatalf("value %d of client %d is there %d times", n, c, lost)
		} else {
			total += n + lost
		}
	}
	if len(seen) != total {
		t.Fatalf("%d values, of which %d were told", len(seen), total)
	}
}

// Answers that are lost on the way are asked for again, and what they are about
// happens once.
func TestRemoteLostAnswers(t *testing.T) {
	t.Parallel()
	d := remoteDesk(t, "--open") // for a proxy
	target, err := url.Parse(d.store)
	if err != nil {
		t.Fatal(err)
	}
	var seen sync.Map // by method, path and key
	behind := httputil.NewSingleHostReverseProxy(target)
	behind.ModifyResponse = func(resp *http.Response) error {
		r := resp.Request
		if _, again := seen.LoadOrStore(r.Method+r.URL.Path+r.Header.Get("Idempotency-Key"), true); !again &&
			(r.Method != "POST" || r.Header.Get("Idempotency-Key") != "") {
			panic(http.ErrAbortHandler) // it was done, and nobody learns of it
		}
		return nil
	}
	behind.ErrorLog = log.New(io.Discard, "", 0)
	bad := httptest.NewServer(behind)
	t.Cleanup(bad.Close)
	d.store = bad.URL
	d.ok("create s --goal maximize --edges " + d.edges)
	d.asks("s -n 2")
	d.asks("s -n 2")
	d.ok("tell s 1=5 2=failed")
	d.ok("observe s a0=1 a1=2")
	d.ok("retract s 1")
	if s := d.shown("s"); s.Events != 7 || len(s.AllTrials) != 4 || len(s.Observations) != 3 {
		t.Errorf("%d events, %d trials, %d values", s.Events, len(s.AllTrials), len(s.Observations))
	}
}
