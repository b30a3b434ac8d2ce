package main

import (
	"fmt"
	"net"
	"net/netip"
	"os/user"
	"path"
	"strconv"
	"strings"

	"grfgp/internal/cli"
	"grfgp/server/tokens"
)

// octal is a flag with the mode of a file.
type octal uint32

// Set takes a number in octal.
func (o *octal) Set(text string) error {
	v, err := strconv.ParseUint(text, 8, 32)
	if err != nil || v > 0o777 {
		return fmt.Errorf("give a mode such as 0600 or 0660")
	}
	*o = octal(v)
	return nil
}

func (o *octal) Type() string   { return "MODE" }
func (o *octal) String() string { return fmt.Sprintf("%04o", uint32(*o)) }

// people are the named tokens; nil: the place of their file is not known.
func (f *serveFlags) people() *tokens.File {
	if file := tokensOf(f.tokens, f.store); file != "" && !f.goesOpen {
		return tokens.Open(file)
	}
	return nil
}

// hasTokens reports whether requests need a token, as it is now.
func (f *serveFlags) hasTokens() (bool, error) {
	file := tokensOf(f.tokens, f.store)
	if file == "" {
		return f.tokenFile != "", nil
	}
	all, err := tokens.Open(file).Exists()
	return all || f.tokenFile != "", err
}

// checkAccess refuses contradictory flags that say who may use the server.
func (f *serveFlags) checkAccess() error {
	if path := f.socket(); path == "" {
		if _, _, err := net.SplitHostPort(f.listen); err != nil {
			return cli.Usagef("--listen %s: give an address and a port, as in 127.0.0.1:8080, or unix:FILE", f.listen)
		}
	}
	has, err := f.hasTokens()
	if err != nil {
		return tokenError(err)
	}
	switch {
	case !f.isLocal() && !f.remote:
		return cli.Usagef("--listen %s: other machines can reach this address; to allow that, give --allow-remote and tokens ('grfgp token "+
			"--help')",
			f.listen)
	case !f.isLocal() && f.goesOpen:
		return cli.Usagef("--open is for addresses that only this machine can reach; give people tokens ('grfgp token --help')")
	case !f.isLocal() && !has:
		return cli.Usagef("--allow-remote needs tokens: 'grfgp token add NAME --role ROLE' makes them, or --token-file FILE names one " +
			"without a name")
	case f.goesOpen && has:
		return cli.Usagef("--open and tokens contradict each other: leave --open out, or remove the file of tokens")
	case f.tokens != "" && !has:
		return cli.Usagef("--tokens %s: there is no such file; 'grfgp token add NAME --role ROLE --tokens %s' makes it", f.tokens, f.tokens)
	case (f.tlsCert == "") != (f.tlsKey == ""):
		return cli.Usagef("--tls-cert and --tls-key belong together: give both")
	case f.tlsCert != "" && f.socket() != "":
		return cli.Usagef("a unix socket needs no TLS: leave --tls-cert out")
	case len(f.proxies) > 0 && !has && !f.goesOpen:
		return cli.Usagef("--proxy needs tokens, because a proxy lets other people in: 'grfgp token add NAME --role ROLE' makes them; --open " +
			"goes without")
	}
	if err := f.checkBase(); err != nil {
		return err
	}
	return f.readProxies()
}

// checkBase completes the base path.
func (f *serveFlags) checkBase() error {
	given := f.basePath
	f.basePath = strings.TrimRight(given, "/")
	if f.basePath != "" && (path.Clean(f.basePath) != f.basePath || f.basePath[0] != '/' || strings.ContainsAny(f.basePath, "%?#\\ ")) {
		return cli.Usagef("--base-path %s: give a path such as /grfgp", given)
	}
	return nil
}

// readProxies reads the addresses of proxies.
func (f *serveFlags) readProxies() error {
	f.trusted, f.proxyPipe = nil, false
	for _, text := range f.proxies {
		one, err := netip.ParseAddr(text)
		net, bad := netip.ParsePrefix(text)
		switch {
		case text == "unix" && f.socket() != "":
			f.proxyPipe = true
		case err == nil:
			f.trusted = append(f.trusted, netip.PrefixFrom(one.Unmap().WithZone(""), one.Unmap().BitLen()))
		case bad == nil:
			f.trusted = append(f.trusted, net.Masked())
		default:
			return cli.Usagef("--proxy %s: give an address such as 10.0.0.7, a network such as 10.0.0.0/8, or unix where the server listens on a "+
				"unix socket", text)
		}
	}
	return nil
}

// guarded refuses a port that all users of this machine can use, where they cannot be told
// apart.
func (f *serveFlags) guarded(l net.Listener) error {
	has, err := f.hasTokens()
	if err != nil || has || f.admit() == nil || usersKnown(l) {
		return err
	}
	return cli.Usagef("this system does not tell which user connects to %s: make tokens with 'grfgp token add', listen on a unix socket with "+
		"--listen unix:FILE, or give --open to let every user of this machine in", f.listen)
}

// whoMay says who can use the server, for its first line.
func (f *serveFlags) whoMay() string {
	has, _ := f.hasTokens()
	switch {
	case has && !f.isLocal() && f.tlsCert == "" && len(f.proxies) == 0:
		return " to those who have a token; the traffic is not encrypted (see --tls-cert)"
	case has:
		return " to those who have a token"
	case f.goesOpen:
		return " to every user of this machine"
	case f.socket() != "":
		return fmt.Sprintf(" to those who may use the socket, of mode %v", &f.socketMode)
	}
	name := "you"
	if u, err := user.Current(); err == nil {
		name = "user " + u.Username
	}
	return fmt.Sprintf(" to %s only; 'grfgp token add' lets others in", name)
}
