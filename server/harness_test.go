package server_test

import (
	"encoding/json"
	"testing"
	"time"

	"grfgp/server"
	"grfgp/server/servertest"
	"grfgp/server/tokens"
)

// host is a server under test, with what only tests of this package ask of it.
type host struct{ *servertest.Host }

// newHost starts a server that is as patient as tests are, for machines are busy.
func newHost(t testing.TB, change ...func(*server.Options)) *host {
	t.Helper()
	patient := func(o *server.Options) {
		o.Limits.Patience, o.Limits.BodyTime = servertest.Patience, servertest.Patience
	}
	return &host{servertest.New(t, append([]func(*server.Options){patient}, change...)...)}
}

func roleHost(t testing.TB, change ...func(*server.Options)) (h *host, file string, secrets map[tokens.Role]string) {
	t.Helper()
	all, file, secrets := servertest.NewWithRoles(t, change...)
	return &host{all}, file, secrets
}

// Names of servertest that almost every test here uses.
type (
	answer         = servertest.Answer
	with           = servertest.With
	simple         = servertest.Simple
	simpleSnapshot = servertest.SimpleSnapshot
	formPart       = servertest.File
)

var (
	five       = servertest.Five
	ring       = servertest.Ring
	form       = servertest.Form
	newSimple  = servertest.NewSimple
	openStore  = servertest.OpenStore
	eventually = servertest.Eventually
)

func newClock() *servertest.Clock {
	return servertest.NewClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
}

type problem struct {
	Type, Title, Detail string
	Status              int
	Errors              []struct{ Pointer, Detail string }
}

// refused sends a request that a problem of the kind answers.
func (s *host) refused(kind string, status int, method, path string, body any, headers ...with) problem {
	s.T.Helper()
	a := s.Do(method, path, body, headers...)
	p := s.problem(a)
	if p.Type != "urn:grfgp:problem:"+kind || a.Status != status || p.Status != status {
		s.T.Errorf("%s %s: %d %s; want %d %s", method, path, a.Status, a.Body, status, kind)
	}
	return p
}

func (s *host) problem(a answer) (p problem) {
	s.T.Helper()
	if err := json.Unmarshal(a.Body, &p); err != nil || a.Header.Get("Content-Type") != "application/problem+json" || p.Title == "" ||
		p.Detail == "" {
		s.T.Errorf("no problem: %d %q %s (%v)", a.Status, a.Header.Get("Content-Type"), a.Body, err)
	}
	return p
}
