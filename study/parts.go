package study

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Parts says how an ask for many nodes is divided.
type Parts struct {
	Size int // most nodes of a part
	// Before, unless nil, is called before each part but the first, to wait for a model for
	// example.
	Before func(ctx context.Context) error
	// Reserved, unless nil, is called after each part with what is reserved so far.
	Reserved func(Ask)
}

// AskInParts is Ask, in parts: an event for each, so that other asks have their turn in
// between and results that arrive count for the next part. It returns what was reserved also
// with an error. A key gets the same answer again, and an ask that was broken off goes on
// where it ended.
func (s *Study) AskInParts(ctx context.Context, r AskRequest, parts Parts) (Ask, error) {
	if r.Nodes != nil || r.Count <= parts.Size || r.Count > MaxCount || s.answeredWhole(r) {
		a, err := s.Ask(ctx, r)
		if err == nil && parts.Reserved != nil {
			parts.Reserved(a)
		}
		return a, err
	}
	whole := Ask{Key: r.Key, Holder: r.Holder, Count: r.Count, Trials: []Issued{}}
	for k := 0; len(whole.Trials) < r.Count && whole.Short == ""; k++ {
		part := r
		part.Of, part.Count, part.Key = r.Count, min(parts.Size, r.Count-len(whole.Trials)), partKey(r, k)
		if k > 0 && parts.Before != nil {
			if err := parts.Before(ctx); err != nil {
				return whole, err
			}
		}
		a, err := s.Ask(ctx, part)
		if err != nil {
			return whole, err
		}
		if a.Seq > 0 {
			whole.Seq, whole.Until = a.Seq, a.Until
		}
		whole.Short = a.Short
		if a.Random != "" {
			whole.Random = a.Random
		}
		whole.Trials = append(whole.Trials, a.Trials...)
		if parts.Reserved != nil {
			parts.Reserved(whole)
		}
	}
	return whole, nil
}

// answeredWhole reports whether an ask with the key was answered in one piece.
func (s *Study) answeredWhole(r AskRequest) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	k, used := s.state.asks[r.Key]
	return used && s.state.Asks[k].Of == 0
}

// partKey returns the key of a part: that of the ask for the first, which makes another ask
// with the key a conflict, and one that follows from it for the others.
func partKey(r AskRequest, k int) string {
	if r.Key == "" || k == 0 {
		return r.Key
	}
	sum := sha256.Sum256([]byte(r.Key))
	return fmt.Sprintf("part %d of %s", k+1, hex.EncodeToString(sum[:16]))
}
