package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"grfgp/server"
	"grfgp/store"
	"grfgp/study"
)

// remoteStudies are those of a server.
type remoteStudies struct {
	app   *app
	base  string // URL, without a slash at its end
	token token
	http  *http.Client
}

func (a *app) remoteStudies(place string, secret token) (*remoteStudies, error) {
	u, err := url.Parse(place)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, usagef("--store %s: the URL of a server is like http://127.0.0.1:8080; a token comes from --token-file", place)
	}
	if base, ok := strings.CutSuffix(strings.TrimRight(place, "/"), "/v1"); ok {
		return nil, usagef("--store %s: leave /v1 out, as in --store %s", place, base)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // the token is for this server alone
	return &remoteStudies{a, strings.TrimRight(u.String(), "/"), secret, client}, nil
}

func (r *remoteStudies) Close() error {
	r.http.CloseIdleConnections()
	return nil
}

// call is a request to the server.
type call struct {
	method, path string
	query        url.Values
	body         any    // sent as JSON; nil: none
	raw          []byte // sent as it is, in place of body
	kind         string // media type of raw
	key          string // Idempotency-Key
}

// Tries of a request that the server had no time for, or whose answer was lost.
const (
	tries     = 5
	firstWait = 200 * time.Millisecond
)

// do sends a request and reads the answer into v. What can be repeated without
// harm is tried again when the connection breaks; what the server was not ready
// for is tried until it is.
func (r *remoteStudies) do(ctx context.Context, c call, v any) (status int, err error) {
	wait, waiting := firstWait, (*stage)(nil)
	for try := 1; ; {
		status, err = r.once(ctx, c, func(resp *http.Response) error {
			if v == nil {
				return nil
			}
			return json.NewDecoder(resp.Body).Decode(v)
		})
		var p *remoteProblem
		switch {
		case errors.As(err, &p) && p.kind() == "loading":
			if waiting == nil {
				waiting = r.app.talk.Stage("the server is getting ready")
			}
			wait = p.wait
		case errors.As(err, &p) && p.kind() == "busy", errors.Is(err, errLost) && c.repeatable():
			if try++; try > tries {
				return status, err
			}
			wait *= 2
		default:
			if waiting != nil && err == nil {
				waiting.Done("ready")
			}
			return status, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return status, ctx.Err()
		}
	}
}

// repeatable reports whether sending a request twice is as good as once.
func (c call) repeatable() bool { return c.method != http.MethodPost || c.key != "" }

var (
	// errUnreachable says that there is no server.
	errUnreachable = errors.New("the server cannot be reached")
	// errLost says that an answer did not come, or not in full.
	errLost = errors.New("the connection to the server was lost")
)

// once sends a request and lets take read an answer that says success.
func (r *remoteStudies) once(ctx context.Context, c call, take func(*http.Response) error) (int, error) {
	raw, kind := c.raw, c.kind
	if c.body != nil {
		var err error
		if raw, err = json.Marshal(c.body); err != nil {
			return 0, err
		}
		kind = "application/json"
	}
	address := r.base + c.path
	if len(c.query) > 0 {
		address += "?" + c.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, c.method, address, bytes.NewReader(raw))
	if err != nil {
		return 0, err
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if c.key != "" {
		req.Header.Set("Idempotency-Key", c.key)
	}
	if r.token.text != "" {
		req.Header.Set("Authorization", "Bearer "+r.token.text)
	}
	resp, err := r.http.Do(req)
	if err != nil {
		return 0, r.unreachable(ctx, err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		return resp.StatusCode, r.unauthorized()
	case resp.StatusCode/100 != 2:
		return resp.StatusCode, readProblem(resp)
	}
	if err := take(resp); err != nil {
		return resp.StatusCode, r.unreachable(ctx, err)
	}
	return resp.StatusCode, nil
}

// unauthorized says what is wrong with the token.
func (r *remoteStudies) unauthorized() error {
	if r.token.text == "" {
		return &exitError{exitUnreachable, fmt.Errorf("%s needs a token: give --token-file FILE, or name the file in %s", r.base, tokenEnv)}
	}
	return &exitError{exitUnreachable, fmt.Errorf("the token in %s is not that of %s; ask whoever runs the server for it", r.token.file, r.base)}
}

func (r *remoteStudies) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, http.ErrSchemeMismatch) { // no other try would do better
		return &exitError{exitUnreachable, fmt.Errorf("%s speaks http, not https; give --store http://%s", r.base, strings.TrimPrefix(r.base, "https://"))}
	}
	var inner *url.Error
	if errors.As(err, &inner) {
		err = inner.Err
	}
	lost := errLost
	var dialled *net.OpError
	if errors.As(err, &dialled) && dialled.Op == "dial" {
		lost = errUnreachable
	}
	return &exitError{exitUnreachable, fmt.Errorf("%w: %s: %w; is 'grfgp serve' running there?", lost, r.base, err)}
}

