//go:build !unix

package mmap

import (
	"io"
	"os"
)

// mapFile reads the file where there is no mapping.
func mapFile(f *os.File, size int64) (*File, error) {
	data := make([]byte, size)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, err
	}
	return &File{data: data}, nil
}
