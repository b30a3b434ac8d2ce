package server_test

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"grfgp/internal/testkit"
	"grfgp/server"
	"grfgp/server/servertest"
	"grfgp/server/tokens"
	"grfgp/study"
)

func as(secret string) with { return with("Authorization: Bearer " + secret) }

// measuring are the routes that the role measure allows beside those that read.
var measuring = []string{
	"POST /v1/studies/{s}/asks", "PUT /v1/studies/{s}/trials/{t}/result", "POST /v1/studies/{s}/trials/{t}/lease",
	"POST /v1/studies/{s}/trials/{t}/release",
	"DELETE /v1/studies/{s}/operations/{n}", "POST /v1/studies/{s}/queue", "DELETE /v1/studies/{s}/queue",
	"POST /v1/studies/{s}/trials/{t}/abandon", "POST /v1/studies/{s}/trials/{t}/reopen", "POST /v1/studies/{s}/observations/{o}/reinstate",
	"POST /v1/studies/{s}/observations", "DELETE /v1/studies/{s}/observations/{o}",
}

// Every route with every role: those who look change nothing, those who measure change no
// settings.
func TestRoles(t *testing.T) {
	t.Parallel()
	h, _, secrets := roleHost(t)
	h.Create(10)
	for _, r := range server.RouteList() {
		for _, role := range tokens.Roles() {
			got := h.Do(r.Method, concrete(r.Path), nil, as(secrets[role])).Status
			allowed := isPublic(r.Path) || role == tokens.Run || r.Method == "GET" || role == tokens.Measure &&
				slices.Contains(measuring, r.Method+" "+r.Path)
			if (got == http.StatusForbidden) == allowed || got == http.StatusUnauthorized {
				t.Errorf("%s: %s %s gives %d", role, r.Method, r.Path, got)
			}
		}
	}
	p := h.refused("role", 403, "POST", "/v1/studies/s/pause", nil, as(secrets[tokens.Measure]))
	if !strings.Contains(p.Detail, "measureer") || !strings.Contains(p.Detail, "needs the role run") {
		t.Error(p.Detail)
	}
	var meta struct {
		Token      bool
		Name, Role string
	}
	h.Must("GET", "/v1/meta", nil, &meta, as(secrets[tokens.Look]))
	if !meta.Token || meta.Name != "looker" || meta.Role != "look" {
		t.Errorf("%+v", meta)
	}
}

// The log of a study has the name of the token, whatever the request claims.
func TestNamesInTheLog(t *testing.T) {
	t.Parallel()
	h, _, secrets := roleHost(t)
	h.Create(10)
	measure := as(secrets[tokens.Measure])
	claim := map[string]any{"by": "mallory", "note": "n"}
	with := func(more map[string]any) map[string]any {
		all := map[string]any{"by": "mallory"}
		for k, v := range more {
			all[k] = v
		}
		return all
	}
	var ask study.Ask
	h.Must("POST", "/v1/studies/s/asks", map[string]any{"count": 4, "holder": "mallory"}, &ask, measure)
	h.Must("PUT", "/v1/studies/s/trials/1/result", with(map[string]any{"value": 1}), nil, measure)
	h.Must("POST", "/v1/studies/s/trials/2/lease", map[string]any{"by": "mallory"}, nil, measure)
	h.Must("POST", "/v1/studies/s/trials/2/release", claim, nil, measure)
	h.Must("POST", "/v1/studies/s/trials/3/abandon", claim, nil, measure)
	h.Must("POST", "/v1/studies/s/observations", with(map[string]any{"observations": []study.Measurement{{Node: "n9", Value: 1}}}), nil,
		measure)
	h.Must("DELETE", "/v1/studies/s/observations/1?by=mallory", nil, nil, measure)
	h.Must("POST", "/v1/studies/s/pause", claim, nil)
	h.Must("POST", "/v1/studies/s/resume", claim, nil)
	h.Must("POST", "/v1/studies/s/close", claim, nil)
	h.Must("POST", "/v1/studies?by=mallory", study.Settings{Name: "second", Graph: h.PutRing(10), Lease: study.DefaultLease}, nil)
	for _, name := range []string{"s", "second"} {
		var log struct{ Events []study.Event }
		raw := h.Must("GET", "/v1/studies/"+name+"/events", nil, &log).Body
		if strings.Contains(string(raw), "mallory") {
			t.Errorf("a claimed name is in the log: %s", raw)
		}
		for _, e := range log.Events {
			if e.By != "measureer" && e.By != "runer" {
				t.Errorf("event %d is by %q", e.Seq, e.By)
			}
		}
	}
	if ask.Holder != "measureer" {
		t.Errorf("the nodes are held by %q", ask.Holder)
	}
	if !strings.Contains(h.Log.String(), "by=measureer") {
		t.Error("the server's log has no name")
	}
}

