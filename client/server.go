package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"grfgp/study"
)

// Options are the options of New. The zero value is a client without a token.
type Options struct {
	// Token is sent with every request, to this server only; empty: none.
	Token string
	// Transport sends requests; nil: http.DefaultTransport.
	Transport http.RoundTripper
	// Device is where Verify computes suggestions again, as in grfgp.Spec; empty: on the processor.
	Device string
	// Progress reports long work; zero: to nobody.
	Progress Progress
}

// Client implements [Studies] on a server. It is safe for concurrent use.
type Client struct {
	base string // URL, without a slash at its end
	at   string // what requests begin with: base, unless it is a unix socket
	opts Options
	http *http.Client
}

// UnixScheme is what the address of a server begins with that listens on a unix socket, as
// in unix:/run/grfgp/grfgp.sock.
const UnixScheme = "unix:"

// New returns a client of the server at a URL such as http://127.0.0.1:8080, or at a unix
// socket, as in unix:/run/grfgp/grfgp.sock. It sends nothing yet. The error is a *URLError.
func New(address string, opts Options) (*Client, error) {
	if path, ok := strings.CutPrefix(address, UnixScheme); ok {
		return newUnix(address, path, opts)
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, &URLError{URL: address, Reason: "the URL of a server has a scheme, a host and a port, as in http://127.0.0.1:8080"}
	}
	if base, ok := strings.CutSuffix(strings.TrimRight(address, "/"), "/v1"); ok {
		return nil, &URLError{address, "leave /v1 out", base}
	}
	h := &http.Client{
		Transport:     opts.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the token is for this server alone
	}
	base := strings.TrimRight(u.String(), "/")
	return &Client{base, base, opts, h}, nil
}

// newUnix returns a client of a unix socket.
func newUnix(address, path string, opts Options) (*Client, error) {
	if path == "" || strings.HasPrefix(path, "//") {
		return nil, &URLError{URL: address, Reason: "the address of a unix socket is unix: and the name of its file, as in " +
			"unix:/run/grfgp/grfgp.sock"}
	}
	if opts.Transport == nil {
		opts.Transport = &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "unix", path)
			},
			MaxIdleConnsPerHost: 64, IdleConnTimeout: 90 * time.Second,
		}
	}
	h := &http.Client{Transport: opts.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Client{address, "http://localhost", opts, h}, nil
}

// URL returns the URL of the server.
func (c *Client) URL() string { return c.base }

// Close closes idle connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// call is a request to the server.
type call struct {
	method, path string
	query        url.Values
	body         any    // sent as JSON; nil: none
	raw          []byte // sent as it is, in place of body
	mediaType    string // of raw
	key          string // Idempotency-Key
	prefer       string // the header Prefer
}

// repeatable reports whether sending a request twice has the effect of sending it
// once.
func (c call) repeatable() bool { return c.method != http.MethodPost || c.key != "" }

// Attempts at a request that the server had no time for, or whose answer was lost.
// The pause doubles each time.
const (
	attempts   = 5
	firstPause = 200 * time.Millisecond
)

// do sends a request and decodes the answer into v, unless v is nil. Repeatable
// requests are sent again when the connection breaks; all are when the server is
// busy, and, without limit, while it is loading.
func (c *Client) do(ctx context.Context, req call, v any) (status int, err error) {
	pause, ready := firstPause, (func())(nil)
	for attempt := 1; ; {
		status, err = c.once(ctx, req, func(resp *http.Response) error {
			if v == nil {
				return nil
			}
			return json.NewDecoder(resp.Body).Decode(v)
		})
		var p *Problem
		isProblem := errors.As(err, &p)
		switch {
		case isProblem && p.Kind == KindLoading:
			if ready == nil && c.opts.Progress.Wait != nil {
				ready = c.opts.Progress.Wait()
			}
			pause = p.RetryAfter
		case isProblem && p.Kind == KindBusy, errors.Is(err, ErrLost) && req.repeatable():
			if attempt++; attempt > attempts {
				return status, err
			}
			pause *= 2
		default:
			if ready != nil && err == nil {
				ready()
			}
			return status, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return status, ctx.Err()
		}
	}
}

// once sends a request and lets take read an answer that says success.
func (c *Client) once(ctx context.Context, r call, take func(*http.Response) error) (int, error) {
	raw, mediaType := r.raw, r.mediaType
	if r.body != nil {
		var err error
		if raw, err = json.Marshal(r.body); err != nil {
			return 0, err
		}
		mediaType = "application/json"
	}
	address := c.at + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, bytes.NewReader(raw))
	if err != nil {
		return 0, err
	}
	if mediaType != "" {
		req.Header.Set("Content-Type", mediaType)
	}
	if r.key != "" {
		req.Header.Set("Idempotency-Key", r.key)
	}
	if r.prefer != "" {
		req.Header.Set("Prefer", r.prefer)
	}
	if c.opts.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.opts.Token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, c.connectionError(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return resp.StatusCode, c.readProblem(resp)
	}
	if err := take(resp); err != nil {
		return resp.StatusCode, c.connectionError(ctx, err)
	}
	return resp.StatusCode, nil
}

