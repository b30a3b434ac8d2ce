package walk

import (
	"context"
	"fmt"
	"math"

	"grfgp/internal/parallel"
	"grfgp/internal/rng"
	"grfgp/sparse"
)

// Estimate is the size and the error of the features of a run, estimated from a
// pilot run over a few rows.
type Estimate struct {
	PilotRows  int     `json:"pilot_rows"`
	Entries    float64 `json:"entries_per_row"`
	Values     float64 `json:"values_per_row"`
	ExactShare float64 `json:"exact_share"` // of rows without sampling error
	Bytes      int64   `json:"bytes"`       // features of all rows
	PeakBytes  int64   `json:"peak_bytes"`  // while sampling, including the step tables, plus two standard errors

	// Error is ‖Φ − Ψ‖/‖Ψ‖ over all rows in the Frobenius norm, for the given
	// coefficients, measured by two independent samples per row; SE is its standard
	// error, and ByLength the error of each Ψ_l alone. Low and High are the ends of a
	// 95 % confidence interval.
	Error    float64   `json:"error"`
	SE       float64   `json:"error_se"`
	Low      float64   `json:"error_low"`
	High     float64   `json:"error_high"`
	ByLength []float64 `json:"error_by_length"`

	// NoiseShare is the mean over rows of the share of ‖φ_i‖² that is noise. The
	// diagonal of ΦΦᵀ is too large by this share, E‖φ_i‖² = K_ii + E‖φ_i − ψ_i‖²;
	// entries off the diagonal are unbiased.
	NoiseShare float64 `json:"noise_share"`
}