// remoteProblem is what a server said was wrong.
type remoteProblem struct {
	Type   string `json:"type"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	wait   time.Duration
}

// readProblem reads an answer that says what is wrong.
func readProblem(resp *http.Response) error {
	p := &remoteProblem{Status: resp.StatusCode}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(p); kind != "application/problem+json" || err != nil {
		return &exitError{exitUnreachable, fmt.Errorf("%w: it answers %s, and not as 'grfgp serve' does", errUnreachable, resp.Status)}
	}
	seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
	p.wait = time.Duration(max(1, seconds)) * time.Second
	return p
}

func (p *remoteProblem) kind() string { return strings.TrimPrefix(p.Type, "urn:grfgp:problem:") }

func (p *remoteProblem) Error() string { return p.Detail }

// Unwrap returns the error that a study of this process would have given, so that
// exit codes are the same.
func (p *remoteProblem) Unwrap() error {
	switch p.kind() {
	case "conflict", "no-model":
		return study.ErrConflict
	case "not-finite":
		return study.ErrNotFinite
	case "unknown-node":
		return study.ErrUnknownNode
	case "bad-data":
		return study.ErrCorrupt
	case "not-found":
		return study.ErrNotFound
	case "full":
		return store.ErrFull
	case "cross-site", "wrong-host", "read-only", "busy", "stopping":
		return &exitError{exitUnreachable, errors.New(p.Detail)}
	}
	if p.Status < 500 {
		return study.ErrInvalid
	}
	return nil
}

// onceOnly returns a key under which a request may be repeated.
func onceOnly(key string) string { return cmp.Or(key, rand.Text()) }

func by(who string) url.Values {
	if who == "" {
		return nil
	}
	return url.Values{"by": {who}}
}

func (r *remoteStudies) Create(ctx context.Context, s study.Settings, packed []byte, who string) (bool, error) {
	s.Graph = store.GraphID(packed)
	c := call{method: http.MethodPost, path: "/v1/studies", query: by(who), body: s}
	status, err := r.do(ctx, c, nil)
	var p *remoteProblem
	if errors.As(err, &p) && p.kind() == "not-found" { // the graph is not there yet
		up := call{method: http.MethodPost, path: "/v1/graphs", raw: packed, kind: server.NetworkType}
		if _, err := r.do(ctx, up, nil); err != nil {
			return false, err
		}
		status, err = r.do(ctx, c, nil)
	}
	return status == http.StatusCreated, err
}

// remoteView is what a server shows of a study.
type remoteView struct {
	studySummary
	Seq      int64          `json:"seq"`
	Settings study.Settings `json:"settings"`
}

func (v *remoteView) summary() studySummary {
	s := v.studySummary
	s.Events = v.Seq
	if s.Problem == "" {
		s.Goal = v.Settings.Goal.String()
	}
	return s
}

func (r *remoteStudies) List(ctx context.Context) ([]studySummary, error) {
	var list struct {
		Studies []remoteView `json:"studies"`
	}
	if _, err := r.do(ctx, call{method: http.MethodGet, path: "/v1/studies"}, &list); err != nil {
		return nil, err
	}
	all := []studySummary{}
	for _, v := range list.Studies {
		all = append(all, v.summary())
	}
	return all, nil
}

func (r *remoteStudies) Study(ctx context.Context, name string) (sharedStudy, error) {
	s := &remoteStudy{remoteStudies: r, path: "/v1/studies/" + url.PathEscape(name)}
	view, err := s.view(ctx)
	if errors.Is(err, study.ErrNotFound) {
		return nil, usagef("there is no study %q on this server; 'grfgp study list' lists them", name)
	}
	s.settings = view.Settings
	return s, err
}

func (r *remoteStudies) Import(ctx context.Context, in io.Reader, name string) (string, error) {
	raw, err := io.ReadAll(in)
	if err != nil {
		return "", err
	}
	c := call{method: http.MethodPost, path: "/v1/imports", raw: raw, kind: "application/x-ndjson"}
	if name != "" {
		c.query = url.Values{"name": {name}}
	}
	var view remoteView
	_, err = r.do(ctx, c, &view)
	return view.Name, err
}
