package study_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"grfgp/bayesopt"
	"grfgp/graph"
	"grfgp/study"
)

// draws is an Engine that takes the first open nodes of n0, n1, … from a random
// one on.
type draws struct {
	settings study.Settings
	labels   *graph.IDs
}

func newDraws(n int, s study.Settings) *draws {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprint("n", i)
	}
	labels, _ := graph.IDsOf(ids)
	return &draws{s, labels}
}

func (d *draws) IDs() study.NodeIDs { return d.labels }

func (d *draws) Cost(int) float64 { return 1 }

// by returns checks that compute suggestions again by an engine.
func by(e study.Engine) study.Checks {
	return study.Checks{IDs: e.IDs(), Engine: func(study.Settings) (study.Engine, error) { return e, nil }}
}

func (d *draws) Suggest(_ context.Context, q study.Query) (study.Suggestions, error) {
	closed := make([]bool, d.labels.Len())
	shut := func(id string) {
		i, _ := d.labels.Lookup([]byte(id))
		closed[i] = true
	}
	for _, id := range slices.Concat(q.Pending, q.Excluded) {
		shut(id)
	}
	if !d.settings.Repeats {
		for _, r := range q.Measurements {
			shut(r.Node)
		}
	}
	left := math.Inf(1)
	if q.Budget != nil {
		left = *q.Budget
	}
	out := study.Suggestions{Short: bayesopt.NoNodesLeft}
	first := rand.New(rand.NewPCG(q.Seed, 0)).IntN(len(closed))
	for k := range closed {
		switch i := (first + k) % len(closed); {
		case closed[i]:
		case left < 1:
			out.Short = bayesopt.BudgetReached
		default:
			left--
			out.List = append(out.List, study.Suggestion{Node: d.labels.At(i), Cost: 1, Why: "drawn"})
			if len(out.List) == q.Count {
				out.Short = bayesopt.Enough
				return out, nil
			}
		}
	}
	return out, nil
}

func (d *draws) Fit(context.Context, []study.Measurement) (study.Snapshot, error) {
	return nil, study.ErrNoModel
}

// clock is a time that tests set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// table is a study on some nodes, with its log and its clock.
type table struct {
	*study.Study
	log   study.Log
	clock *clock
	nodes int
	ctx   context.Context
}

func settings(change func(*study.Settings)) study.Settings {
	s := study.Settings{Name: "s", Graph: "g", Seed: 3, Lease: study.Duration(time.Hour)}
	if change != nil {
		change(&s)
	}
	return s
}

func newTable(t testing.TB, nodes int, change func(*study.Settings)) *table {
	t.Helper()
	c := &clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	log := new(study.MemoryLog)
	if _, err := study.Create(t.Context(), log, settings(change), "owner", c.now); err != nil {
		t.Fatal(err)
	}
	return reopen(t, &table{log: log, clock: c, nodes: nodes})
}

// reopen replays the log, as a restart does.
func reopen(t testing.TB, from *table) *table {
	t.Helper()
	to := &table{log: from.log, clock: from.clock, nodes: from.nodes, ctx: t.Context()}
	var err error
	to.Study, err = study.Open(t.Context(), to.log, study.Options{Now: to.clock.Now, Engine: func(context.Context) (study.Engine, error) {
		return newDraws(to.nodes, to.Settings()), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func (x *table) ask(t testing.TB, n int) []study.Issued {
	t.Helper()
	a, err := x.Ask(x.ctx, study.AskRequest{Count: n})
	if err != nil {
		t.Fatal(err)
	}
	return a.Trials
}

func (x *table) trial(id int) (trial study.Trial) {
	x.View(func(s *study.State) { trial = s.Trials[id-1] })
	return trial
}

// shown is all that a state shows, as JSON.
func shown(t testing.TB, x *study.Study) string {
	t.Helper()
	var text string
	x.View(func(s *study.State) {
		b, err := json.Marshal(struct {
			State              *study.State
			Readings, Reserved any
			Abandoned          []string
			Counts             any
			Spent              float64
			History            any
			Query              study.Query
		}{s, s.Measurements(), s.Pending(), s.AbandonedNodes(), s.Counts(), s.Spent(), s.History(), s.Query(3)})
		if err != nil {
			t.Fatal(err)
		}
		text = string(b)
	})
	return text
}
