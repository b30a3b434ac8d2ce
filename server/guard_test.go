package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"grfgp/server"
)

// concrete fills in a path of a route.
func concrete(path string) string {
	return strings.NewReplacer("{$}", "", "{path...}", "nothing.js", "{s}", "s", "{t}", "1", "{o}", "1", "{g}", "0").Replace(path)
}

// isPublic reports whether a path needs no token.
func isPublic(path string) bool {
	return path == "/{$}" || path == "/healthz" || path == "/readyz" || path == "/worker.js" || strings.HasPrefix(path, "/assets/")
}

const secret = "correct-horse-battery-staple"

// All routes, by all methods, from friends and strangers: what is refused changes
// nothing, and nothing is refused by accident.
func TestWhoMayDoWhat(t *testing.T) {
	t.Parallel()
	methods := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
	routes := map[string][]string{}
	for _, r := range server.RouteList() {
		routes[r.Path] = append(routes[r.Path], r.Method)
	}
	setups := map[string]*host{
		"open":      newHost(t),
		"token":     newHost(t, func(o *server.Options) { o.Token = secret }),
		"read-only": newHost(t, func(o *server.Options) { o.ReadOnly = true }),
	}
	for _, name := range []string{"open", "token"} {
		setups[name].Create(10)
	}
	callers := []struct {
		name    string
		headers []with
	}{
		{"program", nil},
		{"own page", []with{"Sec-Fetch-Site: same-origin"}},
		{"other site", []with{"Sec-Fetch-Site: cross-site", "Origin: https://evil.example"}},
		{"other subdomain", []with{"Sec-Fetch-Site: same-site"}},
		{"old browser", []with{"Origin: https://evil.example"}},
		{"rebound name", []with{"Host: evil.example"}},
		{"no token", []with{"Authorization: "}},
		{"wrong token", []with{"Authorization: Bearer correct-horse-battery-stable"}},
		{"other scheme", []with{"Authorization: Basic " + secret}},
	}
	for setup, h := range setups {
		for path, known := range routes {
			for _, method := range methods {
				for _, c := range callers {
					got := h.Do(method, concrete(path), nil, c.headers...).Status
					reads := method == "GET" || method == "HEAD"
					safe := reads || method == "OPTIONS"
					exists := slices.Contains(known, method) || method == "HEAD" && slices.Contains(known, "GET")
					tokenless := slices.Contains([]string{"no token", "wrong token", "other scheme"}, c.name)
					strange := slices.Contains([]string{"other site", "other subdomain", "old browser"}, c.name)
					want := 0
					switch {
					case c.name == "rebound name":
						want = http.StatusMisdirectedRequest
					case strange && !safe:
						want = http.StatusForbidden
					case exists && setup != "token" && slices.Contains([]string{"other site", "other subdomain"}, c.name) && !isPublic(path):
						want = http.StatusForbidden // there is no token to keep them out
					case !exists:
						want = http.StatusMethodNotAllowed
					case setup == "token" && tokenless && !isPublic(path):
						want = http.StatusUnauthorized
					case setup == "read-only" && !reads:
						want = http.StatusForbidden
					}
					if c.name == "wrong token" && got == http.StatusTooManyRequests {
						got = http.StatusUnauthorized // there were many
					}
					ours := []int{http.StatusMisdirectedRequest, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusUnauthorized}
					if want != 0 && got != want || want == 0 && (slices.Contains(ours, got) || got >= 500) {
						t.Errorf("%s, %s: %s %s gives %d, want %d", setup, c.name, method, path, got, want)
					}
				}
			}
		}
	}
	if strings.Contains(setups["token"].Log.String(), secret) {
		t.Error("the token is in the log")
	}
}

// What GET shows is the same before and after all GETs were tried.
func TestReadingChangesNothing(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Create(10)
	h.Observe(five)
	before := h.Must("GET", "/v1/studies/s/export", nil, nil).Body
	for _, r := range server.RouteList() {
		if r.Method == "GET" {
			h.Do("GET", concrete(r.Path), nil)
		}
	}
	if after := h.Must("GET", "/v1/studies/s/export", nil, nil).Body; string(after) != string(before) {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

func TestSecurityHeaders(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	for _, path := range []string{"/", "/v1/meta", "/nowhere", "/assets/nothing"} {
		header := h.Do("GET", path, nil).Header
		for name, part := range map[string]string{
			"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY", "Cache-Control": "no-",
		} {
			if !strings.Contains(header.Get(name), part) {
				t.Errorf("%s: %s is %q", path, name, header.Get(name))
			}
		}
		if header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s is open to other sites", path)
		}
	}
}

// Names of files and studies lead nowhere but to those of the page and the store.
func TestPathsLeadNowhere(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Create(10)
	for _, path := range []string{
		"/assets/../web.go", "/assets/%2e%2e/web.go", "/assets/..%2fweb.go", "/assets/%2e%2e%2f%2e%2e%2fgo.mod", "/assets//etc/passwd",
		"/assets/..%5c..%5cgo.mod",
		"/assets/", "/assets/.", "/assets/%00", "/etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/web.go", "/index.html/..%2f",
		"/v1/studies/..%2f..%2fetc%2fpasswd", "/v1/studies/%2e%2e", "/v1/studies/s%00", "/v1/graphs/..%2f..%2fetc%2fpasswd",
		"/v1/graphs/%2e%2e%2fgrfgp.db",
		"/v1/studies/s/trials/..%2f1", "/v1/studies/s/trials/-1", "/v1/studies/s/trials/99999999999999999999", "/v1/studies/s/observations/0x1",
	} {
		a := h.Do("GET", path, nil)
		if a.Status < 400 || strings.Contains(string(a.Body), "root:") || strings.Contains(string(a.Body), "package web") {
			t.Errorf("%s: %d %.80s", path, a.Status, a.Body)
		}
	}
	for _, name := range []string{"../x", "a/b", "", ".", "..", "a\x00b", strings.Repeat("a", 200), "a b", "-a"} {
		body := map[string]any{"name": name, "graph": h.PutRing(10)}
		if a := h.Do("POST", "/v1/studies", body); a.Status != http.StatusBadRequest {
			t.Errorf("a study called %q: %d %s", name, a.Status, a.Body)
		}
	}
}

func TestHosts(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(o *server.Options) { o.Hosts = []string{"lab.example.org"} })
	for name, want := range map[string]int{
		"localhost": 200, "localhost:99": 200, "127.0.0.1:8080": 200, "[::1]:8080": 200, "LAB.example.org": 200, "lab.example.org:443": 200,
		"evil.example": 421, "localhost.evil.example": 421, "lab.example.org.evil.example": 421, "127.0.0.1.evil.example": 421,
	} {
		if got := h.Do("GET", "/healthz", nil, with("Host: "+name)).Status; got != want {
			t.Errorf("Host %s: %d, want %d", name, got, want)
		}
	}
}
