package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"grfgp/client"
	"grfgp/internal/cli"
	"grfgp/internal/peer"
)

// socket is the file of the unix socket that --listen names; "": it names none.
func (f *serveFlags) socket() string {
	path, _ := strings.CutPrefix(f.listen, client.UnixScheme)
	if path == f.listen {
		return ""
	}
	return path
}

// isLocal reports whether only this machine can reach the address to listen on.
func (f *serveFlags) isLocal() bool {
	if f.socket() != "" {
		return true
	}
	host, _, _ := net.SplitHostPort(f.listen)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// open begins to listen.
func (f *serveFlags) open(ctx context.Context) (net.Listener, error) {
	if path := f.socket(); path != "" {
		return f.openSocket(ctx, path)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.listen)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, cli.Usagef("--listen %s: the port is in use; give another port, or 0 for a free one", f.listen)
	case err != nil:
		return nil, cli.Usagef("--listen %s: %v; give an address of this machine and a port up to 65535, as in 127.0.0.1:8080", f.listen, err)
	}
	return l, nil
}

// openSocket listens on a unix socket. One that a server left behind is replaced.
func (f *serveFlags) openSocket(ctx context.Context, path string) (net.Listener, error) {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, cli.Usagef("--listen %s: %v", f.listen, err)
	case info.Mode()&fs.ModeSocket == 0:
		return nil, cli.Usagef("--listen %s: there is a file that is no socket; name another", f.listen)
	default:
		if c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", path); err == nil {
			c.Close()
			return nil, cli.Usagef("--listen %s: the socket is in use; name another", f.listen)
		}
		if err := os.Remove(path); err != nil {
			return nil, cli.Usagef("--listen %s: the socket of an earlier server cannot be removed: %v", f.listen, err)
		}
	}
	l, err := listenPrivately(ctx, path)
	if err != nil {
		return nil, cli.Usagef("--listen %s: %v; name a file in a directory where you may write, in at most 100 characters", f.listen, err)
	}
	if err := os.Chmod(path, fs.FileMode(f.socketMode)); err != nil {
		l.Close()
		return nil, cli.Usagef("--listen %s: %v", f.listen, err)
	}
	return l, nil
}

// address is the URL of the server: the host that was given and the port that is used.
func (f *serveFlags) address(l net.Listener) string {
	if path := f.socket(); path != "" {
		if whole, err := filepath.Abs(path); err == nil {
			path = whole
		}
		return client.UnixScheme + path
	}
	host, _, _ := net.SplitHostPort(f.listen) // check has seen to it
	_, port, _ := net.SplitHostPort(l.Addr().String())
	scheme := "http://"
	if f.tlsCert != "" {
		scheme = "https://"
	}
	return scheme + net.JoinHostPort(cmp.Or(host, "0.0.0.0"), port) + f.basePath
}

// admit returns who needs no token where there are none: on a TCP port of this machine, the
// processes of the user who runs the server, and root. The mode of a unix socket says who
// can connect at all.
func (f *serveFlags) admit() func(local, remote net.Addr) bool {
	if f.goesOpen || f.socket() != "" || !f.isLocal() {
		return nil
	}
	return sameUser
}

// sameUser reports whether the other end of a connection is a process of the same user, or
// of root.
func sameUser(local, remote net.Addr) bool {
	here, ok := local.(*net.TCPAddr)
	there, also := remote.(*net.TCPAddr)
	if !ok || !also || !there.IP.IsLoopback() {
		return false
	}
	uid, err := peer.User(there.AddrPort(), here.AddrPort())
	return err == nil && (uid == os.Getuid() || uid == 0)
}

// usersKnown reports whether the system tells whose connections are.
func usersKnown(l net.Listener) bool {
	at, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return true
	}
	uid, err := peer.User(at.AddrPort(), netip.AddrPort{})
	return err == nil && uid == os.Getuid()
}

// secured returns a listener that speaks TLS, if there is a certificate.
func (f *serveFlags) secured(l net.Listener, a *app) (net.Listener, error) {
	if f.tlsCert == "" {
		return l, nil
	}
	pair := &keyPair{cert: f.tlsCert, key: f.tlsKey, failed: func(err error) {
		a.Talk.Say("warning: the new certificate cannot be used, and the old one stays: %v", err)
	}}
	if _, err := pair.current(nil); err != nil {
		return nil, cli.Usagef("--tls-cert %s, --tls-key %s: %v; give a certificate and its key in PEM files", f.tlsCert, f.tlsKey, err)
	}
	return tls.NewListener(l, &tls.Config{GetCertificate: pair.current, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}), nil
}
