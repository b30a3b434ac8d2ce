package examples

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"grfgp/internal/rng"
)

// Papers are papers that cite each other, mostly within their topic. The topics of some
// are known.
type Papers struct {
	IDs       []string
	Topic     []string // truth
	Citations [][2]int // of an earlier paper by a later one
	Known     []int    // papers whose topic is known
}

// topics are those that papers have.
var topics = []string{"databases", "language", "networks", "robotics", "vision"}

const (
	papers        = 400
	knownTopics   = 60
	mostCitations = 4
	sameTopic     = 0.82 // share of citations
)

// NewPapers returns the papers of a seed.
func NewPapers(seed uint64) *Papers {
	r := rand.New(rng.New(seed, "papers"))
	p := &Papers{}
	for i := range papers {
		p.IDs = append(p.IDs, fmt.Sprintf("P%03d", i+1))
		p.Topic = append(p.Topic, topics[r.IntN(len(topics))])
		if i == 0 {
			continue
		}
		cited := map[int]bool{}
		for range 1 + r.IntN(mostCitations) {
			cited[p.cite(r, i)] = true
		}
		for j := range i {
			if cited[j] {
				p.Citations = append(p.Citations, [2]int{i, j})
			}
		}
	}
	p.Known = r.Perm(papers)[:knownTopics]
	slices.Sort(p.Known)
	return p
}

// cite returns the paper that paper i cites: of its own topic, or of any.
func (p *Papers) cite(r *rand.Rand, i int) int {
	if r.Float64() > sameTopic {
		return r.IntN(i)
	}
	var same []int
	for j := range i {
		if p.Topic[j] == p.Topic[i] {
			same = append(same, j)
		}
	}
	if len(same) == 0 {
		return r.IntN(i)
	}
	return same[r.IntN(len(same))]
}
