package experiment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// memory is a cache in memory.
type memory map[string][]byte

func (m memory) Load(name string) ([]byte, error) {
	if data, ok := m[name]; ok {
		return data, nil
	}
	return nil, fs.ErrNotExist
}

func (m memory) Save(name string, data []byte) error {
	m[name] = slices.Clone(data)
	return nil
}

// squares is an experiment of n parts that counts how often each is run.
func squares(n int, runs map[string]int) *Experiment {
	return &Experiment{
		Name: "squares", Title: "Squares", Version: 1,
		Columns: []Column{{"k", Key, ""}, {"name", Key, ""}, {"square", Number, ""}, {"odd", Number, ""}, {"seconds", Cost, ""}},
		Parts: func(o Options) []Part {
			var parts []Part
			for k := range n {
				c := Part{Name: fmt.Sprintf("part-%d", k), Settings: []any{k, o.Seed}, Work: float64(1 + k)}
				c.Run = func(_ context.Context, progress func(done, total int64)) (*Result, error) {
					runs[c.Name]++
					progress(1, 2)
					row := Row{"k": k, "name": "n,<" + c.Name, "square": float64(k*k) / 3, "seconds": float64(runs[c.Name])}
					if k == 1 {
						row["odd"] = math.Inf(1)
					}
					return &Result{Rows: []Row{row}, Arrays: map[string][]float64{"a": {float64(k), math.NaN()}}}, nil
				}
				parts = append(parts, c)
			}
			return parts
		},
	}
}

// runAll plans an experiment and runs it.
func runAll(ctx context.Context, e *Experiment, o Options, cache Cache, watch Watch) (*Results, error) {
	p, err := NewPlan(e, o, cache, watch.Say)
	if err != nil {
		return nil, err
	}
	return p.Run(ctx, watch)
}

func mustRun(t *testing.T, e *Experiment, o Options, cache Cache) (*Results, []string) {
	t.Helper()
	var said []string
	r, err := runAll(context.Background(), e, o, cache,
		Watch{Say: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }})
	if err != nil {
		t.Fatal(err)
	}
	return r, said
}

