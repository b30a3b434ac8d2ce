package tokens

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io/fs"
	"os"
	"sync"
)

// File are the tokens of a file as it is at any time. It is safe for concurrent use.
type File struct {
	path string

	mu     sync.Mutex
	seen   fs.FileInfo // of the file that was read; nil: there was none
	tokens []Token
	err    error
}

// Open returns the tokens of a file, which need not exist yet. It reads nothing.
func Open(path string) *File { return &File{path: path} }

// Path is where the file is.
func (f *File) Path() string { return f.path }

// Exists reports whether there is a file: then tokens are needed, even if it has none.
// A file that cannot be read exists, and the error says why it cannot be.
func (f *File) Exists() (bool, error) {
	_, there, err := f.current()
	return there, err
}

// Find returns the token with a secret. While the file cannot be read, no secret is found.
func (f *File) Find(secret string) (t Token, ok bool, err error) {
	all, _, err := f.current()
	sum := sha256.Sum256([]byte(secret))
	for _, known := range all { // all of them, so that the time does not depend on which it is
		if subtle.ConstantTimeCompare(sum[:], known.hash[:]) == 1 {
			t, ok = known, true
		}
	}
	return t, ok, err
}

// current returns the tokens, read again if the file has changed.
func (f *File) current() (all []Token, there bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.seen, f.tokens, f.err = nil, nil, nil
	case err != nil:
		f.seen, f.tokens, f.err = nil, nil, err
	case f.seen == nil || !os.SameFile(info, f.seen) || !info.ModTime().Equal(f.seen.ModTime()) || info.Size() != f.seen.Size():
		f.seen = info // of before it is read: what changes meanwhile is read next time
		if f.tokens, f.err = Read(f.path); f.err != nil {
			f.seen = nil // a change of its owner or mode has no other sign
		}
	}
	return f.tokens, f.seen != nil || f.err != nil, f.err
}