// Tokens are added and removed while the server runs; one that cannot read them lets
// nobody in.
func TestTokensChange(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "s.tokens")
	h := newHost(t, func(o *server.Options) { o.Tokens = tokens.Open(file) })
	h.Must("GET", "/v1/meta", nil, nil)
	anna := servertest.AddToken(t, file, "anna", tokens.Look)
	h.refused("unauthorized", 401, "GET", "/v1/meta", nil)
	h.Must("GET", "/v1/meta", nil, nil, as(anna))
	h.Must("GET", "/v1/meta", nil, nil, with("Authorization: bearer "+anna))
	ben := servertest.AddToken(t, file, "ben", tokens.Run)
	h.Must("GET", "/v1/meta", nil, nil, as(ben))
	if err := tokens.Remove(file, "anna"); err != nil {
		t.Fatal(err)
	}
	h.refused("unauthorized", 401, "GET", "/v1/meta", nil, as(anna))
	if err := os.WriteFile(file, []byte("gone wrong\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.refused("unavailable", 503, "GET", "/v1/meta", nil, as(ben))
	if !strings.Contains(h.Log.String(), "not a file of tokens") {
		t.Error("the log does not say why")
	}
	for _, secret := range []string{anna, ben} {
		if strings.Contains(h.Log.String(), secret) {
			t.Error("the log has a token")
		}
	}
}

// Wrong tokens are logged and slowed, by address; those who were let in before are not.
func TestWrongTokens(t *testing.T) {
	t.Parallel()
	c := newClock()
	h, file, secrets := roleHost(t, func(o *server.Options) { o.Now = c.Now })
	h.Must("GET", "/v1/meta", nil, nil)
	guess := func() int { return h.Do("GET", "/v1/meta", nil, as(fmt.Sprint("guess-", c.Now()))).Status }
	for k := range 6 {
		if got := guess(); got != 401 {
			t.Errorf("guess %d: %d", k, got)
		}
	}
	if n := strings.Count(h.Log.String(), "a wrong token"); n != 6 {
		t.Errorf("%d lines in the log", n)
	}
	slow := h.Do("GET", "/v1/meta", nil, as("guess"))
	if slow.Status != 429 || slow.Header.Get("Retry-After") != "1" {
		t.Errorf("%d %s", slow.Status, slow.Header.Get("Retry-After"))
	}
	for range 100 {
		guess()
	}
	if n := strings.Count(h.Log.String(), "a wrong token"); n != 7 {
		t.Errorf("%d lines in the log", n)
	}
	h.Must("GET", "/v1/meta", nil, nil) // was right before
	carla := servertest.AddToken(t, file, "carla", tokens.Look)
	for _, secret := range []string{carla, secrets[tokens.Look]} {
		h.refused("slowed", 429, "GET", "/v1/meta", nil, as(secret))
	}
	c.Pass(time.Second)
	h.Must("GET", "/v1/meta", nil, nil, as(carla))
	if got := guess(); got != 401 {
		t.Errorf("after the wait: %d", got)
	}
	if p := h.refused("slowed", 429, "GET", "/v1/meta", nil, as("x")); !strings.Contains(p.Detail, "in 2 s") {
		t.Error(p.Detail)
	}
	c.Pass(11 * time.Minute)
	if got := guess(); got != 401 {
		t.Errorf("after a long time: %d", got)
	}
	if got := guess(); got != 401 {
		t.Errorf("wrong tokens of long ago count: %d", got)
	}
	h.refused("unauthorized", 401, "GET", "/v1/meta", nil, "Authorization: ") // no guess
}

// The memory of wrong tokens is bounded, whatever the addresses.
func TestManyAddresses(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t) // of a size
	var a server.Attempts
	now := time.Now()
	for k := range 20_000 {
		a.Wrong(netip.AddrFrom4([4]byte{10, 0, byte(k >> 8), byte(k)}).String(), now)
	}
	if n := a.Len(); n > 4096 {
		t.Errorf("%d addresses are kept", n)
	}
}

