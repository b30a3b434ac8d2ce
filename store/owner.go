package store

import (
	"fmt"
	"os"
	"strings"
)

// self names this process for people: those who find a store held. url is where
// it answers for the store, if it does.
func self(url string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	process := fmt.Sprintf("process %d on %s", os.Getpid(), host)
	if url == "" {
		return process
	}
	return fmt.Sprintf("the server %s, %s", url, process)
}

// heldBy is the error of a store that somebody else, as self names it, owns.
func heldBy(where, who string) error {
	next := "try again when that has ended"
	if _, server, ok := strings.Cut(who, "the server "); ok {
		url, _, _ := strings.Cut(server, ", ")
		next = "give " + url + " as the store"
	}
	return fmt.Errorf("%w: %s is used by %s; %s", ErrHeld, where, who, next)
}
