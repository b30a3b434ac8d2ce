package load

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"grfgp/client"
	"grfgp/study"
)

// SoakOptions are the options of Soak; all must be set but Enough, Watched and Deck.
type SoakOptions struct {
	Disturbed time.Duration     // time of the load with disturbances
	Enough    func(Soaked) bool // it lasts until then at least; nil: no longer
	Watched   time.Duration     // time of the load without any, in which memory and goroutines are watched; 0: none
	Deck      []Disturbance     // in the proportion in which they happen; nil: all kinds of this package
	Clients   int               // at once
	Seed      uint64            // of the load and of the disturbances
	// Server runs a server on a store of its own, at an address, with a clock that is wrong by
	// the seconds in a file.
	Server func(address, clock string) *exec.Cmd
	Folder string // for the clock of the server, its log and what fills the disk
	Begin  func(stage string) (done func(result string))
}

// Soaked says what a soak did and found.
type Soaked struct {
	Seconds  float64 `json:"seconds"`
	Told     int64   `json:"told"`     // results that were acknowledged
	Asked    int64   `json:"asked"`    // asks
	Observed int64   `json:"observed"` // groups of measurements
	Other    int64   `json:"other"`    // other changes
	Read     int64   `json:"read"`     // answers to requests that change nothing
	Streamed int64   `json:"streamed"` // events that streams delivered
	Studies  int     `json:"studies"`  // made, filled and deleted in turn
	Kills    int     `json:"kills"`
	Stops    int     `json:"stops"`  // by SIGTERM
	Pauses   int     `json:"pauses"` // by SIGSTOP
	Jumps    int     `json:"jumps"`  // of the clock
	Slow     int     `json:"slow"`   // stretches with a busy disk
	Backups  int     `json:"backups"`
	Compared int     `json:"compared"` // how often everything acknowledged was compared
	// Memory and Goroutines are the largest of the server in the first and the last third of
	// the time without disturbances.
	Memory     [2]int64 `json:"memory_bytes"`
	Goroutines [2]int64 `json:"goroutines"`
	// Faults are what was lost, twice, or otherwise wrong; the first few.
	Faults []string `json:"faults"`
}

// soak is a soak under way.
type soak struct {
	SoakOptions
	prefix string // of the names of studies, which the store does not have yet
	server *served
	client *client.Client
	random *rand.Rand    // of the disturbances
	left   []Disturbance // of the deck
	result Soaked

	quiet sync.RWMutex // held for reading by a command under way, for writing while everything is compared
	ended atomic.Bool  // clients begin no more commands

	told, asked, observed, other, read, streamed atomic.Int64

	mu     sync.Mutex
	faults []string

	subjects []*subject // changed with quiet held for writing
}

// Soak runs a server under mixed load. It is killed, stopped, paused, its clock jumps and its
// disk is busy; after each disturbance everything that was acknowledged is compared with what
// the server has. Then memory and goroutines of one process are watched. The error is that of the soak itself; what is wrong with the
// server
// is in Faults.
func Soak(ctx context.Context, opts SoakOptions) (Soaked, error) {
	s := &soak{SoakOptions: opts, prefix: "soak-" + strings.ToLower(crand.Text()[:8]), random: rand.New(rand.NewPCG(opts.Seed, 1))}
	began := time.Now()
	err := s.run(ctx)
	s.result.Seconds = time.Since(began).Seconds()
	s.result.Faults = append([]string{}, s.faults...)
	return s.counted(), err
}

// counted is the result so far, with what the clients have done.
func (s *soak) counted() Soaked {
	r := s.result
	r.Told, r.Asked, r.Observed, r.Other = s.told.Load(), s.asked.Load(), s.observed.Load(), s.other.Load()
	r.Read, r.Streamed = s.read.Load(), s.streamed.Load()
	return r
}

