package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// deployed reads a file that is made for other programs.
func deployed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The flags of the unit and of the image are those of the program, and both tell who has
// no tokens what to do.
func TestDeployedCommands(t *testing.T) {
	dir := t.TempDir()
	unit := regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/grfgp (.*)$`).FindStringSubmatch(deployed(t, "deploy/grfgp.service"))
	image := regexp.MustCompile(`(?m)^CMD (\[.*\])$`).FindStringSubmatch(deployed(t, "Dockerfile"))
	if unit == nil || image == nil {
		t.Fatal("no command")
	}
	var args []string
	if err := json.Unmarshal([]byte(image[1]), &args); err != nil {
		t.Fatal(err)
	}
	places := strings.NewReplacer("/var/lib/grfgp", dir, "/run/grfgp", dir, ":8080", ":0")
	t.Setenv(storeEnv, filepath.Join(dir, "studies.db"))
	for name, line := range map[string][]string{"unit": strings.Fields(places.Replace(unit[1])),
		"image": strings.Split(places.Replace(strings.Join(args, "\x00")), "\x00")} {
		if r := runLine(t, "", line...); r.code != exitUsage || !strings.Contains(r.err, "needs tokens") ||
			!strings.Contains(r.err, "'grfgp token add NAME --role ROLE' makes them") {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := runLine(t, "", "token", "add", "anna", "--role", "run"); r.code != exitOK {
		t.Fatalf("%+v", r)
	}
	for name, line := range map[string][]string{"unit": strings.Fields(places.Replace(unit[1])),
		"image": strings.Split(places.Replace(strings.Join(args, "\x00")), "\x00")} {
		ctx, cancel := context.WithCancel(t.Context())
		r, w := io.Pipe()
		var talk bytes.Buffer
		done := make(chan int, 1)
		go func() {
			done <- Run(ctx, line, Streams{In: strings.NewReader(""), Out: w, Err: &talk})
			w.Close()
		}()
		if _, err := bufio.NewReader(r).ReadString('\n'); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		if code := <-done; code != exitOK {
			t.Errorf("%s: exit %d; %s", name, code, talk.String())
		}
	}
	if golang := regexp.MustCompile(`(?m)^FROM golang:(\S+) `).FindStringSubmatch(deployed(t, "Dockerfile")); golang == nil ||
		!strings.Contains(deployed(t, "go.mod"), "\ngo "+golang[1]) {
		t.Errorf("the image is built with Go %v, which is not that of go.mod", golang)
	}
}

// systemd understands the unit.
func TestUnit(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd-analyze on this machine")
	}
	program := filepath.Join(t.TempDir(), "grfgp")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	unit := write(t, t.TempDir(), "grfgp.service", strings.ReplaceAll(deployed(t, "deploy/grfgp.service"), "/usr/local/bin/grfgp", program))
	if out, err := exec.Command(tool, "verify", unit).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// The examples of proxies work: people get in with tokens, under a path, the log has their
// addresses, and events arrive as they happen.
func TestProxyExamples(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	for _, proxy := range []struct {
		program, file string
		config        func(dir, text string) string
		args          func(config string) []string
		end           os.Signal
	}{
		{"nginx", "deploy/nginx.conf", func(dir, text string) string {
			text = strings.NewReplacer("listen 443", "listen 127.0.0.1"+port, "/etc/ssl/lab.example.org.pem", dir+"/cert.pem",
				"/etc/ssl/lab.example.org.key", dir+"/key.pem").Replace(text)
			user := ""
			if os.Getuid() == 0 {
				user = "user root;\n"
			}
			temp := ""
			for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
				temp += fmt.Sprintf("%s_temp_path %s/%s;\n", kind, dir, kind)
			}
			return user + "daemon off;\npid " + dir + "/pid;\nevents {}\nhttp {\naccess_log off;\n" + temp + text + "}\n"
		}, func(config string) []string { return []string{"-e", "stderr", "-c", config} }, syscall.SIGTERM},
		{"caddy", "deploy/Caddyfile", func(dir, text string) string {
			text = strings.Replace(text, "lab.example.org {\n", "https://lab.example.org"+port+" {\n\ttls "+dir+"/cert.pem "+dir+"/key.pem\n", 1)
			return "{\n\tadmin off\n\tauto_https off\n}\n" + text
		}, func(config string) []string {
			return []string{"run", "--adapter", "caddyfile", "--config", config}
		}, os.Kill},
	} {
		t.Run(proxy.program, func(t *testing.T) {
			tool, err := exec.LookPath(proxy.program)
			if err != nil {
				t.Skipf("there is no %s on this machine: its example was only read", proxy.program)
			}
			dir, err := os.MkdirTemp("", "grfgp") // names of sockets are short
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			d := newDesk(t)
			anna := makeToken(t, d, "anna", "run", d.store+".tokens")
			var log lockedLog
			serveLogged(t, &log, "--store", d.store, "--listen", "unix:"+dir+"/s", "--proxy", "unix", "--allow-host", "lab.example.org")
			certificate(t, dir, 1)
			config := write(t, dir, "config", proxy.config(dir, strings.ReplaceAll(deployed(t, proxy.file), "/run/grfgp/grfgp.sock", dir+"/s")))
			cmd := exec.Command(tool, proxy.args(config)...)
			cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
			var talk lockedLog
			cmd.Stdout, cmd.Stderr = &talk, &talk
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { cmd.Process.Signal(proxy.end); cmd.Wait() })
			tryProxy(t, "127.0.0.1"+port, dir, anna, &log, &talk)
		})
	}
}

// tryProxy uses a server through a proxy that shows it under /grfgp/.
func tryProxy(t *testing.T, at, dir, token string, log, talk *lockedLog) {
	raw, err := os.ReadFile(filepath.Join(dir, "cert.pem"))
	if err != nil {
		t.Fatal(err)
	}
	secret, err := os.ReadFile(token)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(raw)
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: trusted, ServerName: "lab.example.org"},
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", at)
		},
	}}
	do := func(method, path, body string, headers ...string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(t.Context(), method, "https://lab.example.org/grfgp"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Forwarded-For", "6.6.6.6") // which nobody believes
		for k := 0; k+1 < len(headers); k += 2 {
			req.Header.Set(headers[k], headers[k+1])
		}
		return client.Do(req)
	}
	until(t, func() bool { // the proxy listens
		resp, err := do("GET", "/healthz", "")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == 200
	})
	want := func(status int, method, path, body string, headers ...string) string {
		t.Helper()
		resp, err := do(method, path, body, headers...)
		if err != nil {
			t.Fatalf("%v; %s", err, talk.String())
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != status {
			t.Fatalf("%s %s: %d %s; %s", method, path, resp.StatusCode, text, talk.String())
		}
		return string(text)
	}
	bearer := "Bearer " + strings.TrimSpace(string(secret))
	if page := want(200, "GET", "/", ""); !strings.Contains(page, `/app.js"`) {
		t.Errorf("%s", page)
	}
	want(200, "GET", "/assets/app.js", "")
	want(200, "GET", "", "") // sent on to the page
	want(401, "GET", "/v1/studies", "")
	var graph struct{ ID string }
	if err := json.Unmarshal([]byte(want(201, "POST", "/v1/graphs", "source,target\na,b\nb,c\n", "Content-Type", "text/csv", "Authorization",
		bearer)), &graph); err != nil {
		t.Fatal(err)
	}
	want(201, "POST", "/v1/studies", fmt.Sprintf(`{"name":"s","graph":%q}`, graph.ID), "Content-Type", "application/json", "Authorization",
		bearer)
	if text := log.String(); !strings.Contains(text, "from=127.0.0.1:0 by=anna") || strings.Contains(text, "6.6.6.6") {
		t.Errorf("the log of the server is\n%s", text)
	}
	want(401, "GET", "/v1/studies", "", "Authorization", "Bearer wrong-wrong-wrong-wrong")
	if text := log.String(); !strings.Contains(text, `msg="a wrong token" method=GET path=/v1/studies from=127.0.0.1`) {
		t.Errorf("the log of the server is\n%s", text)
	}
	events, err := do("GET", "/v1/studies/s/events?after=1", "", "Accept", "text/event-stream", "Authorization", bearer)
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	want(201, "POST", "/v1/studies/s/observations", `{"observations":[{"node":"a","value":1}]}`, "Content-Type", "application/json",
		"Authorization", bearer)
	for lines := bufio.NewScanner(events.Body); ; {
		if !lines.Scan() {
			t.Fatal("the stream ended")
		}
		if strings.Contains(lines.Text(), `"kind":"observed"`) || strings.Contains(lines.Text(), "observed") {
			break
		}
	}
}

// lockedLog is a buffer that several goroutines use.
type lockedLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// serveLogged runs 'grfgp serve' in this process until the test ends.
func serveLogged(t *testing.T, log io.Writer, flags ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- Run(ctx, append([]string{"serve"}, flags...), Streams{In: strings.NewReader(""), Out: w, Err: log})
		w.Close()
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	if _, err := bufio.NewReader(r).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, r)
}
