//go:build unix

package main

import (
	"errors"
	"os"
	"syscall"
)

// lockFile locks an open file until it is closed or the process ends, or says that
// another process has it.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}