// connectionError says which kind of failure err is.
func (c *Client) connectionError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		return &ConnectionError{c.base, ErrScheme, err}
	}
	var inner *url.Error
	if errors.As(err, &inner) {
		err = inner.Err
	}
	kind := ErrLost
	var dialled *net.OpError
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &dialled) && dialled.Op == "dial" || errors.As(err, &untrusted) {
		kind = ErrUnreachable
	}
	return &ConnectionError{c.base, kind, err}
}

// problemType is what the types of a server's problems begin with.
const problemType = "urn:grfgp:problem:"

// kindOf returns the kind of a problem of a type.
func kindOf(problem string) string { return strings.TrimPrefix(problem, problemType) }

// readProblem reads an error answer.
func (c *Client) readProblem(resp *http.Response) error {
	var body struct {
		Type   string `json:"type"`
		Detail string `json:"detail"`
	}
	mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&body); mediaType != "application/problem+json" || err != nil {
		return &ConnectionError{c.base, ErrForeign, errors.New(resp.Status)}
	}
	seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
	return &Problem{
		Kind: kindOf(body.Type), Status: resp.StatusCode, Detail: body.Detail,
		RetryAfter: time.Duration(max(1, seconds)) * time.Second,
	}
}

// idempotencyKey returns the key under which a request may be repeated.
func idempotencyKey(key string) string { return cmp.Or(key, rand.Text()) }

// networkType is the media type of a packed graph.
const networkType = "application/vnd.grfgp.network"

// Create implements [Studies]. The graph is sent only if the server does not have
// it yet.
func (c *Client) Create(ctx context.Context, s study.Settings, packed []byte, by string) (bool, error) {
	sum := sha256.Sum256(packed) // a server's id of a graph
	s.Graph = hex.EncodeToString(sum[:])
	create := call{method: http.MethodPost, path: "/v1/studies", body: s}
	if by != "" {
		create.query = url.Values{"by": {by}}
	}
	status, err := c.do(ctx, create, nil)
	if errors.Is(err, study.ErrNotFound) { // of the graph
		upload := call{method: http.MethodPost, path: "/v1/graphs", raw: packed, mediaType: networkType}
		if _, err := c.do(ctx, upload, nil); err != nil {
			return false, err
		}
		status, err = c.do(ctx, create, nil)
	}
	return status == http.StatusCreated, err
}

// view is a study as the server shows it.
type view struct {
	Summary
	Seq      int64          `json:"seq"`
	Settings study.Settings `json:"settings"`
	Engine   struct {
		Error string `json:"error"`
	} `json:"engine"`
}

func (v *view) summary() Summary {
	s := v.Summary
	s.Events, s.Model = v.Seq, v.Engine.Error
	if s.Problem == "" {
		s.Goal = v.Settings.Goal.String()
	}
	return s
}

// List implements [Studies].
func (c *Client) List(ctx context.Context, archived bool) ([]Summary, error) {
	var list struct {
		Studies []view `json:"studies"`
	}
	req := call{method: http.MethodGet, path: "/v1/studies"}
	if archived {
		req.query = url.Values{"archived": {"yes"}}
	}
	if _, err := c.do(ctx, req, &list); err != nil {
		return nil, err
	}
	all := []Summary{}
	for _, v := range list.Studies {
		all = append(all, v.summary())
	}
	return all, nil
}

// Study implements [Studies].
func (c *Client) Study(ctx context.Context, name string) (Study, error) {
	s := &remoteStudy{Client: c, path: "/v1/studies/" + url.PathEscape(name)}
	v, err := s.view(ctx)
	if err != nil {
		return nil, err
	}
	s.settings = v.Settings
	return s, nil
}

// Import implements [Studies].
func (c *Client) Import(ctx context.Context, r io.Reader, name string) (string, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return "", err
	}
	req := call{method: http.MethodPost, path: "/v1/imports", raw: raw, mediaType: "application/x-ndjson"}
	if name != "" {
		req.query = url.Values{"name": {name}}
	}
	var v view
	_, err = c.do(ctx, req, &v)
	return v.Name, err
}

// Delete implements [Studies].
func (c *Client) Delete(ctx context.Context, name, by string) error {
	req := call{method: http.MethodDelete, path: "/v1/studies/" + url.PathEscape(name), query: url.Values{"confirm": {name}, "by": {by}}}
	_, err := c.do(ctx, req, nil)
	return err
}

// Graphs implements [Studies].
func (c *Client) Graphs(ctx context.Context) ([]Graph, error) {
	var list struct {
		Graphs []Graph `json:"graphs"`
	}
	_, err := c.do(ctx, call{method: http.MethodGet, path: "/v1/graphs"}, &list)
	return list.Graphs, err
}

// DeleteGraph implements [Studies].
func (c *Client) DeleteGraph(ctx context.Context, id string) error {
	_, err := c.do(ctx, call{method: http.MethodDelete, path: "/v1/graphs/" + url.PathEscape(id)}, nil)
	return err
}
