package store

import (
	"fmt"
	"os"
	"strings"
)

// self describes this process, for the error of another that finds the store held.
// url is the address of its server, if it is one.
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

// heldBy is the error of a store that another process, as self describes it, owns.
func heldBy(where, who string) error {
	next := "try again when that process has ended"
	if _, server, ok := strings.Cut(who, "the server "); ok {
		url, _, _ := strings.Cut(server, ", ")
		next = "give " + url + " as the store"
	}
	return fmt.Errorf("%w: %s is used by %s; %s", ErrHeld, where, who, next)
}
