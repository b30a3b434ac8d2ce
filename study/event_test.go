package study_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"grfgp/study"
)

// lines are events as JSON lines.
func lines(t testing.TB, x *table) []byte {
	t.Helper()
	var out bytes.Buffer
	for e, err := range x.Events(x.ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if err := json.NewEncoder(&out).Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// Whatever is read as an event: it is refused, or it can be replayed, written and
// read again.
func FuzzEvents(f *testing.F) {
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 9))
		x := newTable(f, 8, nil)
		for range 30 {
			if err := anyCommand(x, random, 8); err != nil && !expected(err) {
				f.Fatal(err)
			}
		}
		f.Add(lines(f, x))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		state, again := new(study.State), new(study.State)
		for line := range bytes.Lines(text) {
			var e, back study.Event
			if err := json.Unmarshal(line, &e); err != nil {
				return
			}
			if err := state.Apply(e); err != nil {
				return
			}
			kept, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(kept, &back); err != nil {
				t.Fatalf("%s: %v", kept, err)
			}
			if err := again.Apply(back); err != nil {
				t.Fatalf("%s: %v", kept, err)
			}
			checkInvariants(t, state)
		}
		a, errA := json.Marshal(state)
		b, errB := json.Marshal(again)
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Fatalf("%s, %v\nand\n%s, %v", a, errA, b, errB)
		}
	})
}

func TestEventsRefused(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		``, `7`, `{"v":2,"seq":1,"kind":"created","data":{}}`, `{"v":1,"seq":1,"kind":"nothing","data":{}}`,
		`{"v":1,"seq":1,"kind":"told","data":{"trial":1,"value":1e999}}`, `{"v":1,"seq":1,"kind":"told","data":{"trail":1}}`,
		`{"v":1,"seq":1,"kind":"paused"}`,
	} {
		var e study.Event
		if err := json.Unmarshal([]byte(line), &e); err == nil {
			t.Errorf("%s was read as %+v", line, e)
		}
	}
	x := newTable(t, 5, nil)
	x.ask(t, 2)
	x.Tell(x.ctx, 1, study.Outcome{Value: 1}, "")
	text := string(lines(t, x))
	for old, changed := range map[string]string{
		`"seq":2`:                    `"seq":3`,
		`"kind":"asked"`:             `"kind":"created"`,
		`"basis":1`:                  `"basis":2`,
		`"trial":2`:                  `"trial":3`,
		`"cost":1`:                   `"cost":0`,
		`"count":2`:                  `"count":1`,
		`"data":{"trial":1,"value"`:  `"data":{"trial":9,"value"`,
		`"graph":"g"`:                `"graph":""`,
		`"name":"s"`:                 `"name":"../s"`,
		`"data":{"trial":1,"value":`: `"data":{"trial":1,"note":"` + strings.Repeat("x", study.MaxNote+1) + `","value":`,
	} {
		bad := strings.Replace(text, old, changed, 1)
		if bad == text {
			t.Errorf("no %s in\n%s", old, text)
		}
		if err := replayText(bad); err == nil {
			t.Errorf("%s for %s was replayed", changed, old)
		}
	}
	if err := replayText(text + text); !errors.Is(err, study.ErrSequence) {
		t.Errorf("twice: %v", err)
	}
}

func replayText(text string) error {
	state := new(study.State)
	for line := range strings.Lines(text) {
		var e study.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return err
		}
		if err := state.Apply(e); err != nil {
			return err
		}
	}
	return nil
}
