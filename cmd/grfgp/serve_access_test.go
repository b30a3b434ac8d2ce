package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// makeToken makes a token and returns the file with it.
func makeToken(t testing.TB, d *desk, name, role, tokens string) string {
	t.Helper()
	out := filepath.Join(d.dir, name+".token")
	r := runLine(t, "", "token", "add", name, "--role", role, "--tokens", tokens, "-o", out)
	if r.code != exitOK || r.out != "" {
		t.Fatalf("%+v", r)
	}
	if info, err := os.Stat(out); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	return out
}

// Roles are those of the command line, tokens come and go while the server runs, and names
// in the log are those of tokens.
func TestRemoteRoles(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	tokens := d.store + ".tokens"
	d.store = serveHere(t, "--store", d.store)
	d.ok("create s --goal maximize --edges " + d.edges) // without a token: the same user
	anna, ben, carla := makeToken(t, d, "anna", "run", tokens), makeToken(t, d, "ben", "measure", tokens),
		makeToken(t, d, "carla", "look", tokens)
	if r := d.run("list"); r.code != exitUnreachable || !strings.Contains(r.err, "needs a token") {
		t.Errorf("%+v", r)
	}
	if out := d.ok("ask s -n 2 --by mallory --json", "--token-file", ben).out; !strings.Contains(out, `"holder":"ben"`) {
		t.Errorf("%s", out)
	}
	d.ok("tell s 1=5 --by mallory", "--token-file", ben)
	d.ok("pause s", "--token-file", anna)
	if out := d.ok("show s --trials", "--token-file", carla).out; !strings.Contains(out, "ben") || strings.Contains(out, "mallory") ||
		!strings.Contains(out, "anna") {
		t.Errorf("%s", out)
	}
	for line, file := range map[string]string{"close s": ben, "ask s": carla, "tell s 2=1": carla, "create u --goal learn --edges " +
		d.edges: ben} {
		if r := d.run(line, "--token-file", file); r.code != exitUnreachable || !strings.Contains(r.err, "needs the role") {
			t.Errorf("%s with %s: %+v", line, file, r)
		}
	}
	if r := runLine(t, "", "token", "remove", "ben", "--tokens", tokens); r.code != exitOK {
		t.Errorf("%+v", r)
	}
	if r := d.run("list", "--token-file", ben); r.code != exitUnreachable || !strings.Contains(r.err, "the token in "+ben+" is not that of") {
		t.Errorf("%+v", r)
	}
	var list struct {
		Tokens []struct{ Name, Role string }
	}
	if r := runLine(t, "", "token", "list", "--json", "--tokens", tokens); json.Unmarshal([]byte(r.out), &list) != nil ||
		len(list.Tokens) != 2 || list.Tokens[1].Name != "carla" || list.Tokens[1].Role != "look" {
		t.Errorf("%+v", r)
	}
}

func TestTokenCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "team.db")
	r := runLine(t, "", "token", "add", "anna", "--role", "look", "--store", file, "--link", "https://lab.example.org/grfgp/")
	lines := strings.Split(r.out, "\n")
	if r.code != exitOK || len(lines) != 3 || lines[1] != "https://lab.example.org/grfgp/#token="+lines[0] ||
		!strings.Contains(r.err, "not shown again") {
		t.Errorf("%+v", r)
	}
	if raw, err := os.ReadFile(file + ".tokens"); err != nil || strings.Contains(string(raw), lines[0]) ||
		!strings.Contains(string(raw), "anna look ") {
		t.Errorf("%s, %v", raw, err)
	}
	for _, c := range []struct {
		code       int
		want, line string
	}{
		{exitConflict, "a token of this name already", "add anna --role run --store " + file},
		{exitUsage, `--role "": give look, measure or run`, "add ben --store " + file},
		{exitUsage, `--role "boss"`, "add ben --role boss --store " + file},
		{exitUsage, "names have letters", "add a/b --role run --store " + file},
		{exitUsage, "no token of this name", "remove ben --store " + file},
		{exitUsage, "give a NAME", "remove --store " + file},
		{exitUsage, "no tokens: give --store", "list"},
		{exitUsage, "tokens are kept on its machine", "list --store http://127.0.0.1:8080"},
		{exitUsage, "give --tokens FILE", "list --store postgres://db/grfgp"},
		{exitUsage, "name a new one", "add ben --role run --store " + file + " -o " + file + ".tokens"},
		{exitUsage, "the commands are add, list and remove", "dance"},
	} {
		if r := runLine(t, "", append([]string{"token"}, strings.Fields(c.line)...)...); r.code != c.code || !strings.Contains(r.err, c.want) ||
			r.out != "" {
			t.Errorf("token %s: %+v; want exit %d and %q", c.line, r, c.code, c.want)
		}
	}
	if r := runLine(t, "", "token", "remove", "anna", "--store", file); r.code != exitOK ||
		!strings.Contains(r.err, "every request needs one") {
		t.Errorf("%+v", r)
	}
}

