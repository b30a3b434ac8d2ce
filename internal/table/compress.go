package table

import (
	"compress/gzip"
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// compressions are the extensions of compressed files.
var compressions = map[string]func(io.Writer) (io.WriteCloser, error){
	".gz": func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
	// one: the same bytes on every machine
	".zst": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)) },
}

// Extension returns the extension of a path in lower case, such as ".csv", also of
// "x.csv.gz".
func Extension(path string) string {
	if Compressed(path) {
		path = path[:len(path)-len(filepath.Ext(path))]
	}
	return strings.ToLower(filepath.Ext(path))
}

// Compressed reports whether a file of this name is compressed: by gzip (.gz) or zstd (.zst).
func Compressed(path string) bool { return compressions[strings.ToLower(filepath.Ext(path))] != nil }

// Compress calls write with a writer whose bytes reach w compressed, if a file of this
// name is.
func Compress(w io.Writer, path string, write func(io.Writer) error) error {
	open := compressions[strings.ToLower(filepath.Ext(path))]
	if open == nil {
		return write(w)
	}
	c, err := open(w)
	if err != nil {
		return err
	}
	if err := write(c); err != nil {
		c.Close()
		return err
	}
	return c.Close()
}
