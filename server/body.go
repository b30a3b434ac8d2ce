package server

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"grfgp/graphio"
	"grfgp/study"
)

// readJSON decodes the body of a request into v and refuses unknown fields. An empty
// body leaves v unchanged.
func (s *Server) readJSON(w http.ResponseWriter, r *http.Request, v any) error {
	text, err := s.readBody(w, r)
	if err != nil || len(bytes.TrimSpace(text)) == 0 {
		return err
	}
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		return mediaType.because("send JSON, with the header Content-Type: application/json")
	}
	return decode(text, v)
}

func decode(text []byte, v any) error {
	if !utf8.Valid(text) {
		return malformed.because("the body is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil {
		if _, err := dec.Token(); !errors.Is(err, io.EOF) {
			return malformed.because("there is more text after the JSON value")
		}
		return nil
	}
	var syntax *json.SyntaxError
	var shape *json.UnmarshalTypeError
	var p *problem
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &syntax):
		if word := wordAt(text, syntax.Offset-1); nonFinite(word) {
			return notFinite.because("%s is not a finite number", word)
		}
		return malformed.because("not JSON: %v, at byte %d", syntax, syntax.Offset)
	case errors.As(err, &shape) && strings.HasPrefix(shape.Value, "number ") && strings.HasPrefix(shape.Type.String(), "float"):
		return notFinite.because("%s is not a finite number", strings.TrimPrefix(shape.Value, "number ")).at(pointer(shape.Field))
	case errors.As(err, &shape) && shape.Field == "":
		return malformed.because("the body is a JSON %s; give an object, as in {}", shape.Value)
	case errors.As(err, &shape):
		return malformed.because("%s cannot be %s", shape.Field, shape.Value).at(pointer(shape.Field))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return malformed.because("the JSON value is incomplete")
	}
	return malformed.because("%s", strings.TrimPrefix(err.Error(), "json: "))
}

func pointer(field string) string { return "/" + strings.ReplaceAll(field, ".", "/") }

// wordAt returns the word around a byte offset.
func wordAt(text []byte, at int64) string {
	letter := func(i int64) bool {
		return i >= 0 && i < int64(len(text)) && (text[i]|0x20 >= 'a' && text[i]|0x20 <= 'z' || text[i] == '+' || text[i] == '-')
	}
	lo, hi := at, at
	for letter(lo - 1) {
		lo--
	}
	for letter(hi) {
		hi++
	}
	if lo < 0 || lo >= hi || hi > int64(len(text)) {
		return ""
	}
	return string(text[lo:hi])
}

// nonFinite reports whether a word is a common spelling of NaN or infinity.
func nonFinite(word string) bool {
	switch strings.ToLower(strings.TrimLeft(word, "+-")) {
	case "nan", "inf", "infinity":
		return true
	}
	return false
}

// reading is the value of a measurement. It accepts spellings of numbers that are not
// finite, so that the study refuses them with the number of the row.
type reading float64

// UnmarshalJSON reads a number.
func (v *reading) UnmarshalJSON(text []byte) error {
	word := strings.Trim(string(text), `"`)
	number, err := strconv.ParseFloat(word, 64)
	if mantissa, _, _ := strings.Cut(strings.ToLower(word), "e"); err == nil && number == 0 && strings.ContainsAny(mantissa, "123456789") {
		return invalid.because("%.40s is closer to 0 than any number that can be kept; give 0 or another value", word)
	}
	if nonFinite(word) || errors.Is(err, strconv.ErrRange) {
		*v = reading(number)
		return nil
	}
	return json.Unmarshal(text, (*float64)(v))
}

// readBody reads a body within Limits.Body.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := s.unpacked(w, r, s.opts.Limits.Body)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(body)
	if err == nil {
		bodyRead(w)
	}
	return text, bodyError(err)
}

// bodyRead removes the deadline of a body that arrived in full: the next request on
// the connection has its own.
func bodyRead(w http.ResponseWriter) { http.NewResponseController(w).SetReadDeadline(time.Time{}) }

// unpacked returns the decompressed body. Reading more than most bytes of it,
// compressed or not, is an error.
func (s *Server) unpacked(w http.ResponseWriter, r *http.Request, most int64) (io.Reader, error) {
	raw := &counter{Reader: http.MaxBytesReader(w, r.Body, most)}
	switch r.Header.Get("Content-Encoding") {
	case "", "identity":
		return raw, nil
	case "gzip":
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, bodyError(err)
		}
		return &atMost{r: z, left: most, packed: raw}, nil
	}
	return nil, mediaType.because("the Content-Encoding of a body is identity or gzip, not %q", r.Header.Get("Content-Encoding"))
}

