package dataset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// FetchOptions configure a download; zero values mean the defaults.
type FetchOptions struct {
	Client   *http.Client            // nil means http.DefaultClient
	Stall    time.Duration           // longest pause of the server; 0 means a minute
	Progress func(done, total int64) // bytes; total is 0 if unknown
}

// unfinished is the folder below the cache for downloads that are not complete and
// checked.
const unfinished = "unfinished"

// Fetch downloads a set from its publisher into the cache, unless the store has it, and
// returns the paths of its files. Files that the store has are not checked: see
// [Store.Verify]. An interrupted download resumes where it stopped. A file gets its name
// only when it is complete and holds the expected graph. If no checksum is known, that of
// the download is recorded.
func (s Store) Fetch(ctx context.Context, set Set, opts FetchOptions) ([]string, error) {
	if files, err := s.Where(set); !errors.Is(err, ErrMissing) {
		return files, err
	}
	form, ok := set.Download()
	if !ok {
		return nil, s.missing(set)
	}
	if s.Cache == "" {
		return nil, fmt.Errorf("%w: %s: there is no cache folder for this user; set HOME or XDG_CACHE_HOME", ErrUnreachable, set.Name)
	}
	if opts.Client == nil {
		opts.Client = http.DefaultClient
	}
	if opts.Stall == 0 {
		opts.Stall = time.Minute
	}
	if opts.Progress == nil {
		opts.Progress = func(_, _ int64) {}
	}
	file := form.Files[0]
	part := location{filepath.Join(s.Cache, unfinished), form}
	final := location{s.Cache, form}.only()
	d := download{url: form.URL, part: part.only(), opts: opts}
	if err := d.run(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w; or download it by other means to %s", err, final)
	}
	sum, err := s.accept(ctx, set, part)
	if err != nil {
		return nil, errors.Join(err, d.remove())
	}
	if file.SHA256 == "" {
		if err := record(s.Cache, file.Path, sum); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(filepath.Dir(final), 0o755); err != nil {
		return nil, fmt.Errorf("creating a folder: %w", err)
	}
	if err := os.Rename(part.only(), final); err != nil {
		return nil, fmt.Errorf("renaming a download: %w", err)
	}
	return []string{final}, d.remove()
}

// accept checks a download and returns its checksum.
func (s Store) accept(ctx context.Context, set Set, part location) (string, error) {
	file := part.form.Files[0]
	sum, size, err := sumOf(ctx, part.only())
	if err != nil {
		return "", err
	}
	if file.SHA256 != "" && sum != file.SHA256 {
		return "", fmt.Errorf("%w: %s sent %d bytes with the checksum %s, want %s; they were discarded", ErrDamaged, part.form.URL, size, sum,
			file.SHA256)
	}
	if _, err := set.graph(ctx, part); err != nil {
		return "", fmt.Errorf("%s sent %d bytes, which were discarded: %w", part.form.URL, size, err)
	}
	return sum, nil
}

// remove removes the files of a download.
func (d *download) remove() error {
	var all []error
	for _, file := range []string{d.part, d.tag()} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}
