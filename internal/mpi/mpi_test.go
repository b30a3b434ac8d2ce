//go:build mpi

package mpi

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"

	"grfgp/internal/ranks"
)

var world *World

// TestMain joins the ranks: every rank runs all tests, in the same order.
func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	if world, err = Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if code != 0 {
		world.Abort(code) // others may wait for this rank
	}
	if err := world.Finish(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func TestGather(t *testing.T) {
	for _, each := range []int{0, 1, 1000, 1 << 20} {
		lengths := make([]int, world.Size())
		var want []byte
		for r := range lengths {
			lengths[r] = each * (r + 1)
			want = append(want, bytes.Repeat([]byte{byte(r + 1)}, lengths[r])...)
		}
		for _, gather := range []func(context.Context, []byte, []int) error{world.Gather, world.gatherLarge} {
			buf, at := make([]byte, len(want)), 0
			for r, n := range lengths {
				if r == world.Rank() {
					copy(buf[at:at+n], want[at:])
				}
				at += n
			}
			if err := gather(t.Context(), buf, lengths); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(buf, want) {
				t.Fatalf("%d bytes and more per rank: gathered something else", each)
			}
		}
	}
}

// A ring of messages of unequal lengths.
func TestExchange(t *testing.T) {
	size, rank := world.Size(), world.Rank()
	for _, n := range []int{0, 1, 70_000} {
		in, out := make([][]byte, size), make([][]byte, size)
		for r := range size {
			if r != rank {
				out[r] = bytes.Repeat([]byte{byte(17*rank + r)}, n+rank)
				in[r] = make([]byte, n+r)
			}
		}
		if err := world.Exchange(t.Context(), in, out); err != nil {
			t.Fatal(err)
		}
		for r := range size {
			if r != rank && !bytes.Equal(in[r], bytes.Repeat([]byte{byte(17*r + rank)}, n+r)) {
				t.Fatalf("rank %d got something else from rank %d", rank, r)
			}
		}
	}
}

func TestSumHasTheSameBits(t *testing.T) {
	g := ranks.New(world)
	const n, k = 37*ranks.BlockRows - 5, 3
	parts := make([]float64, (n+ranks.BlockRows-1)/ranks.BlockRows*k)
	for i := range parts {
		parts[i] = 1 / float64(i+1)
	}
	want := make([]float64, k)
	ranks.TreeSum(want, slices.Clone(parts))
	l := ranks.Even(n, world.Size())
	lo, hi := l.Range(world.Rank())
	lo, hi = lo/ranks.BlockRows, (hi+ranks.BlockRows-1)/ranks.BlockRows
	for range 1000 {
		total := make([]float64, k)
		if err := g.Sum(t.Context(), total, slices.Clone(parts[lo*k:hi*k]), l); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(total, want) {
			t.Fatalf("sum %v, alone %v", total, want)
		}
	}
}

func TestCancelled(t *testing.T) {
	if world.Size() == 1 {
		t.Skip("needs two ranks: one that waits for the other")
	}
	// The last test: a wait that was given up leaves the ranks out of step.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in, out := make([][]byte, world.Size()), make([][]byte, world.Size())
	if world.Rank() == 0 {
		in[1] = make([]byte, 8)
		if err := world.Exchange(ctx, in, out); err == nil {
			t.Error("waited for a message that nobody sends")
		}
		in[1] = nil
	}
}

func BenchmarkSum(b *testing.B) {
	g := ranks.New(world)
	l := ranks.Even(1<<20, world.Size())
	lo, hi := l.Range(world.Rank())
	parts, total := make([]float64, (hi-lo)/ranks.BlockRows*16), make([]float64, 16)
	for b.Loop() {
		if err := g.Sum(b.Context(), total, parts, l); err != nil {
			b.Fatal(err)
		}
	}
}