// A unix socket has the mode that was given, serves the command line, and is replaced when
// a server left it behind.
func TestUnixSocket(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes are those of unix")
	}
	d := newDesk(t)
	dir, err := os.MkdirTemp("", "grfgp") // names of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path, file := filepath.Join(dir, "s"), d.store
	left, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	left.(*net.UnixListener).SetUnlinkOnClose(false)
	left.Close()
	d.store = serveHere(t, "--listen", "unix:"+path, "--socket-mode", "0660", "--store", file)
	if d.store != "unix:"+path {
		t.Errorf("the server is at %s", d.store)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	d.ok("create s --goal maximize --edges " + d.edges)
	d.ok("observe s a0=1")
	d.ok("verify s")
	if r := runLine(t, "", "serve", "--listen", "unix:"+path, "--store", file+"2"); r.code != exitUsage ||
		!strings.Contains(r.err, "the socket is in use") {
		t.Errorf("%+v", r)
	}
	if r := (&desk{t, d.dir, d.edges, "unix:" + path + "x"}).run("list"); r.code != exitUnreachable ||
		!strings.Contains(r.err, "is 'grfgp serve' running there") {
		t.Errorf("%+v", r)
	}
	if r := (&desk{t, d.dir, d.edges, file}).run("list"); r.code != exitHeld || !strings.Contains(r.err, "is used by the server unix:"+path) {
		t.Errorf("%+v", r)
	}
}

// certificate writes a certificate of this machine, signed by itself.
func certificate(t testing.TB, dir string, serial int64) (cert, key string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"lab.example.org"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	cert = write(t, dir, "cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	key = write(t, dir, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw})))
	return cert, key
}

// The server speaks TLS, under a path, and takes a renewed certificate without a restart.
func TestServeTLS(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	cert, key := certificate(t, d.dir, 1)
	url := serveHere(t, "--store", d.store, "--tls-cert", cert, "--tls-key", key, "--base-path", "/lab/")
	if !strings.HasPrefix(url, "https://127.0.0.1:") || !strings.HasSuffix(url, "/lab") {
		t.Fatal(url)
	}
	serial := func() int64 {
		t.Helper()
		trusted := x509.NewCertPool()
		raw, err := os.ReadFile(cert)
		if err != nil || !trusted.AppendCertsFromPEM(raw) {
			t.Fatal(err)
		}
		c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, DisableKeepAlives: true}}
		resp, err := c.Get(url + "/v1/studies")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != 200 || resp.TLS.Version < tls.VersionTLS12 {
			t.Errorf("%d, TLS %x", resp.StatusCode, resp.TLS.Version)
		}
		return resp.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	if got := serial(); got != 1 {
		t.Errorf("certificate %d", got)
	}
	certificate(t, d.dir, 2)
	later := time.Now().Add(time.Hour) // however coarse the clock of files is
	if err := os.Chtimes(cert, later, later); err != nil {
		t.Fatal(err)
	}
	if got := serial(); got != 2 {
		t.Errorf("certificate %d after it was renewed", got)
	}
	r := (&desk{t, d.dir, d.edges, url}).run("list") // which does not trust it
	if r.code != exitUnreachable || !strings.Contains(r.err, "is not trusted") || !strings.Contains(r.err, "SSL_CERT_FILE") {
		t.Errorf("%+v", r)
	}
	plain := strings.Replace(url, "https://", "http://", 1)
	if r := (&desk{t, d.dir, d.edges, plain}).run("list"); r.code != exitUnreachable || !strings.Contains(r.err, "begins with https://") {
		t.Errorf("%+v", r)
	}
	resp, err := http.Get(plain + "/v1/studies")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("without TLS: %d", resp.StatusCode)
	}
}

// The first line of a server says who may use it.
func TestWhoMayUseServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	token := write(t, dir, "token", "correct-horse-battery\n")
	for flags, want := range map[string]string{
		"":                      "only; 'grfgp token add' lets others in",
		"--open":                "to every user of this machine",
		"--token-file " + token: "to those who have a token",
		"--allow-remote --listen 0.0.0.0:0 --token-file " + token: "the traffic is not encrypted",
	} {
		ctx, cancel := context.WithCancel(context.Background())
		r, w := io.Pipe()
		var talk bytes.Buffer
		done := make(chan int, 1)
		go func() {
			line := append([]string{"serve", "--listen", "127.0.0.1:0", "--store", filepath.Join(dir, "s.db")}, strings.Fields(flags)...)
			done <- Run(ctx, line, Streams{In: strings.NewReader(""), Out: w, Err: &talk})
			w.Close()
		}()
		io.ReadFull(r, make([]byte, 1))
		go io.Copy(io.Discard, r)
		cancel()
		if code := <-done; code != exitOK || !strings.Contains(talk.String(), want) {
			t.Errorf("%s: exit %d; %s", flags, code, talk.String())
		}
	}
}

// A password is not repeated, however the address is mistyped.
func TestPasswordsAreNotPrinted(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"postgre://u:hunter2@127.0.0.1:1/db", "http://u:hunter2@127.0.0.1:1", "https://u:hunter2@127.0.0.1:1/v1",
		"postgres://u:hunter2%zz@127.0.0.1:1/db", "ftp://u:hun@ter2/hunter2@h/x"} {
		for _, line := range [][]string{{"study", "list"}, {"serve"}, {"token", "list"}} {
			r := runLine(t, "", append(line, "--store", place)...)
			if r.code == exitOK || strings.Contains(r.out+r.err, "hunter2") || strings.Contains(r.out+r.err, "hun@ter2") {
				t.Errorf("%v --store %s: %+v", line, place, r)
			}
		}
	}
}
