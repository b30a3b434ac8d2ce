//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package store

import (
	"errors"
	"os"
	"syscall"
)

// errLocked says that another process holds the lock of a file.
var errLocked = errors.New("locked")

// lockFile takes the lock of a file, whatever name it was opened by, and returns the file
// that holds it until it is closed; nil if there are no such locks here.
func lockFile(path string) (*os.File, error) { return lockAs(path, os.O_RDWR, syscall.LOCK_EX) }

// isReadOnlyDisk reports whether an error says that a disk is read-only.
func isReadOnlyDisk(err error) bool { return errors.Is(err, syscall.EROFS) }

// lockToRead is lockFile for a file that nobody writes: others may read it as well.
func lockToRead(path string) (*os.File, error) { return lockAs(path, os.O_RDONLY, syscall.LOCK_SH) }

func lockAs(path string, flag, how int) (*os.File, error) {
	file, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB); err != nil {
		file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errLocked
		}
		return nil, err
	}
	return file, nil
}
