package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// download is a resumable download of a URL to a file.
type download struct {
	url, part string
	opts      FetchOptions
}

// tag is the path of the file that identifies the version of the partial download.
func (d *download) tag() string { return d.part + ".version" }

// run downloads the missing bytes.
func (d *download) run(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(d.part), 0o755); err != nil {
		return fmt.Errorf("creating a folder: %w", err)
	}
	f, err := os.OpenFile(d.part, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("opening a download: %w", err)
	}
	err = d.fill(ctx, f)
	empty := false
	if info, failed := f.Stat(); err != nil && failed == nil {
		empty = info.Size() == 0
	}
	err = errors.Join(err, f.Close())
	if empty { // nothing to resume
		err = errors.Join(err, d.remove())
	}
	return err
}

func (d *download) fill(ctx context.Context, f *os.File) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	silence := time.AfterFunc(d.opts.Stall, func() { stop(errSilent) })
	defer silence.Stop()

	have, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("opening a download: %w", err)
	}
	resp, err := d.ask(ctx, have)
	if err == nil && resp.StatusCode == http.StatusRequestedRangeNotSatisfiable && have > 0 {
		resp.Body.Close() // the file is complete but was not accepted: start again
		have = 0
		resp, err = d.ask(ctx, have)
	}
	if err != nil {
		return d.unreachable(ctx, err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		have = 0 // the server sends the whole file
	case http.StatusPartialContent:
		if want := fmt.Sprintf("bytes %d-", have); !strings.HasPrefix(resp.Header.Get("Content-Range"), want) {
			return fmt.Errorf("%w: asked for bytes from %[3]d, %[2]s sent %[4]q", ErrUnreachable, d.url, have, resp.Header.Get("Content-Range"))
		}
	default:
		return fmt.Errorf("%w: %s answers %q; its page may have moved", ErrUnreachable, d.url, resp.Status)
	}
	if err := f.Truncate(have); err != nil {
		return fmt.Errorf("writing a download: %w", err)
	}
	if _, err := f.Seek(have, io.SeekStart); err != nil {
		return fmt.Errorf("writing a download: %w", err)
	}
	if err := os.WriteFile(d.tag(), []byte(version(resp.Header)), 0o644); err != nil {
		return fmt.Errorf("writing a download: %w", err)
	}
	return d.copy(ctx, f, resp, have, silence)
}

// copy appends the body of a response to f, which has the first have bytes.
func (d *download) copy(ctx context.Context, f *os.File, resp *http.Response, have int64, silence *time.Timer) error {
	total := int64(0)
	if resp.ContentLength >= 0 {
		total = have + resp.ContentLength
	}
	buffer := make([]byte, 256<<10)
	for {
		n, err := resp.Body.Read(buffer)
		silence.Reset(d.opts.Stall)
		if _, bad := f.Write(buffer[:n]); bad != nil {
			return fmt.Errorf("writing a download: %w", bad)
		}
		have += int64(n)
		d.opts.Progress(have, total)
		switch {
		case errors.Is(err, io.EOF) && (total == 0 || have == total):
			return f.Sync()
		case err != nil:
			return fmt.Errorf("%w: %s ended after %s (%w); fetch again to resume", ErrUnreachable, d.url, amount(have, total), reason(ctx, err))
		}
	}
}

// ask requests the bytes from have on, or the whole file if it has changed.
func (d *download) ask(ctx context.Context, have int64) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept-Encoding", "identity") // uncompressed
	if tag, err := os.ReadFile(d.tag()); err == nil && len(tag) > 0 && have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		req.Header.Set("If-Range", string(tag))
	}
	return d.opts.Client.Do(req)
}

// version identifies the version of a URL: a strong entity tag, or else the time of the
// last change; "" if the server states neither, so that downloads cannot resume.
func version(h http.Header) string {
	if tag := h.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		return tag
	}
	return h.Get("Last-Modified")
}

var errSilent = errors.New("the server stopped sending")

// unreachable is the error of a server that does not answer.
func (d *download) unreachable(ctx context.Context, err error) error {
	return fmt.Errorf("%w: %s does not answer; check the network (%w)", ErrUnreachable, d.url, reason(ctx, err))
}

// reason is the cause of a failed request: that of its context, or else err.
func reason(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var request *url.Error
	if errors.As(err, &request) {
		return request.Err // without the URL, which the message names
	}
	return err
}

// amount formats a number of bytes and the total, if known.
func amount(have, total int64) string {
	if total == 0 {
		return fmt.Sprintf("%d bytes", have)
	}
	return fmt.Sprintf("%d of %d bytes", have, total)
}
