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

// download brings one address to one file, in as many runs as it takes.
type download struct {
	url, part string
	opts      FetchOptions
}

// tag is the file that says which version of the address the part is of.
func (d *download) tag() string { return d.part + ".version" }

// run downloads what is not here yet.
func (d *download) run(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(d.part), 0o755); err != nil {
		return fmt.Errorf("dataset: making a folder: %w", err)
	}
	f, err := os.OpenFile(d.part, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("dataset: opening a download: %w", err)
	}
	err = d.fill(ctx, f)
	empty := false
	if info, failed := f.Stat(); err != nil && failed == nil {
		empty = info.Size() == 0
	}
	err = errors.Join(err, f.Close())
	if empty { // there is nothing to go on from
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
		return fmt.Errorf("dataset: opening a download: %w", err)
	}
	resp, err := d.ask(ctx, have)
	if err == nil && resp.StatusCode == http.StatusRequestedRangeNotSatisfiable && have > 0 {
		resp.Body.Close() // there is nothing after what is here, which was not accepted: all of it again
		have = 0
		resp, err = d.ask(ctx, have)
	}
	if err != nil {
		return d.unreachable(ctx, err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		have = 0 // all of it, from the start
	case http.StatusPartialContent:
		if want := fmt.Sprintf("bytes %d-", have); !strings.HasPrefix(resp.Header.Get("Content-Range"), want) {
			return fmt.Errorf("%w: %s was asked for bytes from %d and gave %q", ErrUnreachable, d.url, have, resp.Header.Get("Content-Range"))
		}
	default:
		return fmt.Errorf("%w: %s answers %q; see whether its page has moved", ErrUnreachable, d.url, resp.Status)
	}
	if err := f.Truncate(have); err != nil {
		return fmt.Errorf("dataset: writing a download: %w", err)
	}
	if _, err := f.Seek(have, io.SeekStart); err != nil {
		return fmt.Errorf("dataset: writing a download: %w", err)
	}
	if err := os.WriteFile(d.tag(), []byte(version(resp.Header)), 0o644); err != nil {
		return fmt.Errorf("dataset: writing a download: %w", err)
	}
	return d.copy(ctx, f, resp, have, silence)
}

// copy writes the body of a response to f, of which have bytes are there.
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
			return fmt.Errorf("dataset: writing a download: %w", bad)
		}
		have += int64(n)
		d.opts.Progress(have, total)
		switch {
		case errors.Is(err, io.EOF) && (total == 0 || have == total):
			return f.Sync()
		case err != nil:
			return fmt.Errorf("%w: %s ended after %s (%w); fetch again to go on from there", ErrUnreachable, d.url, amount(have, total), reason(ctx, err))
		}
	}
}

// ask requests what is not here yet, if it is still the same.
func (d *download) ask(ctx context.Context, have int64) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept-Encoding", "identity") // bytes as they are on the server's disk
	if tag, err := os.ReadFile(d.tag()); err == nil && len(tag) > 0 && have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		req.Header.Set("If-Range", string(tag))
	}
	return d.opts.Client.Do(req)
}

// version is what tells one version of an address from another: a strong entity
// tag, or else the time of the last change; "" where the server says neither, and
// a download starts again.
func version(h http.Header) string {
	if tag := h.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		return tag
	}
	return h.Get("Last-Modified")
}

var errSilent = errors.New("the server keeps silent")

// unreachable says that a server did not answer.
func (d *download) unreachable(ctx context.Context, err error) error {
	return fmt.Errorf("%w: %s does not answer; is there a network here? (%w)", ErrUnreachable, d.url, reason(ctx, err))
}

// reason is why a request failed: that its context ended for, or else err.
func reason(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var request *url.Error
	if errors.As(err, &request) {
		return request.Err // the address is named already
	}
	return err
}

// amount is a number of bytes, of how many.
func amount(have, total int64) string {
	if total == 0 {
		return fmt.Sprintf("%d bytes", have)
	}
	return fmt.Sprintf("%d of %d bytes", have, total)
}