// Pilot estimates the size and the error of the features that Sample would
// return, from the given number of rows. Rows are drawn with replacement, in
// proportion to their expected error. coeff are the f_l of Φ = Σ f_l Ψ_l.
func Pilot(ctx context.Context, w *sparse.CSR, opts Options, coeff []float64, rows int) (Estimate, error) {
	if err := opts.validatePilot(w, coeff, rows); err != nil {
		return Estimate{}, err
	}
	return newRun(w, opts).pilot(ctx, coeff, rows)
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

func (p *run) pilot(ctx context.Context, coeff []float64, rows int) (Estimate, error) {
	full := make([]float64, p.opts.MaxLen+1)
	copy(full, coeff)
	draws := p.pilotRows(full, rows)
	found := make([]comparison, len(draws))
	samplers := make([]*rowSampler, parallel.Workers(len(draws)))
	a, b := rng.Derive(p.opts.Seed, "pilot a"), rng.Derive(p.opts.Seed, "pilot b")
	err := parallel.Blocks(ctx, len(draws), func(worker, k int) error {
		if samplers[worker] == nil {
			samplers[worker] = p.rowSampler()
		}
		found[k] = samplers[worker].compare(draws[k].root, [2]rng.Stream{a.At(uint64(k)), b.At(uint64(k))}, full)
		found[k].weight = draws[k].weight
		return samplers[worker].tally.err
	})
	if err != nil {
		return Estimate{}, err
	}
	return p.summary(found), nil
}

// comparison compares two independent estimates a and b of one row. Per length
// (and, last, for Φ): noise = ‖a−b‖²/2 estimates the variance of one of them,
// signal = ⟨a, b⟩ is unbiased for the squared norm of the exact row.
type comparison struct {
	weight          float64 // in sums over all rows; one on average
	entries, values float64
	exact           bool
	noise, signal   []float64
}

// compare estimates a row twice.
func (s *rowSampler) compare(root uint32, streams [2]rng.Stream, coeff []float64) comparison {
	width := len(coeff) + 1 // the lengths, then Φ
	f := comparison{noise: make([]float64, width), signal: make([]float64, width)}
	place := map[uint32]int{}
	var sides [2][]float64 // per node reached by either: its values by length, then Φ
	for k, stream := range streams {
		s.out.empty()
		s.sample(root, stream)
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

// summary scales the findings up to all rows. Sizes, and the error, are ratios of
// weighted sums; the delta method gives their standard errors.
func (p *run) summary(found []comparison) Estimate {
	e := Estimate{PilotRows: len(found)}
	if len(found) == 0 {
		return e
	}
	mean := func(of func(f comparison) float64) (mean, se float64) {
		sum, weights, squares := 0.0, 0.0, 0.0
		for _, f := range found {
			sum += f.weight * of(f)
			weights += f.weight
		}
		mean = sum / weights
		for _, f := range found {
			d := f.weight * (of(f) - mean)
			squares += d * d
		}
		return mean, math.Sqrt(squares) / weights
	}
	e.Entries, _ = mean(func(f comparison) float64 { return f.entries })
	e.Values, _ = mean(func(f comparison) float64 { return f.values })
	e.ExactShare, _ = mean(func(f comparison) float64 {
		if f.exact {
			return 1
		}
		return 0
	})
	phi := p.opts.MaxLen + 1
	e.NoiseShare, _ = mean(func(f comparison) float64 {
		if f.noise[phi] == 0 {
			return 0
		}
		return min(1, f.noise[phi]/(f.noise[phi]+f.signal[phi])) // over (‖a‖² + ‖b‖²)/2
	})
	perRow, se := mean(func(f comparison) float64 { return 9 + 5*f.entries + 5*f.values })
	rows := float64(p.opts.Hi - p.opts.Lo)
	e.Bytes = int64(perRow * rows)
	tables := int64(4*len(p.steps.rowPtr) + 8*len(p.steps.cum) + 8*len(p.steps.growth))
	e.PeakBytes = int64((perRow+2*se)*rows) + tables

	for l := range phi {
		ratio, _ := relative(found, l)
		e.ByLength = append(e.ByLength, ratio)
	}
	if e.Error, e.SE = relative(found, phi); e.Error > 0 {
		// An error is positive and skewed to the right: on the scale of its
		// logarithm it is nearer to a normal distribution.
		factor := math.Exp(1.96 * e.SE / e.Error)
		e.Low, e.High = e.Error/factor, e.Error*factor
	}
	return e
}

// relative returns √(Σ noise / Σ signal) of one length, or of Φ, and its standard
// error.
func relative(found []comparison, l int) (ratio, se float64) {
	noise, signal := 0.0, 0.0
	for _, f := range found {
		noise += f.weight * f.noise[l]
		signal += f.weight * f.signal[l]
	}
	if noise == 0 {
		return 0, 0
	}
	signal = max(signal, 1e-18*noise) // a signal that drowns in the noise counts as a billionth of it
	ratio = math.Sqrt(noise / signal)
	sum := 0.0
	for _, f := range found {
		d := f.weight * (f.noise[l] - ratio*ratio*f.signal[l])
		sum += d * d
	}
	return ratio, math.Sqrt(sum) / signal / (2 * ratio)
}

// pilotRows is the number of rows of a pilot run unless a Goal says otherwise.
const pilotRows = 128

// Goal is the target of Tune: an error, and a limit on memory.
type Goal struct {
	Error float64 // wanted relative error of Φ
	Bytes int64   // most memory for the features; 0 means no limit
	Rows  int     // of each pilot; 0 means 128
}

// Tune returns opts with about the smallest number of walkers that reaches the
// goal's error in pilot runs, or the largest number that fits into its memory;
// Budget is twice that number. Met reports whether the error is reached within
// the memory. The estimate is that of the returned options.
func Tune(ctx context.Context, w *sparse.CSR, opts Options, coeff []float64, goal Goal) (tuned Options, est Estimate, met bool, err error) {
	if !(goal.Error > 0) {
		return opts, est, false, fmt.Errorf("%w: wanted error %v, want a positive number", ErrOptions, goal.Error)
	}
	if goal.Rows == 0 {
		goal.Rows = pilotRows
	}
	if err := opts.validatePilot(w, coeff, goal.Rows); err != nil {
		return opts, est, false, err
	}
	p := newRun(w, opts)
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

// trial is the result of a pilot run with a number of walkers.
type trial struct {
	walks int
	Estimate
	fits, sharp bool
}

// search finds, within a quarter, the fewest walkers that reach the error, or the
// most that fit into memory where these are fewer.
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
