package walk

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"grfgp/internal/parallel"
	"grfgp/internal/rng"
	"grfgp/sparse"
)

// Estimate is what a run would cost and how sharp it would be, from a pilot run
// over a few rows.
type Estimate struct {
	PilotRows  int     `json:"pilot_rows"`
	Entries    float64 `json:"entries_per_row"`
	Values     float64 `json:"values_per_row"`
	ExactShare float64 `json:"exact_share"` // of rows without sampling error
	Bytes      int64   `json:"bytes"`       // features of all rows
	PeakBytes  int64   `json:"peak_bytes"`  // while sampling: with the step tables and two standard errors on top

	// Error is ‖Φ − Ψ‖/‖Ψ‖ over the pilot rows in the Frobenius norm, for the
	// given coefficients, measured by two independent ensembles per row; SE is
	// its standard error, and ByLength the same of every Ψ_l alone.
	Error    float64   `json:"error"`
	SE       float64   `json:"error_se"`
	ByLength []float64 `json:"error_by_length"`
}

// Pilot estimates size and error of the features that Sample would give, from
// the given number of random rows; coeff are the f_l of Φ = Σ f_l Ψ_l.
func Pilot(ctx context.Context, w *sparse.CSR, opts Options, coeff []float64, rows int) (Estimate, error) {
	if err := opts.validatePilot(w, coeff, rows); err != nil {
		return Estimate{}, err
	}
	return newPlan(w, opts).pilot(ctx, coeff, rows)
}

// validatePilot is validate for a pilot run.
func (o *Options) validatePilot(w *sparse.CSR, coeff []float64, rows int) error {
	if err := o.validate(w); err != nil {
		return err
	}
	if len(coeff) > o.MaxLen+1 {
		return fmt.Errorf("%w: %d coefficients for lengths 0 to %d", ErrOptions, len(coeff), o.MaxLen)
	}
	if rows < 0 {
		return fmt.Errorf("%w: a pilot of %d rows, want 0 or more", ErrOptions, rows)
	}
	return nil
}

func (p *plan) pilot(ctx context.Context, coeff []float64, rows int) (Estimate, error) {
	roots := pilotRows(p.opts, rows)
	full := make([]float64, p.opts.MaxLen+1)
	copy(full, coeff)
	found := make([]finding, len(roots))
	painters := make([]*painter, parallel.Workers(len(roots)))
	err := parallel.Blocks(ctx, len(roots), func(worker, k int) error {
		if painters[worker] == nil {
			painters[worker] = p.painter()
		}
		found[k] = painters[worker].compare(roots[k], p.opts.Seed, full)
		return painters[worker].tally.err
	})
	if err != nil {
		return Estimate{}, err
	}
	return p.summary(found), nil
}

// pilotRows draws start nodes without replacement, the same for the same seed.
func pilotRows(opts Options, rows int) []uint32 {
	n := opts.Hi - opts.Lo
	rows = min(rows, n)
	random := rand.New(rng.New(opts.Seed, "pilot rows"))
	seen := make(map[int]bool, rows)
	roots := make([]uint32, 0, rows)
	for k := n - rows; k < n; k++ { // Floyd's sampling
		i := random.IntN(k + 1)
		if seen[i] {
			i = k
		}
		seen[i] = true
		roots = append(roots, uint32(opts.Lo+i))
	}
	slices.Sort(roots)
	return roots
}

// finding is what two independent estimates a and b of one row say. Per length
// (and, last, for Φ): noise = ‖a−b‖²/2 estimates the variance of one of them,
// signal = ⟨a, b⟩ is unbiased for the squared norm of the exact row.
type finding struct {
	entries, values float64
	exact           bool
	noise, signal   []float64
}

// compare estimates a row twice.
func (s *painter) compare(root uint32, seed uint64, coeff []float64) finding {
	width := len(coeff) + 1 // the lengths, then Φ
	f := finding{noise: make([]float64, width), signal: make([]float64, width)}
	place := map[uint32]int{}
	var sides [2][]float64 // per node reached by either: its values by length, then Φ
	for k, purpose := range []string{"pilot a", "pilot b"} {
		s.out.empty()
		s.paint(root, rng.Derive(seed, purpose).At(uint64(root)))
		f.entries += float64(len(s.out.col)) / 2
		f.values += float64(len(s.out.val)) / 2
		f.exact = int(s.out.exact[0]) == len(coeff)-1
		v := 0
		for e, node := range s.out.col {
			at, ok := place[node]
			if !ok {
				at = len(place) * width
				place[node] = at
			}
			sides[k] = append(sides[k], make([]float64, max(0, at+width-len(sides[k])))...)
			cell := sides[k][at : at+width]
			for end := v + int(s.out.num[e]); v < end; v++ {
				l, x := s.out.len[v], float64(s.out.val[v])
				cell[l] = x
				cell[width-1] += coeff[l] * x
			}
		}
	}
	a, b := sides[0], sides[1]
	a = append(a, make([]float64, len(place)*width-len(a))...)
	b = append(b, make([]float64, len(place)*width-len(b))...)
	for q := range a {
		f.noise[q%width] += (a[q] - b[q]) * (a[q] - b[q]) / 2
		f.signal[q%width] += a[q] * b[q]
	}
	return f
}

