package experiment

import (
	"context"
	"math"
	"sync"

	"gonum.org/v1/gonum/stat"

	"grfgp/graph"
	"grfgp/lab/dataset"
	"grfgp/lab/objective"
)

// panel is a task of the paper's Figure 4: to find the highest entry of a table of values
// at the nodes of a graph.
type panel struct {
	key    string // in names of parts and in rows: mostly a letter as in the figure
	title  string
	data   string // name of the data set, if any
	forSet string // data set that data is a stand-in for
	steps  int
	hops   int     // of the authors' learnable kernel
	walks  int     // per node, of the authors
	every  int     // measurements between two trainings
	turn   int     // order of execution: small panels first
	work   float64 // seconds of a search with our method
	quick  bool
	social bool
	paper  map[string]float64 // final regret by method
	means  map[string]float64 // mean regret over all iterations, if the authors' files have no other
	note   string             // differences from the paper
	load   func(context.Context) (*searchTask, error)
}

// searchTask is a table to search. Truth is the noise-free function, nil if unknown.
type searchTask struct {
	graph        *graph.Graph
	table, truth []float64
}

// ordered returns the graph in locality order with the table; node i of it is node
// was[i] of the task.
func (t *searchTask) ordered() (g *graph.Graph, table []float64, was []int) {
	g = t.graph.Ordered()
	was = make([]int, g.Len())
	for k, i := range g.InputOrder() {
		was[i] = k
	}
	return g, at(t.table, was), was
}

// regrets holds the paper's regrets of its method and of searches without a model.
func regrets(authors, bfs, dfs, random float64) map[string]float64 {
	return map[string]float64{"authors": authors, "bfs": bfs, "dfs": dfs, "random": random}
}

// panels returns the panels of the figure, in its order, and the task with five peaks, which
// is in the authors' saved runs but not in the paper. Twitch and YouTube are followed by
// their stand-ins.
func panels(store dataset.Store) []panel {
	made := func(f func() (*objective.Task, error)) func(context.Context) (*searchTask, error) {
		return func(context.Context) (*searchTask, error) {
			t, err := f()
			if err != nil {
				return nil, err
			}
			return &searchTask{t.Graph, t.Table, t.Truth}, nil
		}
	}
	twitch, youtube := regrets(.47, .48, .50, .94), regrets(0, .33, .33, 4.6)
	all := []panel{
		{key: "a", turn: 3, title: "single peak, 1000²", steps: 1000, hops: 1, every: 600, work: 170, paper: regrets(.405, .487, .440, .508),
			load: made(func() (*objective.Task, error) { return objective.SinglePeak(1000) })},
		{key: "b", title: "two peaks, 100²", steps: 1000, hops: 2, every: 600, work: 50, quick: true, paper: regrets(0, .155, .237, .188),
			load: made(objective.TwoPeaks)},
		{key: "c", turn: 1, title: "community", steps: 1000, hops: 2, every: 600, work: 200, paper: regrets(.015, .035, .034, .031),
			load: made(objective.Community)},
		{key: "d", title: "circle", steps: 1000, hops: 1, every: 600, work: 25, quick: true, paper: regrets(0, .022, .022, .050),
			load: made(objective.Circle)},
		{key: "e", turn: 1, data: "enron", quick: true, work: 220, paper: regrets(0, .11, .29, .59)},
		{key: "f", turn: 1, data: "facebook", work: 45, paper: regrets(0, .20, .49, .70)},
		{key: "g-twitch", turn: 2, data: "twitch", work: 500, paper: twitch},
		{key: "g", turn: 2, data: "twitter", forSet: "twitch", work: 130, paper: twitch},
		{key: "h-youtube", turn: 2, data: "youtube", work: 400, paper: youtube},
		{key: "h", turn: 2, data: "notredame", forSet: "youtube", work: 100, paper: youtube},
		{key: "i", turn: 1, title: "wind, 1000 hPa (0.1 km)", data: "wind", work: 70, paper: regrets(.115, .26, .26, .24),
			load: windPanel(store, 1000)},
		{key: "j", turn: 1, title: "wind, 800 hPa (2 km)", data: "wind", work: 50, paper: regrets(.035, .355, .35, .36),
			load: windPanel(store, 800)},
		{key: "k", turn: 1, title: "wind, 500 hPa (5 km)", data: "wind", work: 110, quick: true, paper: regrets(0, .15, .15, .12),
			load: windPanel(store, 500)},
		{key: "five", turn: 3, title: "five peaks, 1000²", steps: 1000, hops: 1, every: 600, work: 200,
			means: regrets(.8000, .7054, .7055, .8038), note: "not in the paper",
			load: made(func() (*objective.Task, error) { return objective.FivePeaks(1000) })},
	}
	for k := range all {
		p := &all[k]
		p.walks = 1000
		switch p.data {
		case "":
		case "wind":
			p.steps, p.hops, p.walks, p.every = 1000, 4, 4096, 500
		default:
			p.social, p.steps, p.hops, p.every = true, 100, 1, 600
			p.title, p.load = short(p.data), socialPanel(store, p.data)
			if p.forSet != "" {
				p.title += ", a stand-in"
				p.note = "the paper's are of " + short(p.forSet) + ", another graph"
			}
		}
	}
	return all
}

// short is the name of a data set in tables.
func short(name string) string {
	set, err := dataset.Named(name)
	if err != nil {
		panic(err)
	}
	return set.Short
}

// ready returns Part.Ready: data must be on this machine, and a stand-in is superseded if
// the data set that it replaces is.
func (p panel) ready(store dataset.Store) func() error {
	if p.data == "" {
		return nil
	}
	have := ready(p.data)
	return func() error {
		if p.forSet != "" && store.Has(p.forSet) {
			return errSuperseded
		}
		return have()
	}
}

// socialPanel loads a task with the logarithm of the degree as values.
func socialPanel(store dataset.Store, name string) func(context.Context) (*searchTask, error) {
	return func(ctx context.Context) (*searchTask, error) {
		set, err := dataset.Named(name)
		if err != nil {
			return nil, err
		}
		g, err := store.Graph(ctx, set)
		if err != nil {
			return nil, err
		}
		y := make([]float64, g.Len())
		for i, d := range g.Degrees() {
			y[i] = math.Log(float64(max(1, d)))
		}
		return &searchTask{graph: g, table: standardised(y)}, nil
	}
}

// windPanel loads a task with the wind speed as values.
func windPanel(store dataset.Store, level int) func(context.Context) (*searchTask, error) {
	return func(ctx context.Context) (*searchTask, error) {
		w, err := store.Wind(ctx)
		if err != nil {
			return nil, err
		}
		speed, err := w.Speed(level)
		if err != nil {
			return nil, err
		}
		return &searchTask{graph: w.Graph, table: standardised(speed)}, nil
	}
}

// standardised returns z-scores.
func standardised(y []float64) []float64 {
	mean, sd := stat.PopMeanStdDev(y, nil)
	z := make([]float64, len(y))
	for i, v := range y {
		z[i] = (v - mean) / sd
	}
	return z
}

// lastTask caches the last loaded task: parts of a panel follow each other, and only one
// large graph is in memory at a time.
type lastTask struct {
	mu   sync.Mutex
	key  string
	task *searchTask
}

func (l *lastTask) load(ctx context.Context, p panel) (*searchTask, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.key == p.key {
		return l.task, nil
	}
	l.key, l.task = "", nil
	t, err := p.load(ctx)
	if err == nil {
		l.key, l.task = p.key, t
	}
	return t, err
}
