package server_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"grfgp/server"
)

// BenchmarkTell tells results to a study in a file from several clients at once.
func BenchmarkTell(b *testing.B) {
	for _, c := range []struct{ clients, streams int }{{1, 0}, {64, 0}, {64, 200}} {
		clients := c.clients
		b.Run(fmt.Sprintf("%d clients, %d unread streams", clients, c.streams), func(b *testing.B) {
			h := newHost(b, func(o *server.Options) { o.Store = openStore(b, filepath.Join(b.TempDir(), "studies.db")) })
			h.Create(max(100, b.N))
			for left := b.N; left > 0; left -= 10_000 {
				h.Must("POST", "/v1/studies/s/asks", fmt.Sprintf(`{"count":%d}`, min(left, 10_000)), nil)
			}
			for range c.streams {
				resp, err := h.HTTP.Client().Do(h.Request("GET", "/v1/studies/s/events?after=0", nil, "Accept: text/event-stream"))
				if err != nil {
					b.Fatal(err)
				}
				defer resp.Body.Close()
			}
			var next atomic.Int64
			var wg sync.WaitGroup
			before, err := h.Store.Stats(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			for range clients {
				wg.Go(func() {
					for k := next.Add(1); k <= int64(b.N); k = next.Add(1) {
						if a, err := h.Try("PUT", fmt.Sprintf("/v1/studies/s/trials/%d/result", k), `{"value":1}`); err != nil || a.Status != 200 {
							b.Error(a.Status, err)
						}
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			after, err := h.Store.Stats(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			n := float64(after.Commits.Count - before.Commits.Count)
			b.ReportMetric(float64(b.N)/n, "results/commit")
			b.ReportMetric((after.Commits.Sum-before.Commits.Sum).Seconds()*1000/n, "ms/commit")
		})
	}
}
