package experiment

import (
	"context"
	"math"
	"sync"

	"gonum.org/v1/gonum/stat"

	"grfgp/dataset"
	"grfgp/graph"
	"grfgp/internal/objective"
)

// panel is a task of the paper's Figure 4: find the highest entry of a table over
// the nodes of a graph.
type panel struct {
	key    string // for cells: a letter as in the figure
	title  string
	data   string // name of the data set, if any
	steps  int
	hops   int // of the authors' learnable kernel
	walks  int // theirs
	every  int // measurements between two of their trainings
	work   float64
	quick  bool
	social bool
	paper  map[string]float64 // final regret by arm
	note   string             // on the paper's numbers
	load   func(context.Context) (*searchTask, error)
}

// searchTask is a table to search. Truth is the function without noise, nil where
// nobody knows it.
type searchTask struct {
	graph        *graph.Graph
	table, truth []float64
}

// regrets are the paper's, of its method and of searches without a model.
func regrets(authors, bfs, dfs, random float64) map[string]float64 {
	return map[string]float64{"authors": authors, "bfs": bfs, "dfs": dfs, "random": random}
}

// panels are those of the figure, in its order, and the five peaks that the
// authors' saved runs have and the paper has not. For Twitch and YouTube it has
// their stand-ins where the sets themselves are not on this machine.
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
	all := []panel{
		{key: "a", title: "single peak, 1000²", steps: 1000, hops: 1, every: 600, work: 400, paper: regrets(.405, .487, .440, .508),
			load: made(func() (*objective.Task, error) { return objective.SinglePeak(1000) })},
		{key: "b", title: "two peaks, 100²", steps: 1000, hops: 2, every: 600, work: 30, quick: true, paper: regrets(0, .155, .237, .188), load: made(objective.TwoPeaks)},
		{key: "c", title: "community", steps: 1000, hops: 2, every: 600, work: 60, paper: regrets(.015, .035, .034, .031), load: made(objective.Community)},
		{key: "d", title: "circle", steps: 1000, hops: 1, every: 600, work: 30, quick: true, paper: regrets(0, .022, .022, .050), load: made(objective.Circle)},
		{key: "e", title: "Enron", data: "enron", quick: true, work: 60, paper: regrets(0, .11, .29, .59)},
		{key: "f", title: "Facebook", data: "facebook", work: 60, paper: regrets(0, .20, .49, .70)},
		{key: "g", title: "Twitch", data: "twitch", work: 300, paper: regrets(.47, .48, .50, .94)},
		{key: "h", title: "YouTube", data: "youtube", work: 300, paper: regrets(0, .33, .33, 4.6)},
		{key: "i", title: "wind, 1000 hPa (0.1 km)", data: "wind", work: 60, paper: regrets(.115, .26, .26, .24), load: windPanel(store, 1000)},
		{key: "j", title: "wind, 800 hPa (2 km)", data: "wind", work: 60, paper: regrets(.035, .355, .35, .36), load: windPanel(store, 800)},
		{key: "k", title: "wind, 500 hPa (5 km)", data: "wind", work: 60, quick: true, paper: regrets(0, .15, .15, .12), load: windPanel(store, 500)},
		{key: "five", title: "five peaks, 1000²", steps: 1000, hops: 1, every: 600, work: 400,
			paper: map[string]float64{"authors": .800, "bfs": .705}, note: "in the authors' saved runs, not in the paper",
			load: made(func() (*objective.Task, error) { return objective.FivePeaks(1000) })},
	}
	for k := range all {
		p := &all[k]
		p.walks = 1000
		switch p.key {
		case "e", "f", "g", "h":
			p.social, p.steps, p.hops, p.every = true, 100, 1, 600
			p.standIn(store)
			p.load = socialPanel(store, p.data)
		case "i", "j", "k":
			p.steps, p.hops, p.walks, p.every = 1000, 4, 4096, 500
		}
	}
	return all
}

// standIn takes the stand-in of a set that is not here.
func (p *panel) standIn(store dataset.Store) {
	if store.Has(p.data) {
		return
	}
	for _, set := range dataset.All() {
		if set.StandIn == p.data && store.Has(set.Name) {
			p.note = "the paper's are of " + p.title
			p.title, p.data = map[string]string{"twitter": "Twitter, a stand-in", "notredame": "Notre Dame, a stand-in"}[set.Name], set.Name
			return
		}
	}
}

// socialPanel has the logarithm of the degree as its table.
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

// windPanel has the speed of the wind as its table.
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

// standardised returns z-scores over all nodes.
func standardised(y []float64) []float64 {
	mean, sd := stat.PopMeanStdDev(y, nil)
	z := make([]float64, len(y))
	for i, v := range y {
		z[i] = (v - mean) / sd
	}
	return z
}

// lastTask keeps the task that was loaded last: cells of a panel follow each
// other, and a million nodes are not kept for longer than needed.
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
