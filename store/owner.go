package store

import (
	"fmt"
	"os"
)

// self names this process for people: those who find a store held.
func self() string {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	return fmt.Sprintf("process %d on %s", os.Getpid(), host)
}
