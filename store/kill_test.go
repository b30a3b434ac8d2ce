package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"grfgp/internal/testkit"
	"grfgp/store"
	"grfgp/study"
)

// A test starts this binary again, as a process to be killed.
const childEnv = "GRFGP_STORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if place := os.Getenv(childEnv); place != "" {
		if err := tellForEver(place); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
	}
	testkit.NoLeaks(m) // goroutines end with what started them
}

// endless is an Engine with nodes without end.
type endless struct{}

func (endless) IDs() study.NodeIDs           { return endless{} }
func (endless) Len() int                     { return 1 << 40 }
func (endless) At(i int) string              { return fmt.Sprint(i) }
func (endless) Lookup(id []byte) (int, bool) { return 0, true }

func (endless) Cost(int) float64 { return 1 }
func (endless) Suggest(_ context.Context, q study.Query) (s study.Suggestions, err error) {
	for range q.Count {
		s.List = append(s.List, study.Suggestion{Node: fmt.Sprint(rand.Uint64()), Cost: 1})
	}
	return s, nil
}

func (endless) Fit(context.Context, []study.Measurement) (study.Snapshot, error) {
	return nil, study.ErrNoModel
}

func openStudy(ctx context.Context, s store.Store) (*study.Study, error) {
	if _, err := study.Create(ctx, s.Log("s"), study.Settings{Name: "s", Graph: "g"}, "", time.Now()); err != nil {
		return nil, err
	}
	return study.Open(ctx, s.Log("s"), study.Options{Engine: func(context.Context) (study.Engine, error) { return endless{}, nil }})
}

const clients = 8

// tellForEver lets clients ask and tell, and prints a line for every result that
// they were told was taken.
func tellForEver(place string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, place, store.Options{})
	if err != nil {
		return err
	}
	x, err := openStudy(ctx, s)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for {
				a, err := x.Ask(ctx, study.AskRequest{Count: 1})
				if err != nil {
					fmt.Println("error", err)
					return
				}
				fmt.Printf("asked %d %s\n", a.Trials[0].Trial, a.Trials[0].Node)
				value := rand.Float64()
				if _, err := x.Tell(ctx, a.Trials[0].Trial, study.Outcome{Value: value}, ""); err != nil {
					fmt.Println("error", err)
					return
				}
				fmt.Printf("told %d %v\n", a.Trials[0].Trial, value)
			}
		})
	}
	wg.Wait()
	return errors.New("all clients gave up")
}

// child starts a process that tells for ever, and returns its lines.
func child(t *testing.T, place string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childEnv+"="+place)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd, bufio.NewScanner(out)
}

// Killed at any moment, again and again: what was taken is there, once.
func TestKilled(t *testing.T) {
	t.Parallel()
	rounds := testkit.Size(5, 200)
	place := filepath.Join(t.TempDir(), "studies.db")
	random := rand.New(rand.NewPCG(1, 2))
	asked, told := map[int]string{}, map[int]string{}
	for round := range rounds {
		cmd, lines := child(t, place)
		for left := 1 + random.IntN(60); lines.Scan(); left-- {
			var trial int
			var kind, what string
			if _, err := fmt.Sscan(lines.Text(), &kind, &trial, &what); err != nil || kind == "error" {
				t.Fatalf("round %d: %s", round, lines.Text())
			}
			of := asked
			if kind == "told" {
				of = told
			}
			if was, again := of[trial]; again {
				t.Fatalf("round %d: trial %d was %s %s and %s", round, trial, kind, was, what)
			}
			of[trial] = what
			if left == 0 {
				cmd.Process.Kill()
			}
		}
		cmd.Wait()
		if round%20 == 19 || round == rounds-1 {
			checkTold(t, place, asked, told)
		}
	}
	t.Logf("%d rounds, %d trials, %d results", rounds, len(asked), len(told))
}

func checkTold(t *testing.T, place string, asked, told map[int]string) {
	t.Helper()
	s, err := store.Open(t.Context(), place, store.Options{MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x, err := openStudy(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	x.View(func(st *study.State) {
		values := map[int]int{}
		for _, v := range st.Records {
			values[v.Trial]++
		}
		for id, node := range asked {
			if id > len(st.Trials) || st.Trials[id-1].Node != node {
				t.Fatalf("trial %d at node %s is lost", id, node)
			}
		}
		for id, value := range told {
			if got := st.Trials[id-1]; got.State != study.TrialDone || fmt.Sprint(*got.Value) != value || values[id] != 1 {
				t.Fatalf("trial %d was told %s and is %+v, with %d values", id, value, got, values[id])
			}
		}
	})
}

// A second process is told which one holds the store, and gets it when that one
// is gone.
func TestTwoOwners(t *testing.T) {
	t.Parallel()
	place := filepath.Join(t.TempDir(), "studies.db")
	cmd, lines := child(t, place)
	if !lines.Scan() {
		t.Fatal("the other process said nothing")
	}
	_, err := store.Open(t.Context(), place, store.Options{})
	if !errors.Is(err, store.ErrHeld) || !strings.Contains(err.Error(), fmt.Sprintf("process %d on ", cmd.Process.Pid)) {
		t.Errorf("%v; want the number of process %d", err, cmd.Process.Pid)
	}
	cmd.Process.Kill()
	for lines.Scan() {
	}
	cmd.Wait()
	s, err := store.Open(t.Context(), place, store.Options{})
	if err != nil {
		t.Fatalf("after its end: %v", err)
	}
	s.Close()
}
