package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ring returns a gzipped edge list with n nodes in the format of com-youtube.
func ring(t testing.TB, nodes int) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	fmt.Fprintf(z, "# Undirected graph: com-youtube.ungraph.txt\n# Nodes: %d Edges: %d\n# FromNodeId\tToNodeId\n", nodes, nodes)
	for i := range nodes {
		fmt.Fprintf(z, "%d\t%d\n", 1+3*i, 1+3*((i+1)%nodes))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// published returns a set with a ring that a server offers.
func published(url string, nodes int) Set {
	return Set{Name: "ring", Nodes: nodes, Edges: nodes, read: readPairs(""),
		Forms: []Form{{URL: url, Files: []File{{Path: "made/ring.txt.gz"}}}}}
}

func newStore(t testing.TB) Store {
	dir := t.TempDir()
	return Store{Roots: []string{dir}, Cache: dir}
}

// leftovers lists the folder of unfinished downloads.
func leftovers(t testing.TB, s Store) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.Cache, unfinished, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestFetch(t *testing.T) {
	data := ring(t, 500)
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = w.Write(data)
	}))
	defer server.Close()
	s, set := newStore(t), published(server.URL, 500)
	if _, err := s.Where(set); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "grfgp-lab dataset fetch ring") {
		t.Fatalf("before: %v", err)
	}
	var done, total int64
	files, err := s.Fetch(context.Background(), set, FetchOptions{Progress: func(d, n int64) { done, total = d, n }})
	if err != nil {
		t.Fatal(err)
	}
	if done != int64(len(data)) || total != done {
		t.Errorf("progress ended at %d of %d, want %d", done, total, len(data))
	}
	if got, err := os.ReadFile(files[0]); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%s: %v, not what was published", files[0], err)
	}
	if left := leftovers(t, s); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	g, err := s.Graph(context.Background(), set)
	if err != nil {
		t.Fatal(err)
	}
	if g.IDs().At(0) != "1" || g.IDs().At(499) != "1498" {
		t.Errorf("nodes are not in order of their ids: %s … %s", g.IDs().At(0), g.IDs().At(499))
	}
	v, err := s.Verify(context.Background(), set)
	if err != nil || v.Nodes != 500 || v.Files[0].Basis != BasisRecorded {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := s.Fetch(context.Background(), set, FetchOptions{}); err != nil || asked != 1 {
		t.Errorf("fetched again: asked %d times, %v", asked, err)
	}
	if err := os.WriteFile(files[0], ring(t, 499), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Verify(context.Background(), set); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), BasisRecorded) {
		t.Errorf("another file under the same name: %v", err)
	}
}

// A connection that breaks leaves a partial file; the next run asks for the rest,
// and for the whole file if it has changed.
func TestFetchResumes(t *testing.T) {
	for _, changed := range []bool{false, true} {
		data, tag := ring(t, 2000), `"one"`
		var ranges []string
		cut := true
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ranges = append(ranges, r.Header.Get("Range"))
			w.Header().Set("ETag", tag)
			if cut {
				w.Header().Set("Content-Length", fmt.Sprint(len(data)))
				_, _ = w.Write(data[:1000])
				return
			}
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
		}))
		s, set := newStore(t), published(server.URL, 2000)
		_, err := s.Fetch(context.Background(), set, FetchOptions{})
		if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), fmt.Sprintf("1000 of %d bytes", len(data))) ||
			!strings.Contains(err.Error(), "fetch again to resume") {
			t.Fatalf("cut short: %v", err)
		}
		if _, err := s.Where(set); !errors.Is(err, ErrMissing) {
			t.Fatalf("a part passes for the whole: %v", err)
		}
		cut = false
		if changed {
			data, tag = append(ring(t, 2000), ring(t, 2000)...), `"two"` // gzip streams may follow each other
		}
		if _, err := s.Fetch(context.Background(), set, FetchOptions{}); err != nil {
			t.Fatal(err)
		}
		if want := []string{"", "bytes=1000-"}; fmt.Sprint(ranges) != fmt.Sprint(want) {
			t.Errorf("asked for %q, want %q", ranges, want)
		}
		v, err := s.Verify(context.Background(), set)
		sum := sha256.Sum256(data)
		if err != nil || v.Files[0].SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("changed %v: %+v, %v", changed, v, err)
		}
		server.Close()
	}
}

