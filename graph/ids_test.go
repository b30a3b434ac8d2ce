package graph

import (
	"fmt"
	"sync"
	"testing"
)

func TestLabels(t *testing.T) {
	l := NewIDs(0)
	ids := []string{"007", "7", "", "a#b", "ü", "7 "}
	for i, id := range ids {
		if got := l.Intern([]byte(id)); got != i {
			t.Errorf("%q got number %d, want %d", id, got, i)
		}
	}
	for i, id := range ids {
		if got := l.Intern([]byte(id)); got != i {
			t.Errorf("%q got number %d the second time, want %d", id, got, i)
		}
		if got, ok := l.Lookup([]byte(id)); !ok || got != i {
			t.Errorf("lookup of %q: %d, %v, want %d", id, got, ok, i)
		}
		if l.At(i) != id {
			t.Errorf("id %d is %q, want %q", i, l.At(i), id)
		}
	}
	if _, ok := l.Lookup([]byte("8")); ok || l.Len() != len(ids) {
		t.Errorf("an unknown id was found, or kept: %d ids", l.Len())
	}
}

func TestLabelsGrow(t *testing.T) {
	const n = 5000
	grown, numbered := NewIDs(0), NumberIDs(n)
	for i := range n {
		if got := grown.Intern(fmt.Append(nil, i)); got != i {
			t.Fatalf("id %d got number %d", i, got)
		}
	}
	for _, l := range []*IDs{grown, numbered} {
		for i := range n {
			if got, ok := l.Lookup(fmt.Append(nil, i)); !ok || got != i || l.At(i) != fmt.Sprint(i) {
				t.Fatalf("id %d: %q, lookup %d, %v", i, l.At(i), got, ok)
			}
		}
		if got := l.Intern([]byte("more")); got != n {
			t.Fatalf("a new id got number %d, want %d", got, n)
		}
	}
}

func TestLabelsOf(t *testing.T) {
	if l, ok := IDsOf([]string{"b", "a"}); !ok || l.Len() != 2 || l.At(1) != "a" {
		t.Error("two ids were not taken")
	}
	if _, ok := IDsOf([]string{"a", "b", "a"}); ok {
		t.Error("a repeated id was taken")
	}
}

// The table of numbered ids is built by the first reader.
func TestLabelsReadAtOnce(t *testing.T) {
	l := NumberIDs(1000)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 1000 {
				if got, ok := l.Lookup(l.Bytes(i)); !ok || got != i {
					t.Errorf("lookup of %d: %d, %v", i, got, ok)
				}
			}
		})
	}
	wg.Wait()
}

func TestLookupDoesNotAllocate(t *testing.T) {
	l := NumberIDs(1000)
	if n := testing.AllocsPerRun(100, func() { l.Lookup([]byte("123")) }); n != 0 {
		t.Errorf("%v allocations a lookup", n)
	}
}

func BenchmarkIntern(b *testing.B) {
	const n, m = 1 << 20, 1 << 20
	e, ids := randomEdges(n, m, false, 1), NumberIDs(n)
	for b.Loop() {
		l := NewIDs(0)
		for k := range e.U {
			l.Intern(ids.Bytes(int(e.U[k])))
			l.Intern(ids.Bytes(int(e.V[k])))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*2*m), "ns/id")
}
