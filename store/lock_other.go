//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package store

import (
	"errors"
	"os"
)

var errLocked = errors.New("locked")

// lockFile returns nil: SQLite's exclusive lock is used.
func lockFile(string) (*os.File, error) { return nil, nil }

// lockToRead returns nil: there is no lock.
func lockToRead(string) (*os.File, error) { return nil, nil }

func isReadOnlyDisk(error) bool { return false }