// Where there are no tokens, only those who are known get in.
func TestAdmitted(t *testing.T) {
	t.Parallel()
	admit := false
	h := newHost(t, func(o *server.Options) {
		o.Admit = func(local, remote net.Addr) bool {
			if local == nil || remote.(*net.TCPAddr).Port == 0 {
				t.Errorf("asked about %v and %v", local, remote)
			}
			return admit
		}
	})
	if p := h.refused("unauthorized", 401, "GET", "/v1/studies", nil); !strings.Contains(p.Detail, "only the user who runs this server") {
		t.Error(p.Detail)
	}
	h.Must("GET", "/healthz", nil, nil)
	admit = true
	h.Must("GET", "/v1/studies", nil, nil)
	needed := newHost(t, func(o *server.Options) { o.TokenNeeded = true })
	needed.refused("unauthorized", 401, "GET", "/v1/studies", nil)
}

// A request through a proxy is refused where no token guards, and the headers of proxies
// are believed if they are named.
func TestProxies(t *testing.T) {
	t.Parallel()
	open := newHost(t)
	for _, header := range []with{"Forwarded: for=1.2.3.4", "X-Forwarded-For: 1.2.3.4", "X-Forwarded-Proto: https", "X-Real-IP: 1.2.3.4",
		"Via: 1.1 proxy"} {
		open.refused("unknown-proxy", 403, "GET", "/v1/studies", nil, header)
	}
	said := newHost(t, func(o *server.Options) { o.Open = true })
	said.Must("GET", "/v1/studies", nil, nil, "X-Forwarded-For: 1.2.3.4")

	h, _, _ := roleHost(t, func(o *server.Options) {
		o.Proxies, o.Hosts = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")},
			[]string{"lab.example.org"}
	})
	h.Must("POST", "/v1/graphs", ring(10), nil, "Content-Type: text/csv", "X-Forwarded-For: 6.6.6.6, 1.2.3.4, 10.0.0.7",
		"X-Forwarded-Host: lab.example.org")
	if !strings.Contains(h.Log.String(), "from=1.2.3.4:0") {
		t.Errorf("the client is not in the log:\n%s", h.Log.String())
	}
	h.refused("wrong-host", 421, "GET", "/v1/studies", nil, "X-Forwarded-For: 1.2.3.4", "X-Forwarded-Host: evil.example")
	h.refused("wrong-host", 421, "GET", "/v1/studies", nil, "X-Forwarded-Host: lab.example.org, evil.example")

	unnamed, _, _ := roleHost(t, func(o *server.Options) { o.Hosts = []string{"lab.example.org"} })
	unnamed.Must("POST", "/v1/graphs", ring(10), nil, "Content-Type: text/csv", "X-Forwarded-For: 1.2.3.4", "X-Forwarded-Host: evil.example")
	if strings.Contains(unnamed.Log.String(), "1.2.3.4") {
		t.Error("anybody can name an address for the log")
	}
}

// A stranger's address is slowed, not the proxy's.
func TestWrongTokensThroughProxy(t *testing.T) {
	t.Parallel()
	h, _, secrets := roleHost(t, func(o *server.Options) { o.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} })
	for range 8 {
		h.Do("GET", "/v1/meta", nil, as("guess"), "X-Forwarded-For: 2001:db8::1")
	}
	h.refused("slowed", 429, "GET", "/v1/meta", nil, as("guess"), "X-Forwarded-For: 2001:db8::2") // the same network
	h.Must("GET", "/v1/meta", nil, nil, as(secrets[tokens.Look]), "X-Forwarded-For: 2001:db8:0:1::1")
}

// A proxy may pass a path on or remove it.
func TestBasePath(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(o *server.Options) { o.BasePath = "/lab" })
	for path, want := range map[string]int{"/lab/v1/studies": 200, "/v1/studies": 200, "/lab/": 200, "/lab/assets/app.js": 200,
		"/laboratory/v1/studies": 404, "/lab/lab/v1/studies": 404, "/lab/v1/studies/%2e%2e": 404} {
		if got := h.Do("GET", path, nil).Status; got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	h.HTTP.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if a := h.Do("GET", "/lab", nil); a.Status != http.StatusPermanentRedirect || a.Header.Get("Location") != "/lab/" {
		t.Errorf("%d %s", a.Status, a.Header.Get("Location"))
	}
	if !strings.Contains(string(h.Must("GET", "/metrics", nil, nil).Body), `/v1/studies"`) {
		t.Error("the metrics do not know the route")
	}
}

// No handler takes a name that a request claims without asking whose the token is.
func TestClaimedNames(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	claimed := regexp.MustCompile(`\b(?:body|b)\.(?:By|Holder)\b|text\("by"\)`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for number, line := range strings.Split(string(text), "\n") {
			if found := claimed.FindString(line); found != "" && !strings.HasSuffix(file, "_test.go") && !strings.Contains(line, "by(r, "+found) &&
				!strings.Contains(line, "by(r, q."+found) {
				t.Errorf("%s:%d: %s", file, number+1, strings.TrimSpace(line))
			}
		}
	}
}

