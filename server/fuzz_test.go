package server_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// Whatever is sent, nothing breaks: an answer is JSON, and the server is not at
// fault.
func FuzzBodies(f *testing.F) {
	for _, seed := range []string{
		`{"value":1}`, `{"failed":true,"note":"x"}`, `{"value":1e400}`, `{"value":NaN}`, `{"observations":[{"node":"n1","value":-0}]}`,
		`{"count":3,"holder":"a","lease":"1h"}`,
		`{"name":"x","graph":"y","goal":"learn","spec":{"hops":3}}`, `{"name":"x","graph":"y","cost":{"a":1}}`, `[]`, `null`, `"`,
		"{\"note\":\"\x00\"}", `{"lease":"9999999h"}`,
		"source,target\na,b\nb,c\n", `{"format":"grfgp-study","version":1}`, "\x1f\x8b", "\x28\xb5\x2f\xfd",
	} {
		f.Add([]byte(seed))
	}
	h := newHost(f, small)
	h.Create(40)
	h.Must("POST", "/v1/studies/s/asks", `{"count":3}`, nil)
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, path := range []string{
			"PUT /v1/studies/s/trials/1/result", "POST /v1/studies/s/observations", "POST /v1/studies/s/asks", "POST /v1/studies",
			"POST /v1/studies/s/trials/2/lease",
			"POST /v1/studies/s/pause", "POST /v1/studies/s/resume", "POST /v1/graphs", "POST /v1/drafts", "POST /v1/imports",
		} {
			kinds := []with{"Content-Type: application/json"}
			if path == "POST /v1/graphs" {
				kinds = []with{"Content-Type: text/csv", "Content-Type: application/vnd.grfgp.network", "Content-Type: multipart/form-data; boundary=x"}
			}
			if path == "POST /v1/drafts" {
				var in []formPart
				for k, name := range []string{"options", "nodes", "edges", "measurements", "allowed", "costs"} {
					if k != int(body0(body))%6 {
						in = append(in, formPart{name, map[string]string{"options": "{}", "nodes": "id\nn1\n", "edges": ring(4), "measurements": speeds,
							"allowed": "n1\n", "costs": "id,cost\nn1,1\n"}[name]})
					} else {
						in = append(in, formPart{name, string(body)})
					}
				}
				sent, kind := form(t, in...)
				a, err := h.Try("POST", "/v1/drafts", sent, kind)
				if err != nil || a.Status >= 500 || !json.Valid(a.Body) {
					t.Fatalf("%s: %d %s %v", path, a.Status, a.Body, err)
				}
				kinds = []with{"Content-Type: multipart/form-data; boundary=x"}
			}
			method, at, _ := strings.Cut(path, " ")
			for _, kind := range kinds {
				a, err := h.Try(method, at, body, kind)
				if err != nil || a.Status >= 500 || !json.Valid(a.Body) {
					t.Fatalf("%s %s: %d %s %v", path, kind, a.Status, a.Body, err)
				}
			}
		}
	})
}

// body0 is the first byte of a body, 0 of none.
func body0(body []byte) byte {
	if len(body) == 0 {
		return 0
	}
	return body[0]
}
