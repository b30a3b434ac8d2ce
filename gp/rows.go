package gp

import (
	"context"
	"slices"
	"sync"

	"grfgp/internal/gpu"
	"grfgp/kernel"
	"grfgp/solve"
	"grfgp/space"
)

// rows is a kernel at measured nodes, with an unknown mean, in a memory. Whoever has it uses it alone.
type rows struct {
	root     kernel.Root
	space    space.Space
	axis     space.Axis
	of       kernel.Kernel
	nodes    []int
	constant float64
	theta    []float64 // of set

	// The preconditioners that were made last, for hyperparameters and noise variances; nil: none.
	made *preconditioners
}

// preconditioners are those of a system.
type preconditioners struct {
	factored solve.Factored
	near     solve.Preconditioner // of solves, instead of factored; nil unless the kernel has one
	own      bool                 // one of them is that of the kernel, not the diagonal
	theta    []float64
	noise    []float64
}

// newRows returns a kernel at nodes; nil where the memory has no place for it.
func newRows(ctx context.Context, s space.Space, k kernel.Kernel, nodes []int, constant float64, opts kernel.RootOptions) (*rows, error) {
	axis, err := s.Axis(ctx, len(nodes))
	if err != nil {
		return nil, err
	}
	root, err := kernel.RootWithConstant(ctx, k, constant, s, nodes, opts)
	if root == nil || err != nil {
		return nil, err
	}
	return &rows{root: root, space: s, axis: axis, of: k, nodes: slices.Clone(nodes), constant: constant}, nil
}

// is reports whether the rows are those of a kernel at nodes.
func (r *rows) is(k kernel.Kernel, nodes []int, constant float64) bool {
	return r.of == k && r.constant == constant && slices.Equal(r.nodes, nodes)
}

// free gives the memory back.
func (r *rows) free() {
	r.forget()
	r.root.Free()
}

func (r *rows) forget() {
	if r.made != nil {
		r.made.factored.Free()
		r.made = nil
	}
}

// set goes to other hyperparameters.
func (r *rows) set(ctx context.Context, theta []float64) error {
	if r.theta != nil && slices.Equal(r.theta, theta) {
		return nil
	}
	r.theta = nil
	if err := r.root.Set(ctx, theta); err != nil {
		return err
	}
	r.theta = slices.Clone(theta)
	return nil
}

// apply sets dst to the product of the kernel with x.
func (r *rows) apply(ctx context.Context, dst, x space.Block) error {
	return r.root.Apply(ctx, dst, x, false)
}

// precondition returns the preconditioners for noise variances at the hyperparameters of set. They belong to the rows.
func (r *rows) precondition(ctx context.Context, noise []float64) (*preconditioners, error) {
	if p := r.made; p != nil && slices.Equal(r.theta, p.theta) && slices.Equal(noise, p.noise) {
		return p, nil
	}
	r.forget()
	p := &preconditioners{theta: r.theta, noise: noise}
	var err error
	if p.factored, p.own, err = r.root.Precondition(ctx, 0, noise); err != nil {
		return nil, err
	}
	r.made = p
	if !space.IsHost(r.space) {
		return p, nil
	}
	cov, err := r.of.At(r.theta)
	if err != nil {
		return nil, err
	}
	if near := kernel.AbilitiesOf(kernel.WithConstant(cov, r.constant)).Approximate; near != nil {
		if p.near, err = near(ctx, r.nodes, 0, noise); err != nil {
			return nil, err
		}
		p.own = p.own || p.near != nil
	}
	return p, nil
}

// functions are functions of a kernel at hyperparameters, at some nodes.
type functions struct {
	values kernel.Values
	of     kernel.Kernel
	theta  []float64
	nodes  []int
}

func (f *functions) free() { f.values.Free() }

// hold keeps what a memory has of the computation before, for the next one: a posterior has the measurements of its fit, a
// search adds one at a time, and predictions at all nodes are asked for again and again. A nil hold keeps nothing.
type hold struct {
	mu        sync.Mutex // guards what follows
	rows      *rows
	tail      *rows // of measurements that were added to those of rows
	narrow    *rows // those of rows in float32
	functions *functions
}

// rowsAt returns a kernel at measured nodes in a memory, to be given back by keep; nil where there is no place for it.
func (h *hold) rowsAt(ctx context.Context, s space.Space, k kernel.Kernel, nodes []int, constant float64) (*rows, error) {
	if r := take(h, ofRows, func(r *rows) bool { return r.is(k, nodes, constant) }); r != nil {
		space.During(ctx, r.space)
		return r, nil
	}
	return newRows(ctx, s, k, nodes, constant, kernel.RootOptions{})
}

// kept is what a hold keeps in a place.
type kept interface {
	comparable
	free()
}

func ofRows(h *hold) **rows           { return &h.rows }
func ofTail(h *hold) **rows           { return &h.tail }
func ofNarrow(h *hold) **rows         { return &h.narrow }
func ofFunctions(h *hold) **functions { return &h.functions }