// Failures are reported, and no file gets the name of the set.
func TestFetchFails(t *testing.T) {
	data := ring(t, 300)
	serve := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) }
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		change func(*Set)
		is     error
		want   string
	}{
		"not found": {http.NotFound, nil, ErrUnreachable, "404"},
		"wrong sum": {serve, func(s *Set) { s.Forms[0].Files[0].SHA256 = strings.Repeat("0", 64) }, ErrDamaged, "want 0000"},
		"counts":    {serve, func(s *Set) { s.Edges++ }, ErrDamaged, "300 nodes and 300 edges, want 300 and 301"},
		"a page":    {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<!doctype html><p>moved") }, nil, nil, "web page"},
		"empty":     {func(http.ResponseWriter, *http.Request) {}, nil, nil, "empty"},
		"silence": {func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-time.After(time.Minute):
			}
		}, nil, ErrUnreachable, "stopped sending"},
		"beyond": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusRequestedRangeNotSatisfiable) }, nil, ErrUnreachable,
			"416"},
		"elsewhere": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes 7-8/9")
			w.WriteHeader(http.StatusPartialContent)
		}, nil, ErrUnreachable, "bytes 7-8/9"},
		"no network": {nil, nil, ErrUnreachable, "check the network"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(c.answer)
			s, set := newStore(t), published(server.URL, 300)
			if c.answer == nil {
				server.Close()
			} else {
				defer server.Close()
			}
			if c.change != nil {
				c.change(&set)
			}
			opts := FetchOptions{}
			if name == "silence" {
				opts.Stall = 50 * time.Millisecond
			}
			_, err := s.Fetch(context.Background(), set, opts)
			if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), server.URL) {
				t.Errorf("%v, want an error that names the address and says %q", err, c.want)
			}
			if c.is == ErrUnreachable && !strings.Contains(err.Error(), filepath.Join(s.Cache, "made", "ring.txt.gz")) {
				t.Errorf("%v: does not say where to put the file", err)
			}
			if _, err := s.Where(set); !errors.Is(err, ErrMissing) {
				t.Errorf("kept: %v", err)
			}
			if left := leftovers(t, s); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// A complete download that was not checked before the program ended is requested again.
func TestFetchWhatIsWhole(t *testing.T) {
	data := ring(t, 400)
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.Header().Set("ETag", `"one"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}))
	defer server.Close()
	s, set := newStore(t), published(server.URL, 400)
	part := filepath.Join(s.Cache, unfinished, "made", "ring.txt.gz")
	if err := errors.Join(os.MkdirAll(filepath.Dir(part), 0o755), os.WriteFile(part, data, 0o644),
		os.WriteFile(part+".version", []byte(`"one"`), 0o644)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Fetch(context.Background(), set, FetchOptions{}); err != nil || asked != 2 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	if _, err := s.Verify(context.Background(), set); err != nil {
		t.Error(err)
	}
}

func TestFetchInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write(make([]byte, 10))
		stop()
	}))
	defer server.Close()
	if _, err := newStore(t).Fetch(ctx, published(server.URL, 3), FetchOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}

func TestFetchWhatNobodyPublishes(t *testing.T) {
	set, err := Named("traffic")
	if err != nil {
		t.Fatal(err)
	}
	_, err = newStore(t).Fetch(context.Background(), set, FetchOptions{})
	if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), set.Home) || !strings.Contains(err.Error(), "road_edges.csv.gz") {
		t.Errorf("%v", err)
	}
}
