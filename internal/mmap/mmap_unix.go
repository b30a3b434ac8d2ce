//go:build unix

package mmap

import (
	"fmt"
	"os"
	"syscall"
)

func mapFile(f *os.File, size int64) (*File, error) {
	data, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping %s into memory: %w", f.Name(), err)
	}
	return &File{data, func() error { return syscall.Munmap(data) }}, nil
}