// A stream ends when its token is removed.
func TestStreamOfRemovedToken(t *testing.T) {
	t.Parallel()
	h, file, secrets := roleHost(t)
	h.Create(10)
	req := h.Request("GET", "/v1/studies/s/events?after=1", nil, as(secrets[tokens.Look]), "Accept: text/event-stream")
	resp, err := h.HTTP.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := tokens.Remove(file, "looker"); err != nil {
		t.Fatal(err)
	}
	h.Observe(map[string]float64{"n1": 42.5})
	if rest, err := io.ReadAll(resp.Body); err != nil || strings.Contains(string(rest), "42.5") {
		t.Errorf("%q, %v", rest, err)
	}
}

// The names of roles are those of the API.
func TestRoleNames(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(tokens.Roles())
	if err != nil || !strings.Contains(string(server.OpenAPI()), strings.ReplaceAll(string(raw), ",", ", ")) {
		t.Errorf("openapi.json does not name the roles %s", raw)
	}
}

// Ids with control characters are refused when a graph is uploaded.
func TestControlCharactersInIDs(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	for _, id := range []string{"\x1b[2J", "a\nb", "a\u202eb", "\u009b31m", "a\x00b"} {
		var edges strings.Builder
		w := csv.NewWriter(&edges)
		w.Write([]string{"source", "target"})
		w.Write([]string{id, "b"})
		w.Write([]string{"b", "c"})
		w.Flush()
		if a := h.Do("POST", "/v1/graphs", edges.String(), "Content-Type: text/csv"); a.Status != 422 {
			t.Errorf("%q: %d %s", id, a.Status, a.Body)
		}
	}
}

// Requests that are nearly right are answered with what is wrong.
func TestSmallMistakes(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Create(10)
	if p := h.refused("malformed", 400, "POST", "/v1/studies/s/asks", "[1]"); !strings.Contains(p.Detail, "give an object") {
		t.Error(p.Detail)
	}
	for _, value := range []string{"1e-400", "-0.00001e-999"} {
		if p := h.refused("invalid", 400, "POST", "/v1/studies/s/observations", `{"observations":[{"node":"n1","value":`+value+
			`}]}`); !strings.Contains(p.Detail, value+" is closer to 0") {
			t.Error(p.Detail)
		}
	}
	h.Must("POST", "/v1/studies/s/observations", `{"observations":[{"node":"n1","value":0.0e-999},{"node":"n2","value":5e-324}]}`, nil)
	h.refused("invalid", 400, "POST", "/v1/studies/s/asks", `{"lease":"2500000h"}`)
	h.Must("POST", "/v1/studies/s/asks", `{"lease":"80000h"}`, nil)
	h.refused("invalid", 400, "POST", "/v1/studies/s/trials/1/lease", `{"lease":"2500000h"}`)
	h.refused("invalid", 400, "POST", "/v1/studies", map[string]any{"name": "u", "graph": h.PutRing(10), "lease": "2500000h"})
}

// Clients do not learn where the store is.
func TestDamageHasNoPath(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("%w: %w; restore it", study.ErrCorrupt,
		&fs.PathError{Op: "reading", Path: "/srv/secret/team.db", Err: errors.New("malformed")})
	if got := server.Damage(err); strings.Contains(got, "/srv") || !strings.Contains(got, "the store: malformed; restore it") {
		t.Error(got)
	}
}

// A key that is repeated late says which of its trials have ended.
func TestRepeatedKeySaysWhatEnded(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Create(10)
	ask := func() (a study.Ask) {
		h.Must("POST", "/v1/studies/s/asks", map[string]any{"count": 3, "holder": "anna"}, &a, "Idempotency-Key: monday")
		return a
	}
	first := ask()
	if again := ask(); first.Ended != nil || again.Ended != nil || len(again.Trials) != 3 {
		t.Errorf("%+v, %+v", first, again)
	}
	h.Must("PUT", "/v1/studies/s/trials/1/result", `{"value":1}`, nil)
	h.Must("POST", "/v1/studies/s/trials/3/release", nil, nil)
	if again := ask(); len(again.Ended) != 2 || again.Ended[1] != study.TrialDone || again.Ended[3] != study.TrialReleased {
		t.Errorf("%+v", again.Ended)
	}
}
