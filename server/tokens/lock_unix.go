//go:build unix

package tokens

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lock waits for other changes of the file to end. It locks the folder, because the file
// itself is replaced.
func lock(path string) (unlock func(), err error) {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX); err != nil {
		dir.Close()
		return nil, fmt.Errorf("locking %s: %w", dir.Name(), err)
	}
	return func() { dir.Close() }, nil
}

// owner is who a file belongs to.
type owner struct {
	uid, gid int
	other    bool // than this process
}

// ownerOf returns who the file of tokens belongs to, or, where there is none, its folder:
// the user of the server, if root adds tokens for it.
func ownerOf(path string) owner {
	info, err := os.Stat(path)
	if err != nil {
		info, err = os.Stat(filepath.Dir(path))
	}
	if err != nil || os.Geteuid() != 0 {
		return owner{}
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return owner{}
	}
	return owner{int(s.Uid), int(s.Gid), s.Uid != 0}
}

func (o owner) give(path string) error {
	if !o.other {
		return nil
	}
	return os.Chown(path, o.uid, o.gid)
}
