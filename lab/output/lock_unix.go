//go:build unix

package output

import (
	"errors"
	"os"
	"syscall"
)

// lockFile locks an open file until it is closed or the process ends. It returns
// ErrInUse if another process holds the lock.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrInUse
	}
	return err
}
