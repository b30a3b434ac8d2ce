package ranks

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Together runs size ranks as goroutines of this process: for tests, and to see what
// several processes would do. It returns the error of the rank that failed first.
func Together(ctx context.Context, size int, run func(ctx context.Context, g *Group) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	room := &meeting{size: size, boxes: make([][]byte, size*size)}
	room.cond = sync.NewCond(&room.mu)
	defer context.AfterFunc(ctx, room.wake)()
	var wg sync.WaitGroup
	for rank := range size {
		wg.Go(func() {
			defer room.leave()
			defer func() {
				if r := recover(); r != nil {
					stop(fmt.Errorf("rank %d: panic: %v", rank, r))
				}
			}()
			if err := run(ctx, New(&member{room, rank})); err != nil {
				stop(fmt.Errorf("rank %d: %w", rank, err))
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// meeting is where goroutines exchange bytes: all put theirs down, all read, all go on.
type meeting struct {
	size  int
	mu    sync.Mutex
	cond  *sync.Cond
	count int // ranks that wait
	round int
	left  bool     // a rank has ended
	boxes [][]byte // from rank i to rank j at i*size+j
}

// wait returns when all ranks wait, or with an error when ctx ends.
func (m *meeting) wait(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	round := m.round
	if m.count++; m.count == m.size {
		m.count = 0
		m.round++
		m.cond.Broadcast()
		return nil
	}
	for m.round == round {
		if ctx.Err() != nil {
			return errors.Join(ErrLost, context.Cause(ctx))
		}
		if m.left {
			return ErrLost
		}
		m.cond.Wait()
	}
	return nil
}

// leave is the end of a rank: those that wait for it would wait for ever.
func (m *meeting) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left = true
	m.cond.Broadcast()
}

// wake lets waiting ranks see that the run has ended.
func (m *meeting) wake() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cond.Broadcast()
}

// member is a rank in a meeting.
type member struct {
	room *meeting
	rank int
}

func (m *member) Rank() int { return m.rank }
func (m *member) Size() int { return m.room.size }

func (m *member) Gather(ctx context.Context, buf []byte, lengths []int) error {
	in, out := make([][]byte, m.Size()), make([][]byte, m.Size())
	at := 0
	for r, n := range lengths {
		in[r] = buf[at:][:n]
		at += n
	}
	own := in[m.rank]
	in[m.rank] = nil
	for r := range out {
		if r != m.rank {
			out[r] = own
		}
	}
	return m.Exchange(ctx, in, out)
}

func (m *member) Exchange(ctx context.Context, in, out [][]byte) error {
	size := m.Size()
	for r := range size {
		m.room.boxes[m.rank*size+r] = out[r]
	}
	if err := m.room.wait(ctx); err != nil {
		return err
	}
	for r := range size {
		got := m.room.boxes[r*size+m.rank]
		if len(got) != len(in[r]) {
			return fmt.Errorf("rank %d sent %d bytes, and %d were expected", r, len(got), len(in[r]))
		}
		copy(in[r], got)
	}
	return m.room.wait(ctx)
}
