package progress

import (
	"math"
	"time"
)

const (
	leastShare = 0.02 // of the work that must be done for an estimate,
	leastTime  = time.Second
	recently   = 2. / 3 // share of the elapsed time from which on speed is recent
)

// Remaining estimates the time that work still takes, from its share done at several
// times. It weighs the speed since the beginning and that of the last third of the time
// alike, and approaches a new estimate within seconds, a shorter one sooner, so that it does not jump. The
// zero value is ready to use; it is not safe for concurrent use.
type Remaining struct {
	seen []moment
	left time.Duration // at the last moment; 0: not known yet
}

type moment struct {
	elapsed time.Duration
	share   float64
}

// At takes a share that was done after the elapsed time, both rising from call to call,
// and returns the time left, and whether there is an estimate yet.
func (r *Remaining) At(elapsed time.Duration, share float64) (left time.Duration, ok bool) {
	if share >= 1 {
		return 0, true
	}
	last := moment{}
	if n := len(r.seen); n > 0 {
		last = r.seen[n-1]
	}
	r.seen = append(r.seen, moment{elapsed, share})
	if share < leastShare || elapsed < leastTime {
		return 0, false
	}
	now := r.extrapolate(elapsed, share)
	if r.left == 0 {
		r.left = now
		return r.left, true
	}
	passed := elapsed - last.elapsed
	pace := max(2*time.Second, elapsed/10)
	if now < r.left {
		pace /= 3 // good news may be told sooner
	}
	weight := 1 - math.Exp(-float64(passed)/float64(pace))
	r.left = max(1, r.left-passed)
	r.left += time.Duration(weight * float64(now-r.left))
	return r.left, true
}

// extrapolate returns the time left by the speed so far.
func (r *Remaining) extrapolate(elapsed time.Duration, share float64) time.Duration {
	whole := float64(elapsed) * (1 - share) / share
	from := r.since(time.Duration(recently * float64(elapsed)))
	if from.share >= share {
		return time.Duration(whole)
	}
	recent := float64(elapsed-from.elapsed) * (1 - share) / (share - from.share)
	return time.Duration(math.Sqrt(whole * min(recent, 4*whole)))
}

// since returns the last moment not after a time, and forgets those before it.
func (r *Remaining) since(t time.Duration) moment {
	k := 0
	for k+1 < len(r.seen) && r.seen[k+1].elapsed <= t {
		k++
	}
	r.seen = r.seen[k:]
	return r.seen[0]
}
