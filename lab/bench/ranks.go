package bench

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"grfgp/graph"
	"grfgp/internal/parallel"
	"grfgp/internal/ranks"
	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/partition"
	"grfgp/solve"
	"grfgp/space"
	"grfgp/walk"
)

// RanksRun is what ranks compute together: products with K + σ²I of all nodes, and a system
// with it.
type RanksRun struct {
	Group    *ranks.Group // nil: one rank
	Hops     int          // longest walk
	Columns  int          // right-hand sides
	Products int          // that are timed
	Tol      float64      // of the system
	Seed     uint64
}

// Ranks is the cost of a RanksRun. Times are those of the slowest rank, bytes those of all ranks together.
type Ranks struct {
	Ranks    int     `json:"ranks"`
	Threads  int     `json:"threads"` // per rank
	Nodes    int     `json:"nodes"`
	Hops     int     `json:"hops"`
	Columns  int     `json:"columns"`
	Entries  int64   `json:"entries"`      // of Φ
	Rim      int     `json:"rim"`          // rows of others that ranks need, of all ranks
	Largest  int     `json:"largest_rim"`  // of one rank
	Features float64 `json:"features_s"`   // seconds of walks, and of the patterns of Φ and its transpose
	Product  float64 `json:"product_s"`    // seconds of a product of K and all columns
	Bytes    float64 `json:"product_mem"`  // bytes of memory that a product reads and writes at least
	Model    int64   `json:"model_bytes"`  // that a product sends, by the plan
	Counted  int64   `json:"sent_bytes"`   // that a product has sent
	Messages int64   `json:"messages"`     // of a product
	Wait     float64 `json:"wait_share"`   // of the time of products, in exchanges; mean of ranks
	Solve    float64 `json:"solve_s"`      // seconds of the system
	Steps    int     `json:"iterations"`   // of conjugate gradients
	Sent     int64   `json:"solve_bytes"`  // that the system has sent
	SolveGap float64 `json:"solve_wait"`   // share of its time in exchanges; mean of ranks
	Heap     int64   `json:"largest_heap"` // bytes in use on one rank after the system
	Digest   string  `json:"digest"`       // of the solution: the same at any number of ranks

	Plan *partition.Plan `json:"plan"`
}

// WalkOptions returns the options of the features.
func (r RanksRun) WalkOptions() walk.Options {
	opts := walk.Default()
	opts.MaxLen, opts.Seed = r.Hops, r.Seed
	return opts
}

