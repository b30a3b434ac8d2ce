// Package mmap maps files into memory for reading, so that a large file is
// usable at once and its pages are shared between processes.
package mmap

import (
	"fmt"
	"os"
)

// File is the content of a file in memory.
type File struct {
	data  []byte
	close func() error
}

// Open maps a regular file. The file must not be changed while it is mapped;
// replacing it by a rename is fine.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	if info.Size() == 0 {
		return &File{}, nil
	}
	return mapFile(f, info.Size())
}

// Bytes returns the content, to be read only and not after Close.
func (f *File) Bytes() []byte { return f.data }

// Close ends the mapping.
func (f *File) Close() error {
	f.data = nil
	if f.close == nil {
		return nil
	}
	c := f.close
	f.close = nil
	return c()
}
