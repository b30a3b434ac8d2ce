package server

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
)

// contentPolicy lets the page load its own files and nothing else.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
	"font-src 'self'; " +
	"worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guard wraps all routes. It counts and logs every request, sets security headers,
// and refuses requests with a foreign Host (DNS rebinding) or from other sites.
func (s *Server) guard(next http.Handler) http.Handler {
	origins := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = s.withoutBase(s.behindProxy(r))
		out := &answer{ResponseWriter: w, control: http.NewResponseController(w), timeout: s.opts.Limits.IdleTime, status: http.StatusOK,
			takesGzip: takesGzip(r)}
		began := time.Now()
		defer func() {
			v := recover()
			if v != nil && v != http.ErrAbortHandler {
				s.log.Error("panic in a handler", "route", r.Pattern, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
				if !out.wrote {
					internal.because("see the log of the server").write(out)
					v = nil
				}
			}
			if v == nil {
				out.end()
			}
			s.finish(r, out, time.Since(began))
			if v != nil {
				panic(http.ErrAbortHandler) // the client sees that the response is incomplete
			}
		}()
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		h.Set("Cache-Control", "no-store")
		h.Set(versionHeader, pageVersion())
		switch {
		case s.opts.BasePath != "" && r.URL.Path == s.opts.BasePath:
			h.Set("Location", s.opts.BasePath+"/") // addresses of the page are relative
			out.WriteHeader(http.StatusPermanentRedirect)
		case !s.answersTo(r.Host):
			wrongHost.because("this server does not answer to the name %q; whoever runs it can allow that host name", r.Host).write(out)
		case origins.Check(r) != nil:
			crossSite.because("requests from pages of other sites are refused").write(out)
		default:
			next.ServeHTTP(out, r)
		}
	})
}

// answersTo reports whether a Host header is accepted. A site that rebinds its own
// name to this machine keeps that name in the header, so IP addresses are safe.
func (s *Server) answersTo(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if name == "localhost" || net.ParseIP(name) != nil {
		return true
	}
	return slices.ContainsFunc(s.opts.Hosts, func(h string) bool { return h == "*" || strings.EqualFold(h, name) })
}

// endpoint returns the handler of a route, with errors as problem documents.
func (s *Server) endpoint(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.run(rt, w, r); err != nil {
			if out, ok := w.(*answer); ok && out.wrote {
				s.log.Debug("response aborted", "route", rt.path, "error", err)
				panic(http.ErrAbortHandler)
			}
			s.problemOf(r, err).write(w)
		}
	})
}

func (s *Server) run(rt route, w http.ResponseWriter, r *http.Request) error {
	if r.Body != http.NoBody {
		// Also for bodies that no handler reads: they must not hold the connection.
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.opts.Limits.BodyTime))
	}
	if rt.public {
		return rt.handle(s, w, r)
	}
	who, err := s.identify(r)
	if err != nil {
		return err
	}
	if needed := rt.needs(); !who.role.Allows(needed) {
		s.log.Warn("not allowed by the role", "method", r.Method, "path", r.URL.Path, "by", who.name, "role", string(who.role), "from",
			r.RemoteAddr)
		return wrongRole.because("the token of %s has the role %s; this needs the role %s", who.name, who.role, needed)
	}
	if out, ok := w.(*answer); ok {
		out.by = who.name
	}
	r = r.WithContext(context.WithValue(r.Context(), callerKey{}, who))
	if s.opts.ReadOnly && r.Method != http.MethodGet && r.Method != http.MethodHead {
		return readOnly.because("the server is read-only")
	}
	leave, err := s.enter(gateOf(rt, r))
	if err != nil {
		return err
	}
	defer leave()
	return rt.handle(s, w, r)
}

// finish counts and logs a request. Headers and queries are not logged.
func (s *Server) finish(r *http.Request, out *answer, took time.Duration) {
	pattern := r.Pattern
	if pattern == "" {
		pattern = "refused"
	}
	s.metrics.request(pattern, r.Method, out.status, took)
	level := slog.LevelInfo
	switch {
	case out.status >= 500 && out.status != http.StatusServiceUnavailable:
		level = slog.LevelError
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		level = slog.LevelDebug
	}
	attributes := []any{"method", r.Method, "path", r.URL.Path, "status", out.status, "bytes", out.size, "took", took, "from", r.RemoteAddr}
	if out.by != "" {
		attributes = append(attributes, "by", out.by)
	}
	s.log.Log(r.Context(), level, "request", attributes...)
}

// answer is a ResponseWriter that records what was sent, limits the time that the
// client may take to read each chunk, and compresses what is worth it.
type answer struct {
	http.ResponseWriter
	control   *http.ResponseController
	timeout   time.Duration
	status    int
	size      int64 // bytes on the way
	wrote     bool
	by        string // name of the token; empty: none
	takesGzip bool
	held      bool         // the head is sent with the first bytes of the body, which decide on compression
	zip       *gzip.Writer // nil: the body is sent as it is
}

func (a *answer) WriteHeader(status int) {
	if !a.wrote {
		a.status, a.wrote = status, true
		if a.mayZip() {
			a.held = true
			return
		}
	}
	a.control.SetWriteDeadline(time.Now().Add(a.timeout))
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (n int, err error) {
	if !a.wrote || a.held {
		a.begin(len(p))
	}
	if a.zip != nil {
		return a.zip.Write(p)
	}
	return a.writeRaw(p)
}

// begin sends the head, and decides by the size of the first part of the body whether it is compressed.
func (a *answer) begin(size int) {
	a.wrote, a.held = true, false
	if a.mayZip() {
		a.Header().Add("Vary", "Accept-Encoding")
		if whole, err := strconv.Atoi(a.Header().Get("Content-Length")); err == nil {
			size = whole
		}
		if size >= leastZipped {
			a.beginZip()
		}
	}
	a.control.SetWriteDeadline(time.Now().Add(a.timeout))
	a.ResponseWriter.WriteHeader(a.status)
}

// end sends what is left of the answer.
func (a *answer) end() {
	if a.held {
		a.begin(0)
	}
	if a.zip != nil {
		a.zip.Close() // an error means that the client went away
	}
}

// chunk is the number of bytes that a client must read within Limits.IdleTime.
const chunk = 64 << 10

func (a *answer) writeRaw(p []byte) (n int, err error) {
	for {
		a.control.SetWriteDeadline(time.Now().Add(a.timeout))
		m, err := a.ResponseWriter.Write(p[n:min(n+chunk, len(p))])
		n += m
		a.size += int64(m)
		if err != nil || n == len(p) {
			return n, err
		}
	}
}

// Unwrap supports http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
