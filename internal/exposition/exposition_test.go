package exposition

import (
	"math"
	"strings"
	"sync"
	"testing"
)

func text(t *testing.T, r *Registry) string {
	t.Helper()
	var b strings.Builder
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The example of the format's description, and what the format escapes.
func TestWrite(t *testing.T) {
	t.Parallel()
	var r Registry
	requests := New("http_requests_total", "The total number of HTTP requests.", Counter, "method", "code")
	requests.Add(1027, "post", "200").Add(3, "post", "400")
	files := New("files", "Back \\ slash\nand line.", Gauge, "path")
	files.Add(math.Inf(1), "C:\\DIR\\FILE.TXT").Add(-1.5e300, "a \"word\"\n")
	took := NewHistogram("seconds", "Time.", []float64{0.1, 1}, "route")
	for _, v := range []float64{0.05, 0.1, 0.5, 7} {
		took.Observe(v, "GET /")
	}
	never := New("never_total", "Nothing with a label yet.", Counter, "why")
	r.Register(took, requests, files, never)
	r.Collect(func() []*Metric {
		return []*Metric{New("zero", "Now.", Gauge), NewHistogram("commits", "Elsewhere.", []float64{2}).Observed(3, 4.5, []uint64{1})}
	})
	const want = `# HELP commits Elsewhere.
# TYPE commits histogram
commits_bucket{le="2"} 1
commits_bucket{le="+Inf"} 3
commits_sum 4.5
commits_count 3
# HELP files Back \\ slash\nand line.
# TYPE files gauge
files{path="C:\\DIR\\FILE.TXT"} +Inf
files{path="a \"word\"\n"} -1.5e+300
# HELP http_requests_total The total number of HTTP requests.
# TYPE http_requests_total counter
http_requests_total{method="post",code="200"} 1027
http_requests_total{method="post",code="400"} 3
# HELP seconds Time.
# TYPE seconds histogram
seconds_bucket{route="GET /",le="0.1"} 2
seconds_bucket{route="GET /",le="1"} 3
seconds_bucket{route="GET /",le="+Inf"} 4
seconds_sum{route="GET /"} 7.65
seconds_count{route="GET /"} 4
# HELP zero Now.
# TYPE zero gauge
zero 0
`
	if got := text(t, &r); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	var r Registry
	m := New("n_total", "Counted.", Counter)
	r.Register(m)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				m.Add(1)
			}
			text(t, &r)
		})
	}
	all.Wait()
	if got := text(t, &r); !strings.HasSuffix(got, "n_total 8000\n") {
		t.Error(got)
	}
}

func TestProcess(t *testing.T) {
	t.Parallel()
	var r Registry
	r.Collect(Process)
	got := text(t, &r)
	for _, name := range []string{"go_info{version=\"go", "go_goroutines ", "go_memstats_heap_alloc_bytes ", "go_gc_cycles_total "} {
		if !strings.Contains(got, "\n"+name) {
			t.Errorf("no %s in\n%s", name, got)
		}
	}
}
