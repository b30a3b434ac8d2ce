package server

import (
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// zipTypes are the media types that are compressed on the way. Others are compressed already, or are
// streams, whose parts must arrive at once.
var zipTypes = map[string]bool{
	"application/json": true, "application/problem+json": true, "application/vnd.mapbox-vector-tile": true, ColumnsType: true,
	"text/csv":  true,
	"text/html": true, "text/javascript": true, "text/css": true, "image/svg+xml": true, "application/manifest+json": true,
}

// leastZipped is the number of bytes below which compressing is not worth it.
const leastZipped = 1 << 10

// takesGzip reports whether the client of a request reads gzip.
func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, weighed := strings.Cut(strings.TrimSpace(part), ";")
		if strings.TrimSpace(name) != "gzip" {
			continue
		}
		q := strings.TrimPrefix(strings.TrimSpace(weight), "q=")
		return !weighed || strings.Trim(q, "0.") != "" // q=0 means: not this
	}
	return false
}

// mayZip reports whether the body of an answer may be compressed, as far as its head tells.
func (a *answer) mayZip() bool {
	h := a.Header()
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return a.takesGzip && a.status == http.StatusOK && zipTypes[kind]
}

// beginZip turns to compressing, before the head is sent.
func (a *answer) beginZip() {
	h := a.Header()
	h.Del("Content-Length")
	h.Set("Content-Encoding", "gzip")
	if tag := h.Get("ETag"); tag != "" && !strings.HasPrefix(tag, weak) {
		h.Set("ETag", weak+tag) // the bytes are others
	}
	a.zip, _ = gzip.NewWriterLevel(rawAnswer{a}, gzip.BestSpeed) // the level is valid
}

// weak begins the ETag of an answer that has the same content in other bytes.
const weak = "W/"

// rawAnswer writes to an answer what has been compressed.
type rawAnswer struct{ *answer }

func (r rawAnswer) Write(p []byte) (int, error) { return r.answer.writeRaw(p) }