func csvOf(t *testing.T, write func(w *bytes.Buffer) error) string {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestFinishedCellsAreNotRunAgain(t *testing.T) {
	runs, cache := map[string]int{}, memory{}
	e := squares(3, runs)
	first, _ := mustRun(t, e, Options{}, cache)
	second, said := mustRun(t, e, Options{}, cache)
	if first.Cached != 0 || second.Cached != 3 || len(said) != 0 || !maps.Equal(runs, map[string]int{"part-0": 1, "part-1": 1, "part-2": 1}) {
		t.Errorf("%d cached, then %d; runs %v; said %q", first.Cached, second.Cached, runs, said)
	}
	text := csvOf(t, func(w *bytes.Buffer) error { return e.WriteCSV(w, first.Rows) })
	const want = "k,name,square,odd\n0,\"n,<part-0\",0,\n1,\"n,<part-1\",0.3333333333333333,\n2,\"n,<part-2\",1.3333333333333333,\n"
	if again := csvOf(t, func(w *bytes.Buffer) error { return e.WriteCSV(w, second.Rows) }); text != want || again != want {
		t.Errorf("%q, then %q", text, again)
	}
	costs := csvOf(t, func(w *bytes.Buffer) error {
		return e.WriteCosts(w, append(slices.Clone(second.Rows), Row{"k": 3, "square": 3.0}))
	})
	if costs != "k,name,seconds\n0,\"n,<part-0\",1\n1,\"n,<part-1\",1\n2,\"n,<part-2\",1\n" || !e.HasCosts() {
		t.Errorf("costs %q", costs)
	}
	if a := second.Array("part-2", "a"); len(a) != 2 || a[0] != 2 || !math.IsNaN(a[1]) || second.Array("part-9", "a") != nil {
		t.Errorf("array %v", a)
	}
	if v := second.Rows[1].Num("odd"); !math.IsNaN(v) {
		t.Errorf("infinity came back as %v", v)
	}
}

func TestDamagedCellsAreRunAgain(t *testing.T) {
	for name, damage := range map[string]func(data, other []byte) []byte{
		"cut off": func(data, _ []byte) []byte { return data[:len(data)/2] },
		"empty":   func([]byte, []byte) []byte { return nil },
		"changed": func(data, _ []byte) []byte {
			return bytes.Replace(data, []byte(`"square":0.333`), []byte(`"square":0.433`), 1)
		},
		"of another part": func(_, other []byte) []byte { return other },
		"no result":       func([]byte, []byte) []byte { return []byte(`{"format":1}`) },
	} {
		runs, cache := map[string]int{}, memory{}
		e := squares(3, runs)
		mustRun(t, e, Options{}, cache)
		names := slices.Sorted(maps.Keys(cache))
		was := cache[names[1]]
		cache[names[1]] = damage(was, cache[names[2]])
		if bytes.Equal(was, cache[names[1]]) {
			t.Fatalf("%s: nothing was damaged", name)
		}
		r, said := mustRun(t, e, Options{}, cache)
		if len(said) != 1 || !strings.Contains(said[0], "part-1") || !strings.Contains(said[0], "computed again") || r.Cached != 2 ||
			runs["part-1"] != 2 || runs["part-0"] != 1 {
			t.Errorf("%s: said %q, %d cached, runs %v", name, said, r.Cached, runs)
		}
		if again, said := mustRun(t, e, Options{}, cache); again.Cached != 3 || len(said) != 0 {
			t.Errorf("%s: not mended: %q", name, said)
		}
	}
}

func TestOtherSettingsAreOtherParts(t *testing.T) {
	runs, cache := map[string]int{}, memory{}
	e := squares(2, runs)
	for k, c := range []struct {
		version int
		seed    uint64
		kept    int
	}{{1, 0, 0}, {1, 7, 0}, {1, 0, 2}, {2, 0, 0}, {1, 7, 2}, {2, 0, 2}} {
		e.Version = c.version
		if r, said := mustRun(t, e, Options{Seed: c.seed}, cache); r.Cached != c.kept || len(said) != 0 {
			t.Errorf("run %d %d cached, want %d; said %q", k, r.Cached, c.kept, said)
		}
	}
}

// Parts finished before an interruption or a failure stay in the cache, and the next run
// continues from there.
func TestInterruptedRunsGoOn(t *testing.T) {
	broken := errors.New("broken")
	for name, want := range map[string]error{"cancelled": context.Canceled, "failed": broken} {
		runs, cache := map[string]int{}, memory{}
		e := squares(4, runs)
		whole := e.Parts
		ctx, stop := context.WithCancel(context.Background())
		e.Parts = func(o Options) []Part {
			parts := whole(o)
			parts[2].Run = func(ctx context.Context, _ func(done, total int64)) (*Result, error) {
				if name == "failed" {
					return nil, broken
				}
				stop()
				return nil, ctx.Err()
			}
			return parts
		}
		_, err := runAll(ctx, e, Options{}, cache, Watch{})
		stop()
		if !errors.Is(err, want) || !strings.Contains(err.Error(), "part-2") || len(cache) != 2 {
			t.Errorf("%s: %v, with %d parts kept", name, err, len(cache))
		}
		e.Parts = whole
		if r, _ := mustRun(t, e, Options{}, cache); r.Cached != 2 || len(r.Rows) != 4 || runs["part-0"] != 1 {
			t.Errorf("%s: %d cached, %d rows, runs %v", name, r.Cached, len(r.Rows), runs)
		}
	}
}

// lacking makes parts from one on return an error from Ready.
func lacking(e *Experiment, from int, why error) *Experiment {
	whole := e.Parts
	e.Parts = func(o Options) []Part {
		parts := whole(o)
		for k := from; k < len(parts); k++ {
			parts[k].Ready = func() error { return why }
		}
		return parts
	}
	return e
}

// Finished parts are shown without their data; others are skipped with a message, unless
// none is left.
func TestPartsWithoutData(t *testing.T) {
	cache, why := memory{}, fmt.Errorf("%w: fetch it", ErrNoData)
	mustRun(t, squares(2, map[string]int{}), Options{}, cache)
	if r, said := mustRun(t, lacking(squares(2, map[string]int{}), 0, why), Options{}, cache); r.Cached != 2 || r.Listed != 2 ||
		len(said) != 0 {
		t.Errorf("%d cached of %d; said %q", r.Cached, r.Listed, said)
	}
	r, said := mustRun(t, lacking(squares(5, map[string]int{}), 3, why), Options{}, cache)
	if len(r.Parts) != 3 || r.Listed != 5 || !slices.Equal(said, []string{"squares: 2 parts are skipped: no data: fetch it"}) {
		t.Errorf("%q of %d; said %q", r.Parts, r.Listed, said)
	}
	if _, err := runAll(context.Background(), lacking(squares(2, map[string]int{}), 0, why), Options{Seed: 9}, cache, Watch{}); !errors.Is(err,
		why) {
		t.Errorf("without data: %v", err)
	}
	if r, said := mustRun(t, lacking(squares(5, map[string]int{}), 3, errSuperseded), Options{}, cache); r.Listed != 3 || len(said) != 0 {
		t.Errorf("%d listed where two are not needed; said %q", r.Listed, said)
	}
	if _, err := runAll(context.Background(), lacking(squares(9, map[string]int{}), 8, errors.New("broken")), Options{}, cache,
		Watch{}); err == nil {
		t.Error("an error that is not about missing data was passed over")
	}
}

func TestProgress(t *testing.T) {
	cache := memory{}
	mustRun(t, squares(2, map[string]int{}), Options{}, cache)
	var last Progress
	_, err := runAll(context.Background(), squares(4, map[string]int{}), Options{}, cache, Watch{Progress: func(p Progress) {
		if p.Done < last.Done || p.Work != 3+4 || p.Cached != 2 || p.Parts != 4 {
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
	}})
	if err != nil || last.Done != last.Work || last.Finished != 2 {
		t.Errorf("at the end %+v, %v", last, err)
	}
}

func TestMisuseIsFound(t *testing.T) {
	for name, change := range map[string]func(c []Part){
		"named twice": func(c []Part) { c[1].Name = c[0].Name },
		"odd name":    func(c []Part) { c[1].Name = "../x" },
		"no column": func(c []Part) {
			c[1].Run = func(context.Context, func(done, total int64)) (*Result, error) {
				return &Result{Rows: []Row{{"x": 1}}}, nil
			}
		},
		"odd value": func(c []Part) {
			c[1].Run = func(context.Context, func(done, total int64)) (*Result, error) {
				return &Result{Rows: []Row{{"k": true}}}, nil
			}
		},
	} {
		e := squares(2, map[string]int{})
		whole := e.Parts
		e.Parts = func(o Options) []Part {
			parts := whole(o)
			change(parts)
			return parts
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s went through", name)
				}
			}()
			_, _ = runAll(context.Background(), e, Options{}, memory{}, Watch{})
		}()
	}
}