func (s *soak) run(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := s.Begin("starting the server")
	if s.server, err = newServed(s.Server, s.Folder); err != nil {
		return err
	}
	defer s.server.end()
	if s.client, err = client.New(s.server.url, client.Options{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * s.Clients}}); err != nil {
		return err
	}
	if err := s.server.start(ctx); err != nil {
		return err
	}
	for k := range subjects {
		made, err := s.newSubject(ctx, k)
		if err != nil {
			return err
		}
		s.subjects = append(s.subjects, made)
	}
	done(s.server.url)
	var clients, watchers sync.WaitGroup
	for k := range s.Clients {
		clients.Go(func() { s.work(ctx, k) })
	}
	for k := range s.subjects {
		watchers.Go(func() { s.stream(ctx, k) })
	}
	watchers.Go(func() { s.server.fillDisk(ctx) })
	err = s.disturb(ctx, s.Disturbed)
	if err == nil && s.Watched > 0 {
		err = s.watch(ctx, s.Watched)
	}
	s.ended.Store(true)
	if err != nil {
		cancel()
	}
	clients.Wait()
	if err == nil {
		err = s.compareAll(ctx)
	}
	if err == nil {
		s.recompute(ctx)
	}
	cancel()
	watchers.Wait()
	return err
}

// fault notes that something is wrong with the server.
func (s *soak) fault(format string, args ...any) {
	const most = 20
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults) < most {
		s.faults = append(s.faults, fmt.Sprintf(format, args...))
	}
}

func (s *soak) faulty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.faults) > 0
}

// disturb disturbs the server at random, and compares after each disturbance.
func (s *soak) disturb(ctx context.Context, lasting time.Duration) error {
	done := s.Begin("disturbing")
	mean := min(max(lasting/20, time.Second), 15*time.Second)
	more := func() bool { return s.Enough != nil && !s.Enough(s.counted()) }
	for end := time.Now().Add(lasting); (time.Now().Before(end) || more()) && !s.faulty(); {
		pause := time.Duration((0.3 + 1.4*s.random.Float64()) * float64(mean))
		if left := time.Until(end); left > 0 {
			pause = min(pause, left)
		}
		if err := wait(ctx, pause); err != nil {
			return err
		}
		if err := s.disturbance(ctx); err != nil {
			return err
		}
		if err := s.compareAll(ctx); err != nil {
			return err
		}
	}
	s.server.slow.Store(false)
	r := &s.result
	done(fmt.Sprintf("%d kills, %d stops, %d pauses, %d jumps of the clock, %d stretches with a busy disk, %d backups", r.Kills, r.Stops,
		r.Pauses, r.Jumps, r.Slow, r.Backups))
	return s.server.jump(0)
}

// Disturbance is something that happens to the server.
type Disturbance struct {
	Name string                          // Kill, …, or any other if there is a function
	Do   func(ctx context.Context) error // nil: by the name
}

// The names of the disturbances of this package.
const (
	Kill   = "kill"   // without a chance to do anything
	Stop   = "stop"   // a shutdown, whose exit code must be 0
	Pause  = "pause"  // the process stands still
	Jump   = "jump"   // of the clock
	Disk   = "disk"   // is kept busy, until the next time
	Backup = "backup" // under load, and compared
)

// deck has the disturbances in the proportion in which they happen.
var deck = []Disturbance{{Name: Kill}, {Name: Kill}, {Name: Kill}, {Name: Kill}, {Name: Stop}, {Name: Pause}, {Name: Jump}, {Name: Jump},
	{Name: Disk}, {Name: Backup}}

// disturbance is the next of the deck, which is shuffled when it is used up.
func (s *soak) disturbance(ctx context.Context) error {
	if len(s.left) == 0 {
		if s.left = slices.Clone(s.Deck); s.Deck == nil {
			s.left = slices.Clone(deck)
		}
		s.random.Shuffle(len(s.left), func(i, j int) { s.left[i], s.left[j] = s.left[j], s.left[i] })
	}
	next := s.left[0]
	s.left = s.left[1:]
	if next.Do != nil {
		return next.Do(ctx)
	}
	r := &s.result
	switch next.Name {
	case Kill:
		r.Kills++
		s.server.kill()
		return s.server.start(ctx)
	case Stop:
		r.Stops++
		if err := s.server.stop(); err != nil {
			s.fault("shutdown: %v", err)
		}
		return s.server.start(ctx)
	case Pause:
		r.Pauses++
		return s.server.pause(ctx, time.Duration(200+s.random.IntN(800))*time.Millisecond)
	case Jump:
		r.Jumps++
		hours := []float64{-48, -1, 1, 48, 24 * 365}
		return s.server.jump(time.Duration(hours[s.random.IntN(len(hours))] * float64(time.Hour)))
	case Disk:
		if s.server.slow.Store(!s.server.slow.Load()); s.server.slow.Load() {
			r.Slow++
		}
		return nil
	}
	r.Backups++
	return s.backup(ctx)
}

