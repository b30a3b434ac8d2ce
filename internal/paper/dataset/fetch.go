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

// FetchOptions say how a set is downloaded; the zero value is good.
type FetchOptions struct {
	Client   *http.Client            // nil means http.DefaultClient
	Stall    time.Duration           // for how long a server may keep silent; 0 means a minute
	Progress func(done, total int64) // bytes; total is 0 where it is not known
}

// unfinished is where downloads lie until they are whole and checked, below the
// folder of data.
const unfinished = "unfinished"

// Fetch downloads a set from its publisher into the cache, unless it is in the
// store already, and returns where it is; what is there is not looked into, as by
// [Store.Verify]. An interrupted download goes on where
// it stopped. A file takes its name only when it is whole and holds the graph
// that it should; where no sum is known, the one that it has is recorded.
func (s Store) Fetch(ctx context.Context, set Set, opts FetchOptions) ([]string, error) {
	if files, err := s.Where(set); !errors.Is(err, ErrMissing) {
		return files, err
	}
	form, ok := set.Download()
	if !ok {
		return nil, s.missing(set)
	}
	if s.Cache == "" {
		return nil, fmt.Errorf("%w: %s: this user has no cache folder; set HOME or XDG_CACHE_HOME", ErrUnreachable, set.Name)
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
	part := place{filepath.Join(s.Cache, unfinished), form}
	final := place{s.Cache, form}.only()
	d := download{url: form.URL, part: part.only(), opts: opts}
	if err := d.run(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w; or download it in another way and put it at %s", err, final)
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
		return nil, fmt.Errorf("dataset: making a folder: %w", err)
	}
	if err := os.Rename(part.only(), final); err != nil {
		return nil, fmt.Errorf("dataset: naming a download: %w", err)
	}
	return []string{final}, d.remove()
}

// accept checks a download and returns its sum.
func (s Store) accept(ctx context.Context, set Set, part place) (string, error) {
	file := part.form.Files[0]
	sum, size, err := sumOf(ctx, part.only())
	if err != nil {
		return "", err
	}
	if file.SHA256 != "" && sum != file.SHA256 {
		return "", fmt.Errorf("%w: %s gave %d bytes with the sum %s, want %s; it was not kept", ErrDamaged, part.form.URL, size, sum, file.SHA256)
	}
	if _, err := set.graph(ctx, part); err != nil {
		return "", fmt.Errorf("%s gave %d bytes, which were not kept: %w", part.form.URL, size, err)
	}
	return sum, nil
}

// remove removes what is left of a download.
func (d *download) remove() error {
	var all []error
	for _, file := range []string{d.part, d.tag()} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}