func TestRunSome(t *testing.T) {
	runs, cache := map[string]int{}, memory{}
	e := squares(4, runs)
	r, _ := mustRun(t, e, Options{Seed: 1, Only: regexp.MustCompile("-[13]$")}, cache)
	if got := r.Rows.Nums("k"); !slices.Equal(got, []float64{1, 3}) || len(runs) != 2 {
		t.Errorf("only some: %v, %v were run", got, runs)
	}
	r, _ = mustRun(t, e, Options{Seed: 1, Finished: true}, cache)
	if got := r.Rows.Nums("k"); !slices.Equal(got, []float64{1, 3}) || len(runs) != 2 {
		t.Errorf("what is finished: %v, %v were run", got, runs)
	}
	if r.Listed != 4 {
		t.Errorf("%d parts are listed", r.Listed)
	}
	if _, err := runAll(context.Background(), e, Options{Only: regexp.MustCompile("none")}, cache, Watch{}); !errors.Is(err, ErrNoPart) ||
		!strings.Contains(err.Error(), "part-0, part-1") {
		t.Errorf("no such part: %v", err)
	}
	if _, err := runAll(context.Background(), e, Options{Seed: 2, Finished: true}, cache, Watch{}); !errors.Is(err, ErrUnfinished) {
		t.Errorf("nothing is finished: %v", err)
	}
}
