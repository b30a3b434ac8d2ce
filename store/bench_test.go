package store_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"grfgp/store"
	"grfgp/study"
)

// BenchmarkObserve is a durable event a value; BenchmarkReplay reads them all.
func BenchmarkObserve(b *testing.B) {
	for name, place := range map[string]string{"memory": store.Memory, "sqlite": filepath.Join(b.TempDir(), "studies.db")} {
		b.Run(name, func(b *testing.B) {
			s, err := store.Open(b.Context(), place, store.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			x, err := openStudy(b.Context(), s)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := x.Observe(b.Context(), "", []study.Measurement{{Node: "n", Value: 1}}, "", ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReplay(b *testing.B) {
	const n = 10_000
	s, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "studies.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if _, err := openStudy(b.Context(), s); err != nil {
		b.Fatal(err)
	}
	events := make([]study.Event, n)
	for k := range events {
		events[k] = study.Event{Seq: int64(k + 2), Data: study.Observed{Values: []study.Measurement{{Node: fmt.Sprint(k), Value: 1}}}}
	}
	if err := s.Log("s").Append(b.Context(), events...); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := openStudy(b.Context(), s); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
}
