package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"grfgp/bayesopt"
	"grfgp/client"
	"grfgp/client/local"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/study"
)

// subjects is the number of studies under load at once.
const subjects = 3

// subject is a study under load, with all that was acknowledged.
type subject struct {
	name  string
	study client.Study
	nodes int
	most  int  // events, from which on it is replaced
	model bool // a model suggests nodes
	ids   study.NodeIDs

	alive  context.Context // until it is replaced
	retire context.CancelFunc

	mu        sync.Mutex
	told      map[int]float64 // value by trial
	failed    map[int]bool    // by trial
	asked     map[string][]study.Issued
	observed  map[string][]study.Record
	retracted map[int]bool // by number of the observation
	held      [][]int      // trials that a client has and may tell, by client
}

// newSubject makes the next study: the first is suggested by a model, the others at random.
func (s *soak) newSubject(ctx context.Context, k int) (*subject, error) {
	s.result.Studies++
	of := &subject{
		name: fmt.Sprintf("%s-%d", s.prefix, s.result.Studies), nodes: 20_000, most: 3000,
		told: map[int]float64{}, failed: map[int]bool{}, asked: map[string][]study.Issued{}, observed: map[string][]study.Record{},
		retracted: map[int]bool{}, held: make([][]int, s.Clients),
	}
	of.alive, of.retire = context.WithCancel(context.Background())
	policy := "random"
	if k == 0 {
		of.nodes, of.most, of.model, policy = 200, 200, true, ""
	}
	ring, err := graph.Ring(of.nodes)
	if err != nil {
		return nil, err
	}
	of.ids = ring.IDs()
	packed, err := graphio.Encode(graphio.NewNetwork(ring, nil, nil))
	if err != nil {
		return nil, err
	}
	settings, err := study.Settings{Name: of.name, Graph: "not known yet", Goal: bayesopt.Maximize, Policy: policy, Seed: s.Seed,
		Lease: study.Duration(20 * time.Second)}.Complete()
	if err != nil {
		return nil, err
	}
	err = s.until(ctx, func() error { _, err := s.client.Create(ctx, settings, packed, who); return err })
	if err != nil {
		return nil, err
	}
	err = s.until(ctx, func() (err error) { of.study, err = s.client.Study(ctx, of.name); return err })
	return of, err
}

// work is what one client does.
func (s *soak) work(ctx context.Context, k int) {
	random := rand.New(rand.NewPCG(s.Seed, uint64(2+k)))
	for n := 0; !s.ended.Load() && ctx.Err() == nil; n++ {
		s.quiet.RLock()
		if !s.ended.Load() {
			of := s.subjects[1+random.IntN(subjects-1)]
			if random.IntN(20) == 0 { // work with a model takes longer
				of = s.subjects[0]
			}
			s.command(ctx, of, k, n, random)
		}
		s.quiet.RUnlock()
	}
}

// command sends one command and keeps what was acknowledged.
func (s *soak) command(ctx context.Context, of *subject, k, n int, random *rand.Rand) {
	by, key := fmt.Sprint("client ", k), fmt.Sprintf("%d-%d", k, n)
	trial, has := of.take(k, random)
	switch p := random.IntN(100); {
	case p < 25 || p < 65 && !has:
		of.give(k, trial, has)
		s.ask(ctx, of, k, key, by)
	case p < 65:
		outcome := study.Outcome{Value: float64(random.IntN(1000)) / 8, Failed: random.IntN(20) == 0}
		s.tell(ctx, of, trial, outcome, by)
	case p < 75:
		of.give(k, trial, has)
		s.observe(ctx, of, key, by, random)
	case p < 82:
		of.give(k, trial, has) // results are accepted afterwards too
		s.otherwise(ctx, of, trial, has, by, random)
	default:
		of.give(k, trial, has)
		s.look(ctx, of, random)
	}
}

// take takes a trial that the client may tell.
func (of *subject) take(k int, random *rand.Rand) (trial int, ok bool) {
	of.mu.Lock()
	defer of.mu.Unlock()
	mine := of.held[k]
	if len(mine) == 0 {
		return 0, false
	}
	at := random.IntN(len(mine))
	trial = mine[at]
	mine[at] = mine[len(mine)-1]
	of.held[k] = mine[:len(mine)-1]
	return trial, true
}

// give puts a trial back.
func (of *subject) give(k, trial int, had bool) {
	if had {
		of.mu.Lock()
		defer of.mu.Unlock()
		of.held[k] = append(of.held[k], trial)
	}
}