// Measure runs it on a graph in locality order. All ranks call it together.
func (r RanksRun) Measure(ctx context.Context, g *graph.Graph, say func(format string, args ...any)) (*Ranks, error) {
	m := ranksMeter{r, ctx}
	out := &Ranks{Ranks: r.Group.Size(), Threads: runtime.GOMAXPROCS(0), Nodes: g.Len(), Hops: r.Hops, Columns: r.Columns}
	var err error
	if out.Plan, err = partition.NewOver(ctx, r.Group, g, r.WalkOptions()); err != nil {
		return nil, err
	}
	sizes := make([]int, out.Ranks)
	for k, s := range out.Plan.Shares {
		sizes[k] = s.Len()
		out.Rim += s.Rim
		if s.Len() == 0 {
			return nil, fmt.Errorf("by its work, the graph of %d nodes leaves rank %d without any; take fewer ranks, or a larger graph", g.Len(), k)
		}
	}
	_, out.Largest, _ = out.Plan.Largest()
	out.Model = out.Plan.Exchanged() * int64(r.Columns)
	layout := ranks.OfSizes(sizes)
	lo, hi := layout.Range(r.Group.Rank())
	say("planned: %d rows of others in all, %d bytes per product", out.Rim, out.Model)

	// The rows of this rank, and Φ of them.
	opts := r.WalkOptions()
	w, scale, strengths := g.WalkMatrix(graph.NormalizedAdjacency)
	opts.Scale, opts.Strengths, opts.Rooted = scale, strengths, strengths != nil
	features, err := walk.Lazy(w, opts)
	if err != nil {
		return nil, err
	}
	k, err := kernel.NewGRF(features, kernel.Diffusion{})
	if err != nil {
		return nil, err
	}
	own := make([]int, hi-lo)
	for a := range own {
		own[a] = lo + a
	}
	in := space.Together(ctx, r.Group, false)
	axis, err := in.Axis(ctx, len(own))
	if err != nil {
		return nil, err
	}
	var root kernel.Root
	out.Features, _, err = m.time(func() (err error) {
		if root, err = kernel.RootOf(ctx, k, in, own, kernel.RootOptions{}); err == nil {
			err = root.Set(ctx, []float64{1, 1})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	entries := int64(0)
	list, err := features.List(ctx, own)
	if err != nil {
		return nil, err
	}
	for a := range own {
		entries += int64(len(list.Reached(a)))
	}
	say("features: %.2f s", out.Features)

	b, x := in.Block(axis, r.Columns), in.Block(axis, r.Columns)
	b.Set(m.numbers(len(own), lo))
	if err := root.Apply(ctx, x, b, false); err != nil { // the first one makes what is used again
		return nil, err
	}
	if err := m.products(out, root, x, b); err != nil {
		return nil, err
	}
	say("a product: %.4f s", out.Product)
	if err := m.system(out, root, in, x, b); err != nil {
		return nil, err
	}
	say("a system: %.2f s, %d iterations", out.Solve, out.Steps)
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	all, _, err := ranks.Gather(ctx, r.Group, []int64{entries, int64(memory.HeapInuse)})
	if err != nil {
		return nil, err
	}
	for q := 0; q < len(all); q += 2 {
		out.Entries += all[q]
		out.Heap = max(out.Heap, all[q+1])
	}
	// Φ and Φᵀ once, with a column of 4 bytes and a value of 8; blocks of vectors in, between and out.
	out.Bytes = 2*12*float64(out.Entries) + 2*8*float64(out.Nodes) + 4*8*float64(out.Nodes*r.Columns)
	return out, nil
}

// ranksMeter times what all ranks do together.
type ranksMeter struct {
	RanksRun
	ctx context.Context
}

// time returns the seconds of the slowest rank, and the share of time in exchanges, the mean of all ranks.
// Ranks begin together.
func (m ranksMeter) time(do func() error) (seconds, share float64, err error) {
	if _, _, err := ranks.Gather(m.ctx, m.Group, []uint8{1}); err != nil {
		return 0, 0, err
	}
	before, start := m.Group.Traffic(), time.Now()
	if err := do(); err != nil {
		return 0, 0, err
	}
	took := time.Since(start).Seconds()
	all, _, err := ranks.Gather(m.ctx, m.Group, []float64{took, m.Group.Traffic().Since(before).Seconds})
	if err != nil {
		return 0, 0, err
	}
	sum := 0.0
	for q := 0; q < len(all); q += 2 {
		seconds = max(seconds, all[q])
		sum += min(1, all[q+1]/max(all[q], 1e-9))
	}
	return seconds, sum / float64(m.Group.Size()), nil
}

// sent returns the bytes and messages that all ranks sent in do, once.
func (m ranksMeter) sent(do func() error) (bytes, messages int64, err error) {
	before := m.Group.Traffic()
	if err := do(); err != nil {
		return 0, 0, err
	}
	t := m.Group.Traffic().Since(before)
	all, _, err := ranks.Gather(m.ctx, m.Group, []int64{t.Sent, t.Messages})
	for q := 0; q < len(all); q += 2 {
		bytes, messages = bytes+all[q], messages+all[q+1]
	}
	return bytes, messages, err
}

// products times products and counts what one sends.
func (m ranksMeter) products(out *Ranks, root kernel.Root, x, b space.Block) (err error) {
	once := func() error { return root.Apply(m.ctx, x, b, false) }
	if out.Counted, out.Messages, err = m.sent(once); err != nil {
		return err
	}
	out.Product = math.Inf(1)
	shares := 0.0
	for range m.Products {
		seconds, share, err := m.time(once)
		if err != nil {
			return err
		}
		out.Product = min(out.Product, seconds)
		shares += share
	}
	out.Wait = shares / float64(m.Products)
	return nil
}

// system solves (K + σ²I)·x = b with σ² = 0.1.
func (m ranksMeter) system(out *Ranks, root kernel.Root, in space.Space, x, b space.Block) error {
	noise := in.Block(x.Axis(), 1)
	noise.Set(slices.Repeat([]float64{0.1}, x.Axis().Own))
	system := solve.System{Space: in, Axis: x.Axis(), Noise: noise, Apply: func(ctx context.Context, dst, x space.Block) error {
		return root.Apply(ctx, dst, x, false)
	}}
	opts := solve.DefaultOptions()
	opts.Tol, opts.MaxIter = m.Tol, 200
	x.Zero()
	var stats solve.Stats
	var err error
	out.Sent, _, err = m.sent(func() error {
		out.Solve, out.SolveGap, err = m.time(func() error {
			stats, err = system.CG(m.ctx, x, b, true, opts)
			return err
		})
		return err
	})
	if err != nil {
		return err
	}
	out.Steps = stats.Iterations
	if !stats.Converged {
		worst, _ := stats.Worst()
		return fmt.Errorf("the system of %d nodes has a residual of %.2g after %d iterations", out.Nodes, worst, stats.Iterations)
	}
	out.Digest, err = m.digest(x)
	return err
}

// numbers returns a block of numbers in [−1, 1) that depend on their row among all and on their column.
func (m ranksMeter) numbers(rows, first int) []float64 {
	x := make([]float64, rows*m.Columns)
	key := rng.Derive(m.Seed, "bench ranks")
	parallel.Ranges(rows, ranks.BlockRows, func(lo, hi int) {
		s := key.At(uint64((first + lo) / ranks.BlockRows))
		for i := lo * m.Columns; i < hi*m.Columns; i++ {
			x[i] = 2*s.Float64() - 1
		}
	})
	return x
}

// digest returns a hash of the rows of all ranks.
func (m ranksMeter) digest(x space.Block) (string, error) {
	var own []uint8
	rows, columns := x.Axis().Own, x.Columns()
	data := make([]float64, rows*columns)
	x.Get(data)
	for lo := 0; lo < rows; lo += ranks.BlockRows {
		h := sha256.New()
		if err := binary.Write(h, binary.LittleEndian, data[lo*columns:min(rows, lo+ranks.BlockRows)*columns]); err != nil {
			return "", err
		}
		own = h.Sum(own)
	}
	all, _, err := ranks.Gather(m.ctx, m.Group, own)
	sum := sha256.Sum256(all)
	return hex.EncodeToString(sum[:6]), err
}
