package server

import (
	"net/http"
	"net/netip"
	"strings"
)

// forwarded reports whether a request came through a proxy that says so.
func forwarded(h http.Header) bool {
	for name := range h {
		switch {
		case name == "Forwarded", name == "Via", name == "X-Real-Ip", name == "Cf-Connecting-Ip", strings.HasPrefix(name, "X-Forwarded-"):
			return true
		}
	}
	return false
}

// isProxy reports whether an address is that of a proxy that the server trusts.
func (s *Server) isProxy(ip netip.Addr) bool {
	for _, p := range s.opts.Proxies {
		if p.Contains(ip.Unmap().WithZone("")) {
			return true
		}
	}
	return false
}

// fromProxy reports whether a request comes directly from a proxy that the server trusts.
// A connection over a unix socket has no address.
func (s *Server) fromProxy(r *http.Request) bool {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return s.opts.ProxySocket
	}
	return s.isProxy(at.Addr())
}

// behindProxy takes the host that the client used, and its address, from the headers of a
// trusted proxy. Headers of others are not believed.
func (s *Server) behindProxy(r *http.Request) *http.Request {
	if !s.fromProxy(r) {
		return r
	}
	r2 := *r
	if host := last(r.Header, "X-Forwarded-Host"); host != "" {
		r2.Host = host
	}
	if client := s.client(r.Header); client != "" {
		r2.RemoteAddr = client
	}
	return &r2
}

// withoutBase removes the base path.
func (s *Server) withoutBase(r *http.Request) *http.Request {
	if s.opts.BasePath == "" || !strings.HasPrefix(r.URL.Path, s.opts.BasePath+"/") {
		return r
	}
	r2, u := *r, *r.URL
	u.Path, u.RawPath = strings.TrimPrefix(u.Path, s.opts.BasePath), strings.TrimPrefix(u.RawPath, s.opts.BasePath)
	r2.URL = &u
	return &r2
}

// client returns the last address of X-Forwarded-For that is no proxy's: those before it
// may be invented.
func (s *Server) client(h http.Header) string {
	hops := strings.Split(strings.Join(h.Values("X-Forwarded-For"), ","), ",")
	for k := len(hops) - 1; k >= 0; k-- {
		ip, err := netip.ParseAddr(strings.Trim(strings.TrimSpace(hops[k]), "[]"))
		if err != nil {
			return ""
		}
		if !s.isProxy(ip) || k == 0 {
			return netip.AddrPortFrom(ip, 0).String()
		}
	}
	return ""
}

// last returns the last value of a header that is a list.
func last(h http.Header, name string) string {
	values := h.Values(name)
	if len(values) == 0 {
		return ""
	}
	list := strings.Split(values[len(values)-1], ",")
	return strings.TrimSpace(list[len(list)-1])
}

// address returns where a request comes from, for the log and for wrong tokens.
func (s *Server) address(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return "local"
	}
	return neighbourhood(at.Addr())
}
