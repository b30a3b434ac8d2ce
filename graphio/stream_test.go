package graphio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grfgp/internal/rng"
)

// silent never answers until it is closed.
type silent struct{ closed chan struct{} }

func (s silent) Read([]byte) (int, error) {
	<-s.closed
	return 0, io.EOF
}

func TestCancelWhileTheSourceIsSilent(t *testing.T) {
	t.Parallel()
	quiet := silent{make(chan struct{})}
	defer close(quiet.closed)
	for _, start := range []string{"", "u,v\n0,1\n", "<graphml><graph>", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n"} {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() {
			_, err := ReadGraph(ctx, Reader("pipe", io.MultiReader(strings.NewReader(start), quiet)), Options{})
			done <- err
		}()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("after %q: %v, want %v", start, err, context.Canceled)
		}
	}
}

func TestCancelWhileReading(t *testing.T) {
	t.Parallel()
	text := "u,v\n" + strings.Repeat("0,1\n1,2\n", 1<<16)
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	_, err := ReadGraph(ctx, Reader("e", strings.NewReader(text)), Options{
		blockSize: 1 << 10,
		Progress:  func(done, total int64) { calls++; cancel() },
	})
	if !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("%v after %d blocks, want %v after 1", err, calls, context.Canceled)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	text := "u,v\n" + repeat(1<<15, func(i int) string { return fmt.Sprintf("%d,%d\n", i, i+1) })
	path := filepath.Join(t.TempDir(), "e.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	last, calls := int64(0), 0
	_, err := ReadGraph(context.Background(), File(path), Options{blockSize: 1 << 12, Progress: func(done, total int64) {
		if done < last || total != int64(len(text)) {
			t.Errorf("%d of %d bytes after %d, want up to %d", done, total, last, len(text))
		}
		last = done
		calls++
	}})
	if err != nil {
		t.Fatal(err)
	}
	if last != int64(len(text)) || calls < 10 {
		t.Errorf("%d bytes told in %d calls, want %d", last, calls, len(text))
	}
}

// A file of many blocks, with something of everything, reads the same whatever
// the size of blocks; errors come in the order of the file.
func TestBlocksDoNotShow(t *testing.T) {
	random := rand.New(rng.New(3, "blocks"))
	var text bytes.Buffer
	text.WriteString("source,target,weight\n")
	for i := range 20_000 {
		u, v := random.IntN(3000), random.IntN(3000)
		switch random.IntN(20) {
		case 0:
			fmt.Fprintf(&text, "\"node \"\"%d\"\"\",%d,1\n", u, v)
		case 1:
			fmt.Fprintf(&text, "x%d,y%d,%g\r\n", u, v, random.Float64())
		case 2:
			fmt.Fprintf(&text, "# %d\n\n", i)
		case 3:
			fmt.Fprintf(&text, "%d,%d,bad%d\n", u, v, i)
		default:
			fmt.Fprintf(&text, "%d,%d,%g\n", u, v, random.Float64())
		}
	}
	read := graphOutcome(t)
	sameEverywhere(t, text.String(), Options{BadRows: BadRowsSkip}, read)
	sameEverywhere(t, text.String(), Options{}, read)
	if got := read(text.String(), Options{BadRows: BadRowsSkip}); !strings.Contains(got, `"bad":`) {
		t.Errorf("no ledger in %.200s", got)
	}
}

func TestLongLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3*lookAhead)
	n, err := readText("a,"+long+"\n"+long+",b\n", Options{blockSize: 16})
	if err != nil {
		t.Fatal(err)
	}
	if n.Graph.Len() != 3 || len(n.Graph.IDs().At(1)) != len(long) {
		t.Errorf("%d nodes", n.Graph.Len())
	}
	_, err = ReadGraph(context.Background(), Reader("e", io.MultiReader(strings.NewReader("a,b\n"), &endless{})), Options{})
	if err == nil || !strings.Contains(err.Error(), "e:2: a line of more than 16 MiB") {
		t.Errorf("an endless line: %v", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestCommentsBeyondTheFirstLook(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("# nothing here\n", 2*lookAhead/15) + "0 1\n1 2\n"
	n, err := readText(text, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if edgesOf(n) != "0-1 1-2" {
		t.Errorf("edges %s", edgesOf(n))
	}
}

// What breaks the rules after the sample is a bad row at its line.
func TestBadRowBeyondTheFirstLook(t *testing.T) {
	t.Parallel()
	good := repeat(20_000, func(i int) string { return fmt.Sprintf("%d,%d\n", i, i+1) })
	_, err := readText("u,v\n"+good+"7;8\n", Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "edges.csv:20002:4: 1 field, but 2 are expected") {
		t.Errorf("got %v", err)
	}
}