// counter counts the bytes read through it.
type counter struct {
	io.Reader
	bytes int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.bytes += int64(n)
	return n, err
}

// A body that unpacks to more than bombRatio times its size is refused from bombBytes on:
// it costs its sender nothing. Files of edges have ratios below 20.
const (
	bombRatio = 100
	bombBytes = 4 << 20
)

// atMost is a reader of unpacked bytes that fails after left bytes, or if they are far
// more than those packed.
type atMost struct {
	r        io.Reader
	left     int64
	packed   *counter
	memory   *reservation // that unpacked bytes take; nil: none
	unpacked int64
}

func (a *atMost) Read(p []byte) (int, error) {
	if int64(len(p))-1 > a.left {
		p = p[:a.left+1]
	}
	n, err := a.r.Read(p)
	if int64(n) > a.left {
		return int(a.left), &http.MaxBytesError{}
	}
	a.left -= int64(n)
	a.unpacked += int64(n)
	if a.unpacked > bombBytes && a.unpacked > bombRatio*a.packed.bytes {
		return 0, tooLarge.because("the body unpacks to more than %d times its size; send it without compression", bombRatio)
	}
	if a.memory != nil {
		if refused := a.memory.read(n); refused != nil {
			return 0, refused
		}
	}
	return n, err
}

// bodyError turns an error of reading a body into a problem.
func bodyError(err error) error {
	var large *http.MaxBytesError
	var late net.Error
	var p *problem
	switch {
	case err == nil:
		return nil
	case errors.As(err, &p):
		return p
	case errors.As(err, &large):
		return tooLarge.because("the body exceeds the limit of this server, which counts decompressed bytes; /v1/meta reports the limits")
	case errors.As(err, &late) && late.Timeout():
		return slow.because("the body arrived too slowly")
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		return malformed.because("the body is not valid gzip")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return malformed.because("the body is truncated")
	}
	return malformed.because("the body cannot be read: %v", err)
}

// steady is the body of an upload. The server may wait for it for Limits.BodyTime
// altogether, and longer by what has arrived, at leastRate. The time in which the server
// works on what has arrived does not count.
type steady struct {
	io.Reader
	control *http.ResponseController
	left    time.Duration // to wait
}

const leastRate = 64 << 10 // bytes a second

func (s *steady) Read(p []byte) (int, error) {
	began := time.Now()
	s.control.SetReadDeadline(began.Add(s.left))
	n, err := s.Reader.Read(p)
	s.left += time.Duration(n)*time.Second/leastRate - time.Since(began)
	return n, err
}

// upload is a body that is parsed while it arrives. It remembers the error that ended
// it, which parsers replace by their own.
type upload struct {
	io.Reader
	memory *reservation
	err    error
}

func (u *upload) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	if refused := u.memory.read(n); refused != nil {
		n, err = 0, refused
	}
	if err != nil && !errors.Is(err, io.EOF) {
		u.err = err
	}
	return n, err
}

// uploaded returns the body of an upload. The caller calls done after reading it, and
// memory.release when nothing that was made of it is needed any more.
func (s *Server) uploaded(w http.ResponseWriter, r *http.Request) (*upload, error) {
	r.Body = struct {
		io.Reader
		io.Closer
	}{&steady{r.Body, http.NewResponseController(w), s.opts.Limits.BodyTime}, r.Body}
	body, err := s.unpacked(w, r, s.opts.Limits.Graph)
	return &upload{Reader: body, memory: s.memory.reserve()}, err
}

// done returns the error of an upload; err is that of its parser.
func (u *upload) done(w http.ResponseWriter, err error) error {
	var p *problem
	var large *http.MaxBytesError
	var known *graphio.Error
	switch {
	case u.err != nil:
		return bodyError(u.err)
	case errors.As(err, &large): // of a compressed file
		return bodyError(large)
	case err == nil:
		bodyRead(w)
		return nil
	case errors.As(err, &p):
		return p
	case errors.As(err, &known):
		return badData.because("%s", known.Text(asParameters))
	case errors.Is(err, study.ErrCorrupt):
		return badData.because("%s", err.Error())
	}
	return bodyError(err)
}
