package gp

import (
	"context"
	"slices"
	"sync"

	"grfgp/internal/gpu"
	"grfgp/kernel"
	"grfgp/solve"
)

// kept is what a device keeps of the computation before, for the next one: a posterior has the
// measurements of its fit, and predictions at all nodes are asked for again and again.
type kept struct {
	mu     sync.Mutex // guards what follows
	rows   *keptRows
	tail   *keptRows // of measurements that were added to those of rows
	values *keptValues
}

// keptRows is a kernel at the measured nodes on the device. Whoever has it uses it alone.
type keptRows struct {
	kernel.DeviceRows
	of       kernel.Kernel
	nodes    []int
	constant float64
	theta    []float64 // of Set

	// The preconditioner that was made last, for hyperparameters and noise variances.
	precond              solve.DevicePreconditioner // nil: none
	own                  bool                       // it is that of the kernel, not the diagonal
	precondAt, precondOf []float64
}

// free gives the memory of the device back.
func (r *keptRows) free() {
	r.dropPreconditioner()
	r.Free()
}

func (r *keptRows) dropPreconditioner() {
	if r.precond != nil {
		r.precond.Free()
		r.precond = nil
	}
}

// preconditioner returns the preconditioner for noise variances, which are also on the device, at the
// hyperparameters of Set. It belongs to the rows. own says that it is the kernel's, not the diagonal.
func (r *keptRows) preconditioner(ctx context.Context, noise []float64, on *gpu.Block) (p solve.DevicePreconditioner, own bool, err error) {
	if r.precond != nil && slices.Equal(r.theta, r.precondAt) && slices.Equal(noise, r.precondOf) {
		return r.precond, r.own, nil
	}
	r.dropPreconditioner()
	if r.precond, r.own, err = r.Precondition(ctx, noise, on); err != nil {
		r.precond = nil
		return nil, false, err
	}
	r.precondAt, r.precondOf = r.theta, noise
	return r.precond, r.own, nil
}

// keptValues are functions of a kernel at a theta, at some nodes.
type keptValues struct {
	kernel.DeviceValues
	of    kernel.Kernel
	theta []float64
	nodes []int
}

func (c *Card) keeps() *kept {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = new(kept)
	}
	return c.kept
}

// rowsOf returns a kernel at measured nodes on the device, to be given back by keepRows; nil if
// it cannot be computed there.
func (c *Card) rowsOf(k kernel.Kernel, nodes []int, constant float64) (*keptRows, error) {
	begin := kernel.TrainingOf(k).Device
	if begin == nil {
		return nil, nil
	}
	from := c.keeps()
	from.mu.Lock()
	if r := from.rows; r != nil && r.is(k, nodes, constant) {
		from.rows = nil
		from.mu.Unlock()
		return r, nil
	}
	from.mu.Unlock()
	own, err := begin(c.Device, nodes, constant)
	if own == nil || err != nil {
		return nil, err
	}
	return &keptRows{DeviceRows: own, of: k, nodes: slices.Clone(nodes), constant: constant}, nil
}

const (
	tailFrom = 256 // fewest measurements to which others are added as a tail,
	tailMost = 64  // and most of those
)

// partsOf is rowsOf in parts: the measurements that are kept, if they are the first ones, and those that
// were added since. A search adds one at a time.
func (c *Card) partsOf(k kernel.Kernel, nodes []int, constant float64) ([]*keptRows, error) {
	from := c.keeps()
	from.mu.Lock()
	base := from.rows
	more := base != nil && base.of == k && base.constant == constant && len(base.nodes) >= tailFrom &&
		len(base.nodes) < len(nodes) && len(nodes) <= len(base.nodes)+tailMost && slices.Equal(base.nodes, nodes[:len(base.nodes)])
	if more {
		from.rows = nil
	}
	from.mu.Unlock()
	if !more {
		r, err := c.rowsOf(k, nodes, constant)
		if r == nil {
			return nil, err
		}
		return []*keptRows{r}, nil
	}
	from.mu.Lock()
	tail := from.tail
	from.tail = nil
	from.mu.Unlock()
	if added := nodes[len(base.nodes):]; tail == nil || !tail.is(k, added, constant) {
		if tail != nil {
			tail.free()
		}
		var err error
		if tail, err = c.rowsOf(k, added, constant); tail == nil {
			c.keepRows(base)
			return nil, err
		}
	}
	return []*keptRows{base, tail}, nil
}

