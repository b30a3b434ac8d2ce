package server

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"grfgp/server/tokens"
)

// caller is who sends a request.
type caller struct {
	name string // of the token; empty: it has none
	role tokens.Role
}

// callerKey is the key of the caller in the context of a request.
type callerKey struct{}

// identify returns who sends a request, or the problem that refuses it.
func (s *Server) identify(r *http.Request) (caller, error) {
	secret, shown := bearer(r)
	needed, err := s.needsToken()
	switch {
	case err != nil:
		s.log.Error("the tokens cannot be read: all requests are refused", "error", err)
		return caller{}, unavailable.because("the server cannot read its tokens; see its log").after(10)
	case !needed && forwarded(r.Header) && !s.opts.Open:
		s.log.Warn("a request through a proxy, where no token guards", "method", r.Method, "path", r.URL.Path, "from", r.RemoteAddr)
		return caller{}, unknownProxy.because("the request came through a proxy, and no token guards this server; whoever runs it can give " +
			"out tokens")
	case !needed && foreignPage(r):
		return caller{}, crossSite.because("requests from pages of other sites are refused")
	case !needed && (s.opts.Admit == nil || s.admitted(r)):
		return caller{role: tokens.Run}, nil
	case !needed:
		s.log.Warn("a request of somebody else, without a token", "method", r.Method, "path", r.URL.Path, "from", r.RemoteAddr)
		return caller{}, unauthorized.because("only the user who runs this server is let in without a token; whoever runs it can give out tokens")
	case !shown:
		s.log.Info("a request without a token", "method", r.Method, "path", r.URL.Path, "from", s.address(r))
		return caller{}, unauthorized.because("send your token, as in: Authorization: Bearer TOKEN")
	}
	return s.checkToken(r, secret)
}

// needsToken reports whether requests need a token.
func (s *Server) needsToken() (bool, error) {
	if s.opts.Tokens != nil {
		if there, err := s.opts.Tokens.Exists(); there || err != nil {
			return true, err
		}
	}
	return s.opts.Token != "" || s.opts.TokenNeeded, nil
}

// checkToken returns whose a secret is. Wrong ones are logged and slowed.
func (s *Server) checkToken(r *http.Request, secret string) (caller, error) {
	from, now := s.address(r), s.opts.Now()
	who, ok, err := s.owner(secret)
	if err != nil {
		return caller{}, err
	}
	if ok && s.attempts.good(from, who.name, now) {
		return who, nil
	}
	wait, tell := s.attempts.wrong(from, !ok, now)
	if tell {
		s.log.Warn("a wrong token", "method", r.Method, "path", r.URL.Path, "from", from, "wait", wait)
	}
	if wait > 0 {
		return caller{}, slowed.because("too many wrong tokens came from your address; try again in %d s", seconds(wait)).after(seconds(wait))
	}
	return caller{}, unauthorized.because("the server does not know this token")
}

// owner returns whose a secret is.
func (s *Server) owner(secret string) (caller, bool, error) {
	if s.opts.Token != "" {
		a, b := sha256.Sum256([]byte(secret)), sha256.Sum256([]byte(s.opts.Token))
		if subtle.ConstantTimeCompare(a[:], b[:]) == 1 {
			return caller{role: tokens.Run}, true, nil
		}
	}
	if s.opts.Tokens == nil {
		return caller{}, false, nil
	}
	t, ok, err := s.opts.Tokens.Find(secret)
	if err != nil {
		return caller{}, false, unavailable.because("the server cannot read its tokens; see its log").after(10)
	}
	return caller{t.Name, t.Role}, ok, nil
}

// stillAllowed reports whether the sender of a request that lasts may go on reading: its
// token may have been removed meanwhile.
func (s *Server) stillAllowed(r *http.Request) bool {
	needed, err := s.needsToken()
	if err != nil || !needed {
		return err == nil
	}
	secret, _ := bearer(r)
	who, ok, err := s.owner(secret)
	return ok && err == nil && who.role.Allows(tokens.Look)
}

// foreignPage reports whether a page of another site loads something, without leaving that
// page. A request that changes something was looked at before; a page that only reads can
// do no harm where it would need a token.
func foreignPage(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return (site == "cross-site" || site == "same-site") && r.Header.Get("Sec-Fetch-Mode") != "navigate"
}

// bearer returns the token that a request shows.
func bearer(r *http.Request) (secret string, ok bool) {
	scheme, secret, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimLeft(secret, " "), ok && strings.EqualFold(scheme, "Bearer")
}

// callerOf returns who sends a request that was let in.
func callerOf(r *http.Request) caller {
	who, _ := r.Context().Value(callerKey{}).(caller)
	return who
}

// by returns whom the log names for a request: the name of the token, and otherwise the
// one that the request claims.
func by(r *http.Request, claimed string) string {
	if name := callerOf(r).name; name != "" {
		return name
	}
	return claimed
}

// admittedKey is the key of the function that says whether a connection needs no token.
type admittedKey struct{}

// connected prepares the question whether a connection needs no token, to be asked once.
func (s *Server) connected(ctx context.Context, c net.Conn) context.Context {
	if s.opts.Admit == nil {
		return ctx
	}
	return context.WithValue(ctx, admittedKey{}, sync.OnceValue(func() bool { return s.opts.Admit(c.LocalAddr(), c.RemoteAddr()) }))
}

// admitted reports whether a request needs no token where there are none.
func (s *Server) admitted(r *http.Request) bool {
	if known, ok := r.Context().Value(admittedKey{}).(func() bool); ok {
		return known()
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && local != nil && s.opts.Admit(local, net.TCPAddrFromAddrPort(remote))
}