// recompute computes the suggestions of the study with a model again.
func (s *soak) recompute(ctx context.Context) {
	of := s.subjects[0]
	err := s.until(ctx, func() error {
		_, err := of.study.Verify(ctx, true, nil)
		if errors.Is(err, study.ErrCorrupt) {
			s.fault("%s: %v", of.name, err)
			return nil
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		s.fault("computing suggestions again: %v", err)
	}
}

// leastWatched is the least time after which growth of memory and goroutines tells something.
const leastWatched = 20 * time.Second

// watch samples memory and goroutines of one process under load.
func (s *soak) watch(ctx context.Context, lasting time.Duration) error {
	done := s.Begin("watching memory and goroutines")
	if err := s.server.stop(); err != nil {
		s.fault("shutdown: %v", err)
	}
	if err := s.server.start(ctx); err != nil {
		return err
	}
	began := time.Now()
	for part := 0; part < 3; {
		if err := wait(ctx, min(2*time.Second, lasting/20)); err != nil {
			return err
		}
		memory, goroutines, err := s.server.figures(ctx)
		if err != nil {
			s.fault("metrics: %v", err)
			break
		}
		if at := part / 2; part != 1 {
			s.result.Memory[at], s.result.Goroutines[at] = max(s.result.Memory[at], memory), max(s.result.Goroutines[at], goroutines)
		}
		if now := int(3 * time.Since(began) / lasting); now > part {
			part++                                    // each is sampled, however busy the machine
			if err := s.compareAll(ctx); err != nil { // deletes full studies, so that what is in memory is bounded
				return err
			}
		}
	}
	m, g := s.result.Memory, s.result.Goroutines
	const slack = 48 << 20
	long := lasting >= leastWatched
	if long && m[1] > m[0]+m[0]/4+slack {
		s.fault("memory grows: %d MB, then %d MB", m[0]>>20, m[1]>>20)
	}
	if long && g[1] > g[0]+int64(2*s.Clients)+10 {
		s.fault("goroutines grow: %d, then %d", g[0], g[1])
	}
	done(fmt.Sprintf("%d and %d MB, %d and %d goroutines in the first and the last third", m[0]>>20, m[1]>>20, g[0], g[1]))
	return nil
}

// compareAll compares everything that was acknowledged, while no command is under way, and
// replaces studies that are full.
func (s *soak) compareAll(ctx context.Context) error {
	s.quiet.Lock()
	defer s.quiet.Unlock()
	if s.ended.Load() && s.faulty() {
		return nil
	}
	s.result.Compared++
	for k, of := range s.subjects {
		events, err := of.compare(ctx, s)
		if err != nil {
			return err
		}
		if events < of.most {
			continue
		}
		if err := s.until(ctx, func() error { return s.client.Delete(ctx, of.name, who) }); err != nil {
			s.fault("deleting %s: %v", of.name, err)
		}
		of.retire()
		if s.subjects[k], err = s.newSubject(ctx, k); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// until repeats a command until the server answers: with success, or with a refusal, which is
// returned. Nothing of it is lost or done twice: commands have keys.
func (s *soak) until(ctx context.Context, do func() error) error {
	const patience, pause = 3 * time.Minute, 30 * time.Millisecond
	for began := time.Now(); ; {
		err := do()
		var p *client.Problem
		switch problem := errors.As(err, &p); {
		case err == nil, ctx.Err() != nil:
			return err
		case problem && p.Status == http.StatusInternalServerError:
			s.fault("internal error: %v", err)
			return err
		case problem && p.Status < 500 && p.Kind != client.KindBusy:
			return err
		}
		var lost *client.ConnectionError
		if !errors.As(err, &lost) && p == nil {
			s.fault("%v", err)
			return err
		}
		if time.Since(began) > patience {
			s.fault("no answer for %v: %v", patience, err)
			return err
		}
		if err := wait(ctx, pause); err != nil {
			return err
		}
	}
}

// wait waits for a time, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
