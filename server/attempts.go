package server

import (
	"net/netip"
	"sync"
	"time"
)

// attempts slows those who try wrong tokens, by their address. Tokens that were right from
// an address before stay so while it is slowed: others there are not kept out.
type attempts struct {
	mu     sync.Mutex
	failed map[string]*failures // by address
	known  map[[2]string]bool   // addresses and names of tokens
}

// failures of an address.
type failures struct {
	count int
	last  time.Time
	until time.Time // when the next token is looked at
	told  bool      // the log has a line about this wait
}

const (
	freeAttempts   = 5 // wrong tokens before an address is slowed
	longestWait    = time.Minute
	forgottenAfter = 10 * time.Minute
	mostAddresses  = 4096 // that are remembered
)

// good reports whether a right token is accepted: always, unless the address is slowed and
// the token was never used there. Who guesses thus learns nothing while slowed.
func (a *attempts) good(address, name string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	place := [2]string{address, name}
	if a.known[place] {
		return true
	}
	if f := a.failed[address]; f != nil && now.Before(f.until) {
		return false
	}
	if a.known == nil || len(a.known) >= mostAddresses {
		a.known = map[[2]string]bool{}
	}
	a.known[place] = true
	return true
}

// wrong counts a token that was not accepted, and returns how long the address must wait;
// 0: not yet. tell reports that the log should have a line about it. A right token that
// came too early does not count.
func (a *attempts) wrong(address string, counts bool, now time.Time) (wait time.Duration, tell bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f := a.failed[address]
	if f == nil || now.Sub(f.last) > forgottenAfter {
		a.makeRoom(now)
		f = &failures{}
		a.failed[address] = f
	}
	f.last = now
	if now.Before(f.until) {
		tell, f.told = !f.told, true
		return f.until.Sub(now), tell
	}
	if counts {
		f.count++
	}
	if f.count > freeAttempts {
		pause := min(longestWait, time.Second<<min(f.count-freeAttempts-1, 10))
		f.until, f.told = now.Add(pause), false
	}
	return 0, true
}

// makeRoom forgets addresses: those that are quiet, and else any.
func (a *attempts) makeRoom(now time.Time) {
	if a.failed == nil {
		a.failed = map[string]*failures{}
	}
	if len(a.failed) < mostAddresses {
		return
	}
	for address, f := range a.failed {
		if now.Sub(f.last) > forgottenAfter {
			delete(a.failed, address)
		}
	}
	for address := range a.failed {
		if len(a.failed) < mostAddresses {
			return
		}
		delete(a.failed, address)
	}
}

// neighbourhood is the part of an address that stands for one client: in IPv6 the network,
// within which addresses are free to choose.
func neighbourhood(ip netip.Addr) string {
	ip = ip.Unmap().WithZone("")
	if ip.Is6() {
		if p, err := ip.Prefix(64); err == nil {
			return p.String()
		}
	}
	return ip.String()
}

func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }
