package main

import (
	"os"
	"strings"
	"testing"
)

// The shell completes names of studies of a server, and opens no file for that.
func TestCompleteStudies(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	store := d.store
	d.store = serveHere(t, "--store", store)
	for _, name := range []string{"pipes", "pumps", "valves"} {
		d.ok("create " + name + " --goal learn --edges " + d.edges)
	}
	complete := func(place string, words ...string) string {
		r := runLine(t, "", append([]string{"__complete", "study"},
			append(words[:len(words)-1:len(words)-1], "--store", place, words[len(words)-1])...)...)
		if r.code != exitOK {
			t.Errorf("%q: %+v", words, r)
		}
		return strings.Join(strings.Fields(r.out), " ")
	}
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"show", ""}, "pipes pumps valves :4"},
		{[]string{"ask", "pu"}, "pumps :4"},
		{[]string{"tell", "pipes", ""}, ":4"},
		{[]string{"create", ""}, ":0"},
	} {
		got := complete(d.store, c.words...)
		for got == ":1" { // no answer within the second that a shell waits: machines are busy
			got = complete(d.store, c.words...)
		}
		if got != c.want {
			t.Errorf("%q completes to %q, want %q", c.words, got, c.want)
		}
	}
	none := store + ".none"
	if got := complete(none, "show", ""); got != ":4" {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("completion made a store")
	}
	if got := complete("http://127.0.0.1:1", "show", ""); got != ":1" {
		t.Errorf("without a server: %q", got)
	}
}