// summary scales the findings up to all rows.
func (p *plan) summary(found []finding) Estimate {
	e := Estimate{PilotRows: len(found)}
	if len(found) == 0 {
		return e
	}
	m, rows := float64(len(found)), int64(p.opts.Hi-p.opts.Lo)
	perRow, perRow2 := 0.0, 0.0
	for _, f := range found {
		e.Entries += f.entries
		e.Values += f.values
		if f.exact {
			e.ExactShare++
		}
		bytes := 9 + 5*f.entries + 5*f.values
		perRow += bytes
		perRow2 += bytes * bytes
	}
	for _, sum := range []*float64{&e.Entries, &e.Values, &e.ExactShare, &perRow, &perRow2} {
		*sum /= m
	}
	e.Bytes = int64(perRow * float64(rows))
	se := math.Sqrt(max(0, perRow2-perRow*perRow) / m)
	if len(found) == int(rows) {
		se = 0
	}
	tables := int64(4*len(p.steps.rowPtr) + 8*len(p.steps.cum) + 8*len(p.steps.growth))
	e.PeakBytes = int64((perRow+2*se)*float64(rows)) + tables

	maxLen := p.opts.MaxLen
	for l := range maxLen + 2 {
		noise, signal := 0.0, 0.0
		for _, f := range found {
			noise += f.noise[l]
			signal += f.signal[l]
		}
		ratio := 0.0
		if noise > 0 {
			// A signal that drowns in the noise counts as a billionth of it.
			ratio = math.Sqrt(noise / max(signal, 1e-18*noise))
		}
		if l <= maxLen {
			e.ByLength = append(e.ByLength, ratio)
			continue
		}
		e.Error = ratio
		if ratio > 0 {
			// Delta method for √(Σ noise / Σ signal).
			sum := 0.0
			for _, f := range found {
				d := f.noise[l] - ratio*ratio*f.signal[l]
				sum += d * d
			}
			e.SE = math.Sqrt(sum) / max(signal, 1e-18*noise) / (2 * ratio)
		}
	}
	return e
}

// Goal is what Tune aims at: an error, within a limit on memory.
type Goal struct {
	Error float64 // wanted relative error of Φ
	Bytes int64   // most memory for the features; 0 means no limit
	Rows  int     // of each pilot; 0 means 128
}

// Tune returns opts with about the fewest walkers, and twice as many nodes as
// budget, that reach the goal's error by pilot runs, or with about the most that
// fit into its memory. Met says which; where not even one walker fits, the
// estimate shows it.
func Tune(ctx context.Context, w *sparse.CSR, opts Options, coeff []float64, goal Goal) (tuned Options, est Estimate, met bool, err error) {
	if !(goal.Error > 0) {
		return opts, est, false, fmt.Errorf("%w: wanted error %v, want a positive number", ErrOptions, goal.Error)
	}
	if goal.Rows == 0 {
		goal.Rows = 128
	}
	if err := opts.validatePilot(w, coeff, goal.Rows); err != nil {
		return opts, est, false, err
	}
	p := newPlan(w, opts)
	try := func(walks int) (trial, error) {
		p.opts.Walks, p.opts.Budget = walks, 2*walks
		e, err := p.pilot(ctx, coeff, goal.Rows)
		return trial{walks, e, goal.Bytes == 0 || e.PeakBytes <= goal.Bytes, e.Error <= goal.Error}, err
	}
	best, err := search(try)
	if err != nil {
		return opts, est, false, err
	}
	tuned = opts
	tuned.Walks, tuned.Budget = best.walks, 2*best.walks
	return tuned, best.Estimate, best.fits && best.sharp, nil
}

// trial is what a pilot run says of a number of walkers.
type trial struct {
	walks int
	Estimate
	fits, sharp bool
}

// search finds the fewest walkers that are sharp, or the most that fit, within a
// quarter: sharp ones are wanted, but only those that fit will do.
func search(try func(walks int) (trial, error)) (trial, error) {
	const start, factor, close = 25, 4, 1.25
	t, err := try(start)
	for err == nil && !t.fits && t.walks > 1 {
		t, err = try(t.walks / 2)
	}
	if err != nil || !t.fits || t.sharp {
		return t, err
	}
	// t fits but is not sharp. Double twice until something gives, then halve
	// the gap.
	good, beyond := t, t
	for beyond.fits && !beyond.sharp {
		if good = beyond; good.walks == MaxWalks {
			return good, nil
		}
		if beyond, err = try(min(MaxWalks, factor*good.walks)); err != nil {
			return beyond, err
		}
	}
	for float64(beyond.walks) > close*float64(good.walks) {
		t, err := try(int(math.Sqrt(float64(good.walks) * float64(beyond.walks))))
		if err != nil {
			return t, err
		}
		if t.fits && !t.sharp {
			good = t
		} else {
			beyond = t
		}
	}
	if beyond.fits {
		return beyond, nil
	}
	return good, nil
}
