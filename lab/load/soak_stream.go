package load

import (
	"bufio"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// stream follows the events of the k-th study, also when it is replaced and when the server
// restarts: each event must come exactly once and in order.
func (s *soak) stream(ctx context.Context, k int) {
	var of *subject
	last := int64(0)
	for ctx.Err() == nil {
		s.quiet.RLock()
		now := s.subjects[k]
		s.quiet.RUnlock()
		if now != of {
			of, last = now, 0
		}
		last = s.follow(ctx, of, last)
		wait(ctx, 50*time.Millisecond)
	}
}

// follow reads a stream until it ends, and returns the number of the last event.
func (s *soak) follow(ctx context.Context, of *subject, last int64) int64 {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(of.alive, cancel)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.server.url+"/v1/studies/"+of.name+"/events", nil)
	if err != nil {
		s.fault("%v", err)
		return last
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Last-Event-ID", strconv.FormatInt(last, 10))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return last
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return last
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 16<<20)
	id := int64(0)
	for lines.Scan() {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "id: "):
			id, _ = strconv.ParseInt(strings.TrimPrefix(line, "id: "), 10, 64)
		case line == "" && id > 0: // the event is complete
			if id != last+1 {
				s.fault("a stream of %s has event %d after event %d", of.name, id, last)
				return last
			}
			last, id = id, 0
			s.streamed.Add(1)
		}
	}
	return last
}
