package graphio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"grfgp/formats"
	"grfgp/internal/parallel"
)

const (
	defaultBlock = 1 << 20
	longestLine  = 16 << 20
)

// cutter cuts a stream of text into blocks of whole lines.
type cutter struct {
	in   *input
	size int
	rest []byte         // read, but not yet part of a block
	end  bool           // the stream has no more
	line int64          // lines handed out so far
	grid *formats.Table // its rows are handed out in place of lines; nil for text
}

func (in *input) cut(size int) *cutter {
	if size <= 0 {
		size = defaultBlock
	}
	return &cutter{in: in, size: size}
}

// fill reads until rest holds n bytes or the stream ends.
func (c *cutter) fill(n int) error {
	for len(c.rest) < n && !c.end {
		if cap(c.rest) < n {
			grown := make([]byte, len(c.rest), n)
			copy(grown, c.rest)
			c.rest = grown
		}
		k, err := c.in.text.Read(c.rest[len(c.rest):n])
		c.rest = c.rest[:len(c.rest)+k]
		if errors.Is(err, io.EOF) {
			c.end = true
		} else if err != nil {
			return c.in.readError(err)
		}
	}
	return nil
}

// whole returns how many of the first n bytes of rest are whole lines, at least one
// line even if it is longer than n.
func (c *cutter) whole(n int) (int, error) {
	for ; ; n *= 2 {
		if err := c.fill(n); err != nil {
			return 0, err
		}
		if len(c.rest) <= n && c.end {
			return len(c.rest), nil
		}
		if i := bytes.LastIndexByte(c.rest[:n], '\n'); i >= 0 {
			return i + 1, nil
		}
		if n > longestLine {
			return 0, c.in.at(c.line+1, CodeRow, fmt.Sprintf("a line of more than %d MiB", longestLine>>20),
				do("is this a file of text, with line ends?"))
		}
	}
}

// peek returns about n bytes of whole lines without consuming them. The result
// depends only on the stream and on n.
func (c *cutter) peek(n int) ([]byte, error) {
	k, err := c.whole(n)
	return c.rest[:k], err
}

// next fills b with the next lines; io.EOF when there are none.
func (c *cutter) next(b *block) error {
	if c.grid != nil {
		if !c.nextRows(b) {
			return io.EOF
		}
		return nil
	}
	k, err := c.whole(c.size)
	if err != nil {
		return err
	}
	if k == 0 {
		return io.EOF
	}
	// The block takes the buffer, the cutter goes on with the block's old one.
	tail := append(b.text[:0], c.rest[k:]...)
	b.text, c.rest = c.rest[:k], tail
	b.first = c.line + 1
	b.lines = int64(bytes.Count(b.text, []byte{'\n'}))
	if b.text[k-1] != '\n' {
		b.lines++
	}
	c.line += b.lines
	return nil
}

// block is a part of a file: the cutter sets text, a worker parses it, and the merger
// takes the result in the order of the file.
type block struct {
	text   []byte
	cells  [][]string // in place of text: rows of a table
	first  int64      // number of its first line
	lines  int64      // as the cutter counted them
	ready  chan struct{}
	broken *parallel.Panic // of its parser
	tally
	edgeBlock
}

// tally counts the lines of a block by kind.
type tally struct {
	header, blank, comments int64
	bad                     []badRow
	rows                    int64 // rows that are not bad
	short                   int64 // of these, rows that lack fields nobody needs
	foreign                 int64 // of all lines, those that are not UTF-8
	hidden                  int64 // of the comments, those that look like rows
	hiddenLine              int64 // the first of them
}

// badRow is a row that cannot be used.
type badRow struct {
	fault
	at    int64 // line number
	raw   []byte
	cells []string // of a row of a table; nil for text
}

// stream cuts the input into blocks, has workers parse them, and hands them to
// merge one by one in the order of the file, so errors come in that order too. Blocks
// are reused.
func (c *cutter) stream(ctx context.Context, parse func(*block), merge func(*block) error) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	workers := runtime.GOMAXPROCS(0)
	inFlight := workers + 2
	free := make(chan *block, inFlight)
	work := make(chan *block, inFlight)
	order := make(chan *block, inFlight)
	for range inFlight {
		free <- &block{ready: make(chan struct{}, 1)}
	}
	for range workers {
		wg.Go(func() {
			for b := range work {
				b.tally = tally{bad: b.bad[:0]}
				b.broken = parallel.Catch(func() { parse(b) })
				b.ready <- struct{}{}
			}
		})
	}
	var readErr error // seen once order is closed
	wg.Go(func() {
		defer close(order)
		defer close(work)
		for readErr == nil {
			select {
			case b := <-free:
				if p := parallel.Catch(func() { readErr = c.next(b) }); p != nil {
					readErr = p
				}
				if readErr == nil {
					order <- b
					work <- b
				}
			case <-ctx.Done():
				readErr = ctx.Err()
			}
		}
	})
	for b := range order {
		<-b.ready
		if err := ctx.Err(); err != nil {
			return err
		}
		if b.broken != nil {
			return b.broken
		}
		if err := merge(b); err != nil {
			return err
		}
		c.in.tell()
		free <- b
	}
	if errors.Is(readErr, io.EOF) {
		return nil
	}
	return readErr
}
