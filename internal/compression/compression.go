// Package compression recognises compressed data by its first bytes.
package compression

import "bytes"

// The formats that Detect knows.
const (
	Gzip = "gzip" // RFC 1952
	Zstd = "zstd" // RFC 8878, skippable frames included
)

// Detect returns the format of data that begin with head, or "" if they are not
// compressed. Four bytes are enough.
func Detect(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return Gzip
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")),
		len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte("\x2a\x4d\x18")):
		return Zstd
	}
	return ""
}
