package load

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// served is a server in a process of its own, always at the same address.
type served struct {
	run    func(address, clock string) *exec.Cmd
	folder string
	url    string
	log    *os.File
	slow   atomic.Bool // fillDisk keeps the disk busy

	process *exec.Cmd // nil: none
	ended   chan error
}

func newServed(run func(address, clock string) *exec.Cmd, folder string) (*served, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	free.Close()
	s := &served{run: run, folder: folder, url: "http://" + address}
	if s.log, err = os.Create(filepath.Join(folder, "server.log")); err != nil {
		return nil, err
	}
	return s, s.jump(0)
}

// clock is the file with the error of the server's clock, in seconds.
func (s *served) clock() string { return filepath.Join(s.folder, "clock") }

// jump makes the clock of the server wrong by d.
func (s *served) jump(d time.Duration) error {
	part := s.clock() + ".part"
	if err := os.WriteFile(part, []byte(strconv.FormatFloat(d.Seconds(), 'f', -1, 64)), 0o600); err != nil {
		return err
	}
	return os.Rename(part, s.clock())
}

// startTime is how long a server may take to be ready.
const startTime = 2 * time.Minute

// start starts the server and waits until it is ready. A database may hold the store for a
// moment after the process before has ended: then it is started again.
func (s *served) start(ctx context.Context) error {
	for began := time.Now(); ; {
		err := s.startOnce(ctx)
		if err == nil || ctx.Err() != nil || time.Since(began) > startTime/4 {
			return err
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

func (s *served) startOnce(ctx context.Context) error {
	cmd := s.run(strings.TrimPrefix(s.url, "http://"), s.clock())
	cmd.Stdout, cmd.Stderr = s.log, s.log
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	s.process, s.ended = cmd, ended
	for began := time.Now(); ; {
		resp, err := http.Get(s.url + "/readyz")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case err := <-ended:
			s.process = nil
			return fmt.Errorf("the server ended when it was started: %v; see %s", err, s.log.Name())
		default:
		}
		if time.Since(began) > startTime {
			s.kill()
			return fmt.Errorf("the server was not ready within %v; see %s", startTime, s.log.Name())
		}
		if err := wait(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// kill ends the server without a chance to do anything.
func (s *served) kill() {
	if s.process != nil {
		s.process.Process.Kill()
		<-s.ended
		s.process = nil
	}
}

// stopTime is how long a shutdown may take.
const stopTime = 30 * time.Second

// stop shuts the server down.
func (s *served) stop() error {
	if err := terminate(s.process.Process); err != nil {
		return err
	}
	select {
	case err := <-s.ended:
		s.process = nil
		return err
	case <-time.After(stopTime):
		s.kill()
		return fmt.Errorf("it took more than %v", stopTime)
	}
}

// end ends the server when the soak ends.
func (s *served) end() {
	s.kill()
	s.log.Close()
}

// pause stops the process for a while.
func (s *served) pause(ctx context.Context, d time.Duration) error {
	if err := suspend(s.process.Process); err != nil {
		return err
	}
	err := wait(ctx, d)
	return orFirst(err, resume(s.process.Process))
}

func orFirst(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// fillDisk keeps the disk of the folder busy while slow is set.
func (s *served) fillDisk(ctx context.Context) {
	chunk := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB
	path := filepath.Join(s.folder, "filler")
	defer os.Remove(path)
	for ctx.Err() == nil {
		if !s.slow.Load() {
			wait(ctx, 100*time.Millisecond)
			continue
		}
		file, err := os.Create(path)
		if err != nil {
			return
		}
		for range 16 {
			if _, err := file.Write(chunk); err != nil {
				break
			}
		}
		file.Sync()
		file.Close()
	}
}

// figures returns the resident memory of the server, and its goroutines.
func (s *served) figures(ctx context.Context) (memory, goroutines int64, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/metrics", nil)
	if err != nil {
		return 0, 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(io.LimitReader(resp.Body, 4<<20))
	for lines.Scan() {
		name, text, _ := strings.Cut(lines.Text(), " ")
		v, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil:
		case name == "process_resident_memory_bytes", name == "go_memstats_sys_bytes" && memory == 0:
			memory = int64(v)
		case name == "go_goroutines":
			goroutines = int64(v)
		}
	}
	return memory, goroutines, lines.Err()
}

// ServerArguments are the arguments of the program grfgp for a server under soak.
func ServerArguments(place, address, clock string) []string {
	return []string{"serve", "--quiet", "--open", "--store", place, "--listen", address, "--clock-error", clock}
}