// is reports whether the rows are those of a kernel at nodes.
func (r *keptRows) is(k kernel.Kernel, nodes []int, constant float64) bool {
	return r.of == k && r.constant == constant && slices.Equal(r.nodes, nodes)
}

// keepParts keeps what partsOf has returned.
func (c *Card) keepParts(parts []*keptRows) {
	c.keepRows(parts[0])
	if len(parts) == 1 {
		return
	}
	to := c.keeps()
	to.mu.Lock()
	defer to.mu.Unlock()
	if to.tail != nil {
		to.tail.free()
	}
	to.tail = parts[1]
}

func freeParts(parts []*keptRows) {
	for _, r := range parts {
		r.free()
	}
}

// keepRows keeps what rowsOf has returned in place of what was kept.
func (c *Card) keepRows(r *keptRows) {
	to := c.keeps()
	to.mu.Lock()
	defer to.mu.Unlock()
	if to.rows != nil {
		to.rows.free()
	}
	if to.tail != nil && to.tail.of != r.of {
		to.tail.free()
		to.tail = nil
	}
	to.rows = r
}

// Set goes to other hyperparameters.
func (r *keptRows) Set(ctx context.Context, theta []float64) error {
	if r.theta != nil && slices.Equal(r.theta, theta) {
		return nil
	}
	if err := r.DeviceRows.Set(ctx, theta); err != nil {
		return err
	}
	r.theta = slices.Clone(theta)
	return nil
}

// valuesAt returns the functions at some nodes, to be given back by keepValues; nil if the card
// cannot have them.
func (c *Card) valuesAt(ctx context.Context, r *keptRows, nodes []int) (*keptValues, error) {
	from := c.keeps()
	from.mu.Lock()
	if v := from.values; v != nil && v.of == r.of && slices.Equal(v.theta, r.theta) && slices.Equal(v.nodes, nodes) {
		from.values = nil
		from.mu.Unlock()
		return v, nil
	}
	from.mu.Unlock()
	own, err := r.Elsewhere(ctx, nodes)
	if own == nil || err != nil {
		return nil, err
	}
	return &keptValues{own, r.of, slices.Clone(r.theta), slices.Clone(nodes)}, nil
}

// keepValues keeps functions at many of all nodes in place of what was kept, and frees those at few.
func (c *Card) keepValues(v *keptValues, all int) {
	if 8*len(v.nodes) < all {
		v.Free()
		return
	}
	to := c.keeps()
	to.mu.Lock()
	defer to.mu.Unlock()
	if to.values != nil {
		to.values.Free()
	}
	to.values = v
}

// forget frees all that is kept, and reports whether there was something.
func (c *Card) forget() bool {
	from := c.keeps()
	from.mu.Lock()
	defer from.mu.Unlock()
	some := from.rows != nil || from.tail != nil || from.values != nil
	from.free()
	c.Device.Trim()
	return some
}

// free frees all; the caller holds mu.
func (k *kept) free() {
	for _, r := range []*keptRows{k.rows, k.tail} {
		if r != nil {
			r.free()
		}
	}
	if k.values != nil {
		k.values.Free()
	}
	k.rows, k.tail, k.values = nil, nil, nil
}

// drop forgets what a lost device had.
func (k *kept) drop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.free()
}

// columnsAtATime is how many columns of blocks with so many rows in all go beside each other: as
// many as half of the free memory holds.
func columnsAtATime(d *gpu.Device, rows int) int {
	free, _, err := d.Memory()
	if err != nil {
		return 1
	}
	return int(max(1, min(gpu.MaxColumns, free/2/(8*int64(rows)+1))))
}