func (s *soak) ask(ctx context.Context, of *subject, k int, key, by string) {
	var a study.Ask
	err := s.until(ctx, func() (err error) {
		a, err = of.study.Ask(ctx, study.AskRequest{Count: 2, Key: key, Holder: by})
		return err
	})
	if err != nil {
		if ctx.Err() == nil {
			s.fault("an ask of %s: %v", of.name, err)
		}
		return
	}
	s.asked.Add(1)
	if len(a.Trials) == 0 {
		return
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	of.asked[key] = a.Trials
	for _, t := range a.Trials {
		of.held[k] = append(of.held[k], t.Trial)
	}
}

func (s *soak) tell(ctx context.Context, of *subject, trial int, o study.Outcome, by string) {
	err := s.until(ctx, func() error { _, err := of.study.Tell(ctx, trial, o, by); return err })
	switch {
	case err != nil && o.Failed && errors.Is(err, study.ErrConflict): // it was abandoned
		return
	case err != nil:
		if ctx.Err() == nil {
			s.fault("result of trial %d of %s: %v", trial, of.name, err)
		}
		return
	}
	s.told.Add(1)
	of.mu.Lock()
	defer of.mu.Unlock()
	if o.Failed {
		of.failed[trial] = true
	} else {
		of.told[trial] = o.Value
	}
}

func (s *soak) observe(ctx context.Context, of *subject, key, by string, random *rand.Rand) {
	var m []study.Measurement
	for range 1 + random.IntN(3) {
		m = append(m, study.Measurement{Node: fmt.Sprint(random.IntN(of.nodes)), Value: float64(random.IntN(1000)) / 8})
	}
	var records []study.Record
	err := s.until(ctx, func() (err error) { records, err = of.study.Observe(ctx, key, m, "", by); return err })
	if err != nil {
		if ctx.Err() == nil {
			s.fault("measurements of %s: %v", of.name, err)
		}
		return
	}
	s.observed.Add(1)
	of.mu.Lock()
	defer of.mu.Unlock()
	of.observed[key] = records
}

// otherwise changes the study in some other way. A refusal is fine: a lease may have ended, a
// node may be taken.
func (s *soak) otherwise(ctx context.Context, of *subject, trial int, has bool, by string, random *rand.Rand) {
	var do func() error
	node := fmt.Sprint(random.IntN(of.nodes))
	switch p := random.IntN(8); {
	case p == 0 && has:
		do = func() error { _, err := of.study.Renew(ctx, trial, 30*time.Second, by); return err }
	case p == 1 && has:
		do = func() error { _, err := of.study.Release(ctx, trial, by); return err }
	case p == 2 && has:
		do = func() error { _, err := of.study.Abandon(ctx, trial, "", by); return err }
	case p == 3:
		do = func() error { _, err := of.study.Queue(ctx, []string{node}, "", by); return err }
	case p == 4:
		do = func() error { _, err := of.study.Unqueue(ctx, []string{node}, by); return err }
	case p == 5:
		lease := fmt.Sprintf(`{"lease": "%ds"}`, 10+random.IntN(30))
		do = func() error { _, err := of.study.Change(ctx, []byte(lease), "", by); return err }
	case p == 6:
		do = func() error { return of.study.Retry(ctx, by) }
	default:
		s.retract(ctx, of, by)
		return
	}
	if s.until(ctx, do) == nil {
		s.other.Add(1)
	}
}

// retract withdraws a measurement that belongs to no trial.
func (s *soak) retract(ctx context.Context, of *subject, by string) {
	number := 0
	of.mu.Lock()
	for _, records := range of.observed {
		if number = records[0].Number; !of.retracted[number] {
			break
		}
	}
	of.mu.Unlock()
	if number == 0 {
		return
	}
	if err := s.until(ctx, func() error { _, err := of.study.Retract(ctx, number, "", by); return err }); err != nil {
		if ctx.Err() == nil {
			s.fault("retracting observation %d of %s: %v", number, of.name, err)
		}
		return
	}
	s.other.Add(1)
	of.mu.Lock()
	defer of.mu.Unlock()
	of.retracted[number] = true
}

// look reads something; any answer but an internal error will do.
func (s *soak) look(ctx context.Context, of *subject, random *rand.Rand) {
	base := "/v1/studies/" + of.name
	paths := []string{"/v1/studies", "/metrics", "/v1/meta", base, base + "/trials?limit=50", base + "/observations?limit=50&order=desc",
		base + "/events?limit=50",
		base + "/history", base + "/queue"}
	if of.model {
		paths = append(paths, base+"/predictions?limit=5", base+"/candidates?count=2", base+"/map", base+"/calibration", base+"/effects")
	}
	path := paths[random.IntN(len(paths))]
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.server.url+path, nil)
	if err != nil {
		s.fault("%v", err)
		return
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		wait(ctx, 20*time.Millisecond)
		return // it is being restarted
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusInternalServerError {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
		s.fault("GET %s: %s", path, text)
	}
	io.Copy(io.Discard, resp.Body)
	if resp.StatusCode == http.StatusOK {
		s.read.Add(1)
	}
}

// compare compares all that was acknowledged with what the server has, and replays the events.
// It returns their number. No command is under way.
func (of *subject) compare(ctx context.Context, s *soak) (events int, err error) {
	var shown *client.Overview
	if err := s.until(ctx, func() (err error) { shown, err = of.study.Show(ctx); return err }); err != nil {
		return 0, err
	}
	of.compareWith(s, shown, true)
	err = s.until(ctx, func() error {
		v, err := study.Verify(ctx, of.study.Events(ctx, 0), study.Checks{IDs: of.ids})
		events = v.Events
		if errors.Is(err, study.ErrCorrupt) {
			s.fault("%s: %v", of.name, err)
			return nil
		}
		return err
	})
	return events, err
}

// compareWith compares what was acknowledged with an overview. If it is exact, there must not
// be more either.
func (of *subject) compareWith(s *soak, shown *client.Overview, exact bool) {
	of.mu.Lock()
	defer of.mu.Unlock()
	trials, values := 0, len(of.told)
	for key, list := range of.asked {
		trials += len(list)
		for _, t := range list {
			if t.Trial > len(shown.AllTrials) || shown.AllTrials[t.Trial-1].Node != t.Node {
				s.fault("%s: the ask %q got trial %d at node %s, which is lost", of.name, key, t.Trial, t.Node)
			}
		}
	}
	for id, v := range of.told {
		if id > len(shown.AllTrials) || shown.AllTrials[id-1].Value == nil || *shown.AllTrials[id-1].Value != v {
			s.fault("%s: the result %v of trial %d is lost", of.name, v, id)
		}
	}
	for id := range of.failed {
		if id > len(shown.AllTrials) || shown.AllTrials[id-1].State != study.TrialFailed {
			s.fault("%s: that trial %d failed is lost", of.name, id)
		}
	}
	for key, records := range of.observed {
		values += len(records)
		for _, r := range records {
			if r.Number > len(shown.Observations) || shown.Observations[r.Number-1].Measurement != r.Measurement {
				s.fault("%s: observation %d of key %q is lost", of.name, r.Number, key)
			}
		}
	}
	for number := range of.retracted {
		if number > len(shown.Observations) || !shown.Observations[number-1].Retracted {
			s.fault("%s: that observation %d was retracted is lost", of.name, number)
		}
	}
	if exact && (trials != len(shown.AllTrials) || values != len(shown.Observations)) {
		s.fault("%s: %d trials and %d observations were acknowledged, and there are %d and %d", of.name, trials, values, len(shown.AllTrials),
			len(shown.Observations))
	}
}

// clone returns a copy of what was acknowledged so far.
func (of *subject) clone() *subject {
	of.mu.Lock()
	defer of.mu.Unlock()
	c := &subject{name: of.name, told: map[int]float64{}, failed: map[int]bool{}, asked: map[string][]study.Issued{},
		observed: map[string][]study.Record{}, retracted: map[int]bool{}}
	for id, v := range of.told {
		c.told[id] = v
	}
	for id := range of.failed {
		c.failed[id] = true
	}
	for key, list := range of.asked {
		c.asked[key] = list
	}
	for key, list := range of.observed {
		c.observed[key] = list
	}
	for number := range of.retracted {
		c.retracted[number] = true
	}
	return c
}

// backup makes a backup under load, and looks for all that was acknowledged before.
func (s *soak) backup(ctx context.Context) error {
	var before []*subject
	for _, of := range s.subjects {
		before = append(before, of.clone())
	}
	path := filepath.Join(s.Folder, "backup.db")
	os.Remove(path)
	err := s.until(ctx, func() error {
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		return errors.Join(s.client.Backup(ctx, file), file.Close())
	})
	if errors.Is(err, client.ErrNoBackup) {
		return nil
	}
	if err != nil {
		s.fault("backup: %v", err)
		return nil
	}
	defer os.Remove(path)
	all, err := local.Open(ctx, path, local.Options{MustExist: true})
	if err != nil {
		s.fault("backup: %v", err)
		return nil
	}
	defer all.Close()
	for _, of := range before {
		in, err := all.Study(ctx, of.name)
		if err != nil {
			s.fault("backup: %s: %v", of.name, err)
			continue
		}
		shown, err := in.Show(ctx)
		if err != nil {
			s.fault("backup: %s: %v", of.name, err)
			continue
		}
		of.compareWith(s, shown, false)
	}
	return nil
}