// take returns what is kept in a place if it is right, and empties the place.
func take[K kept](h *hold, place func(h *hold) *K, right func(k K) bool) (k K) {
	if h == nil {
		return k
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	at, none := place(h), k
	if *at == none || !right(*at) {
		return none
	}
	k, *at = *at, none
	return k
}

// put keeps k in a place, and frees what was there.
func put[K kept](h *hold, place func(h *hold) *K, k K) {
	if h == nil {
		k.free()
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var none K
	at := place(h)
	if *at != none {
		(*at).free()
	}
	*at = k
}

// drop frees what is kept in a place if it is wrong, and reports whether it was.
func drop[K kept](h *hold, place func(h *hold) *K, wrong func(k K) bool) bool {
	var none K
	k := take(h, place, wrong)
	if k != none {
		k.free()
	}
	return k != none
}

// headRows is the number of measurements to which a head is rounded down: a search, which measures one at a time, then makes
// fewer than so many rows in most of its steps.
const headRows = 64

// partsAt is rowsAt in parts, a head and the rest, so that more measurements leave the head as it is. Where it ends depends on
// their number alone, for what was computed before must not show in the bits.
func (h *hold) partsAt(ctx context.Context, s space.Space, k kernel.Kernel, nodes []int, constant float64) ([]*rows, error) {
	n := len(nodes) / headRows * headRows
	if n < 4*headRows || n == len(nodes) {
		r, err := h.rowsAt(ctx, s, k, nodes, constant)
		if r == nil {
			return nil, err
		}
		return []*rows{r}, nil
	}
	head, err := h.rowsAt(ctx, s, k, nodes[:n], constant)
	if head == nil {
		return nil, err
	}
	tail := take(h, ofTail, func(r *rows) bool { return r.is(k, nodes[n:], constant) })
	if tail == nil {
		if tail, err = newRows(ctx, s, k, nodes[n:], constant, kernel.RootOptions{}); tail == nil {
			h.keep([]*rows{head})
			return nil, err
		}
	}
	return []*rows{head, tail}, nil
}

// keep keeps rows, in one or two parts, in place of what was kept.
func (h *hold) keep(parts []*rows) {
	put(h, ofRows, parts[0])
	if len(parts) > 1 {
		put(h, ofTail, parts[1])
	} else {
		drop(h, ofTail, func(r *rows) bool { return r.of != parts[0].of })
	}
}

// narrowed calls do with the kernel of r in float32; nil where there is none.
func (h *hold) narrowed(ctx context.Context, r *rows, do func(r *rows) error) error {
	own := take(h, ofNarrow, func(n *rows) bool { return n.is(r.of, r.nodes, r.constant) })
	if own != nil {
		space.During(ctx, own.space)
	} else {
		var err error
		if own, err = newRows(ctx, space.Narrow(r.space), r.of, r.nodes, r.constant, kernel.RootOptions{}); err != nil {
			return err
		}
	}
	if own == nil {
		return do(nil)
	}
	defer put(h, ofNarrow, own)
	if err := own.set(ctx, r.theta); err != nil {
		return err
	}
	return do(own)
}

// valuesAt returns the functions of a stage at some nodes, to be given back by keepValues; nil if the memory has no place
// for them.
func (h *hold) valuesAt(ctx context.Context, s *stage, nodes []int) (*functions, error) {
	if v := take(h, ofFunctions, func(v *functions) bool {
		return v.of == s.kernel && slices.Equal(v.theta, s.theta) && slices.Equal(v.nodes, nodes)
	}); v != nil {
		return v, nil
	}
	own, err := kernel.ValuesOf(ctx, s.cov, s.space, nodes)
	if own == nil || err != nil {
		return nil, err
	}
	return &functions{own, s.kernel, slices.Clone(s.theta), slices.Clone(nodes)}, nil
}

// keepValues keeps functions at many of all nodes in place of what was kept, and frees those at few.
func (h *hold) keepValues(v *functions) {
	if 8*len(v.nodes) < v.of.Nodes() {
		h = nil
	}
	put(h, ofFunctions, v)
}

// empty frees all that is kept, and reports whether there was something.
func (h *hold) empty() (some bool) {
	for _, place := range []func(h *hold) **rows{ofRows, ofTail, ofNarrow} {
		some = drop(h, place, func(*rows) bool { return true }) || some
	}
	return drop(h, ofFunctions, func(*functions) bool { return true }) || some
}

// columnsAtATime is how many columns of blocks with so many rows in all go beside each other on a card: as
// many as half of the free memory holds.
func columnsAtATime(d *gpu.Device, rows int) int {
	free, _, err := d.Memory()
	if err != nil {
		return 1
	}
	return int(max(1, min(gpu.MaxColumns, free/2/(8*int64(rows)+1))))
}
