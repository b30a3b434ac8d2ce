package graphio

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"grfgp/formats"
	"grfgp/internal/compression"
)

// Source is a file or a stream to read.
type Source struct {
	name   string
	path   string
	reader io.Reader
}

// File returns the file at a path; "-" is standard input.
func File(path string) Source {
	if path == "-" {
		return Reader("standard input", os.Stdin)
	}
	return Source{name: path, path: path}
}

// Reader returns the stream r, which messages call name.
func Reader(name string, r io.Reader) Source { return Source{name: name, reader: r} }

// Name returns the name of the source in messages.
func (s Source) Name() string { return s.name }

// input is an open source: decompressed bytes, of which the first have been checked.
type input struct {
	name        string
	path        string // of a regular file that is not compressed; "" otherwise
	table       Table
	kind        *formats.Format // of another program; nil for text that is read here
	unit        string          // of the rows of such a file; "" for lines of text
	text        *bufio.Reader   // unpacked, without byte-order mark
	compression string          // "" when it was not packed
	raw         *meter
	size        int64 // of the packed file; 0 when unknown
	progress    func(done, total int64)
	closers     []func()
	columns     []string // for errors; nil until they are known
}

// lookAhead is the number of bytes from which the format is detected.
const lookAhead = formats.Head

func open(ctx context.Context, src Source, table Table, opts Options) (*input, error) {
	in := &input{name: src.name, table: table, progress: opts.Progress}
	if err := in.check(opts); err != nil {
		return nil, err
	}
	raw, err := in.openRaw(ctx, src)
	if err != nil {
		return nil, err
	}
	in.raw = &meter{r: raw}
	if in.kind != nil {
		return in, nil // a folder
	}
	if err := in.unpack(); err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

func (in *input) openRaw(ctx context.Context, src Source) (io.Reader, error) {
	if src.reader != nil {
		return in.pump(ctx, src.reader), nil
	}
	f, err := os.Open(src.path)
	if err != nil {
		return nil, in.missing(src.path, err)
	}
	in.closers = append(in.closers, func() { f.Close() })
	info, err := f.Stat()
	switch {
	case err != nil:
		in.close()
		return nil, in.because(err, CodeFile, "cannot be read", do("check the disk"))
	case info.IsDir():
		if in.kind = formats.DetectFolder(src.path); in.kind != nil {
			in.path = src.path
			return f, nil
		}
		next := do("name a file" + inside(f))
		in.close()
		return nil, in.fail(CodeFile, "is a directory", next)
	case !info.Mode().IsRegular():
		return in.pump(ctx, f), nil // a pipe: reading it may block
	}
	in.size, in.path = info.Size(), src.path
	return &interruptible{ctx, f}, nil
}

// missing is the error about a file that cannot be opened; it suggests a similar name.
func (in *input) missing(path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return in.because(err, CodeFile, "cannot be opened: "+reason(err), do("check the name and the permissions"))
	}
	next := do("check the name")
	for _, other := range []string{path + ".gz", path + ".zst", strings.TrimSuffix(path, filepath.Ext(path))} {
		if info, err := os.Stat(other); err == nil && info.Mode().IsRegular() && other != path {
			next = do("did you mean " + other + "?")
			break
		}
	}
	return in.because(err, CodeFile, "there is no such file", next)
}

// reason is an operating system error without the operation and the path.
func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// readable reports whether the beginning of a file is that of one that can be read.
func readable(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 2048)
	n, _ := io.ReadFull(f, head) // a short file is as good
	head = head[:n]
	if compression.Detect(head) != "" {
		return true
	}
	what, _ := notText(head)
	return n > 0 && (what == "" || formats.Detect(path, head) != nil)
}

// inside names a few files of a directory that can be read.
func inside(dir *os.File) string {
	entries, _ := dir.ReadDir(100) // what cannot be listed is not offered
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && readable(filepath.Join(dir.Name(), e.Name())) {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return " in it, such as " + list(names[:min(3, len(names))], "or")
}

func (in *input) close() {
	for i := len(in.closers) - 1; i >= 0; i-- {
		in.closers[i]()
	}
	in.closers = nil
}

// tell reports progress.
func (in *input) tell() {
	if in.progress != nil {
		in.progress(in.raw.n.Load(), in.size)
	}
}

// fail returns an error about the file as a whole.
func (in *input) fail(code Code, what string, remedies ...Remedy) error {
	return in.because(nil, code, what, remedies...)
}

// because is fail with a cause.
func (in *input) because(cause error, code Code, what string, remedies ...Remedy) error {
	return &Error{Code: code, Table: in.table, File: in.name, What: what, Remedies: remedies, Columns: in.columns, Err: cause}
}

// at is fail for a line.
func (in *input) at(line int64, code Code, what string, remedies ...Remedy) error {
	return &Error{Code: code, Table: in.table, File: in.name, Line: line, What: what, Remedies: remedies, Columns: in.columns}
}

// place names a line, or a row of a file of another program.
func (in *input) place(n int64) string { return fmt.Sprintf("%s %d", cmp.Or(in.unit, "line"), n) }

// otherFile is the remedy for a file with nothing in it.
var otherFile = do("name another file")

// meter counts the bytes that have been read.
type meter struct {
	r io.Reader
	n atomic.Int64
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.n.Add(int64(n))
	return n, err
}

// interruptible reads until ctx ends, from a source that does not block for long.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (i *interruptible) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.r.Read(p)
}

// pump reads r on its own goroutine, so that the end of ctx is noticed even while r
// blocks. That goroutine ends when r returns.
func (in *input) pump(ctx context.Context, r io.Reader) io.Reader {
	ctx, cancel := context.WithCancel(ctx)
	in.closers = append(in.closers, cancel)
	p := &pump{ctx: ctx, full: make(chan piece), empty: make(chan []byte, 2)}
	p.empty <- make([]byte, lookAhead)
	p.empty <- make([]byte, lookAhead)
	go p.run(r)
	return p
}

type piece struct {
	data []byte
	err  error
}

type pump struct {
	ctx   context.Context
	full  chan piece
	empty chan []byte
	now   piece // being handed out
	rest  []byte
}

func (p *pump) run(r io.Reader) {
	for {
		var buf []byte
		select {
		case buf = <-p.empty:
		case <-p.ctx.Done():
			return
		}
		n, err := r.Read(buf)
		select {
		case p.full <- piece{buf[:n], err}:
		case <-p.ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

func (p *pump) Read(dst []byte) (int, error) {
	for len(p.rest) == 0 {
		if p.now.err != nil {
			return 0, p.now.err
		}
		if p.now.data != nil {
			p.empty <- p.now.data[:cap(p.now.data)]
			p.now.data = nil
		}
		select {
		case p.now = <-p.full:
			p.rest = p.now.data
		case <-p.ctx.Done():
			return 0, context.Cause(p.ctx)
		}
	}
	n := copy(dst, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// readError is the error about a stream that cannot be read or decompressed.
func (in *input) readError(err error) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case in.compression != "" && errors.Is(err, io.ErrUnexpectedEOF):
		return in.because(err, CodeDamaged, fmt.Sprintf("the %s stream ends in the middle", in.compression),
			do("the file was cut short, perhaps by an interrupted download: fetch it again"))
	case in.compression != "" && !isPath(err):
		return in.because(err, CodeDamaged, fmt.Sprintf("the %s stream is damaged (%v)", in.compression, err),
			do("fetch or compress the file again"))
	}
	return in.because(err, CodeDamaged, "cannot be read: "+reason(err), do("check the disk or the connection"))
}

func isPath(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path)
}
