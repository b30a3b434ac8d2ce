package server

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"unicode/utf8"

	"grfgp/study"
)

// nodeFacts is what is known of a node: without a model it has no prediction.
type nodeFacts struct {
	Number       int      `json:"number"`
	Node         string   `json:"node"`
	Mean         *number  `json:"mean,omitempty"`
	SD           *number  `json:"sd,omitempty"`
	Lower        *number  `json:"lower,omitempty"` // 95 % interval of the quantity,
	Upper        *number  `json:"upper,omitempty"`
	ReadingLower *number  `json:"reading_lower,omitempty"` // and of a reading, a new measurement
	ReadingUpper *number  `json:"reading_upper,omitempty"`
	Lower999     *float64 `json:"lower999,omitempty"` // range of 99.9 % of measurements, as of trials
	Upper999     *float64 `json:"upper999,omitempty"`
	Above        *number  `json:"above,omitempty"`   // probability of being above the level of the study
	Chances      []chance `json:"chances,omitempty"` // in a study of classes, in place of the above
	Told         string   `json:"told,omitempty"`    // class that it was found to be of, the last one
	Measured     bool     `json:"measured"`
	Value        *float64 `json:"value,omitempty"` // mean of its measurements, or their rate
	N            int      `json:"n"`
	Pending      bool     `json:"pending,omitempty"`
	Holder       string   `json:"holder,omitempty"` // who has reserved it
	Abandoned    bool     `json:"abandoned,omitempty"`
	Forbidden    bool     `json:"forbidden,omitempty"` // it is never suggested
	whereabouts
}

// showNodes sends what is known of some nodes, by number, by id, or by a text that their ids or labels
// contain. It waits for the graph, but for no model.
func (s *Server) showNodes(w http.ResponseWriter, r *http.Request) error {
	q := only(r, "number", "node", "find", "limit")
	limit := q.count("limit", min(10, s.opts.Limits.Page), 1, s.opts.Limits.Page)
	values := r.URL.Query()
	if n := len(values["number"]) + len(values["node"]); q.err == nil && n > s.opts.Limits.Page {
		q.err = malformed.because("%d nodes; the limit of this server is %d per request", n, s.opts.Limits.Page)
	}
	if q.err != nil {
		return q.err
	}
	o, err := s.named(r)
	if err != nil {
		return err
	}
	o.start()
	ctx, cancel := s.waitContext(r)
	defer cancel()
	if err := o.net.wait(ctx, false); err != nil {
		return err
	}
	nodes, err := o.net.namedNodes(values["number"], values["node"])
	if err != nil {
		return err
	}
	if text := q.text("find"); text != "" {
		nodes = append(nodes, o.net.find(text, limit)...)
	}
	return respond(w, http.StatusOK, map[string]any{"nodes": o.factsOf(nodes)})
}

// namedNodes returns nodes by their numbers and by their ids.
func (n *network) namedNodes(numbers, ids []string) (nodes []int, err error) {
	for _, text := range numbers {
		k, err := strconv.Atoi(text)
		if err != nil || k < 0 || k >= len(n.order) {
			return nil, notFound.because("there is no node number %.80q", text)
		}
		nodes = append(nodes, n.order[k])
	}
	for _, id := range ids {
		i, ok := n.Graph.IDs().Lookup([]byte(id))
		if !ok {
			return nil, notFound.because("the graph has no node %.300q", id)
		}
		nodes = append(nodes, i)
	}
	return nodes, nil
}

// factsOf returns what is known of nodes now.
func (o *openStudy) factsOf(nodes []int) []nodeFacts {
	list := make([]nodeFacts, 0, len(nodes))
	states, allowed, p := o.nodeStates(), o.allowedNodes(), o.LatestPredictions()
	holders := map[string]string{}
	o.View(func(st *study.State) {
		for _, t := range st.Trials {
			if t.State == study.TrialPending {
				holders[t.Node] = t.Holder
			}
		}
	})
	g := &guide{settings: o.Settings()}
	level, isThreshold := g.settings.Goal.Level()
	for _, i := range nodes {
		id := o.net.Graph.IDs().At(i)
		f := nodeFacts{Number: o.net.number[i], Node: id, Pending: states.pending[id], Holder: holders[id], Abandoned: states.abandoned[id],
			Forbidden: allowed != nil && !allowed[i], whereabouts: o.net.whereabouts(i)}
		if p != nil && p.Classes != nil {
			f.Chances = chancesOf(p, i)
		} else if p != nil {
			lower, upper := p.At(i).Interval(0.95)
			f.Mean, f.SD, f.Lower, f.Upper = asNumber(p.Mean[i]), asNumber(p.SD[i]), asNumber(lower), asNumber(upper)
			lower, upper = p.At(i).Measurement(states.exposure).Interval(0.95)
			f.ReadingLower, f.ReadingUpper = asNumber(lower), asNumber(upper)
			f.Lower999, f.Upper999 = g.expected(p.At(i), 0.999)
			if isThreshold {
				f.Above = asNumber(p.At(i).Above(level))
			}
		}
		if a := states.measured[id]; a.n > 0 {
			f.Measured, f.N, f.Told = true, a.n, states.class[id]
			if finite(a.mean) && f.Told == "" {
				f.Value = &a.mean
			}
		}
		list = append(list, f)
	}
	return list
}

func asNumber(v float64) *number { return (*number)(&v) }

// nameIndex holds the ids and labels of all nodes in lower case, in the order of the file, one after
// the other: a search for a text is one search in the bytes.
type nameIndex struct {
	text []byte // nameEnd, then the names, each followed by nameEnd
	ends []int  // where the id and the label of node number k end: ends[2k], ends[2k+1]
}

// nameEnd ends every id and label; no text that is searched for contains it.
const nameEnd = '\n'

func newNameIndex(n *network) *nameIndex {
	x := &nameIndex{text: []byte{nameEnd}, ends: make([]int, 0, 2*len(n.order))}
	add := func(name []byte) {
		x.ends = append(x.ends, len(x.text)+len(name))
		x.text = append(append(x.text, name...), nameEnd)
	}
	var id []byte
	for _, i := range n.order {
		id = n.Graph.IDs().Append(id[:0], i)
		add(lower(id))
		add(lower([]byte(n.label(i))))
	}
	return x
}

// numbers adds to a list the numbers of nodes that have the pattern in their names, until there are
// limit of them.
func (x *nameIndex) numbers(list []int, pattern []byte, limit int) []int {
	for at := 0; len(list) < limit; {
		hit := bytes.Index(x.text[at:], pattern)
		if hit < 0 {
			break
		}
		first := at + hit
		if pattern[0] == nameEnd {
			first++
		}
		name, _ := slices.BinarySearch(x.ends, first)
		if !slices.Contains(list, name/2) {
			list = append(list, name/2)
		}
		at = x.ends[name] // at the end of a name the next one begins
	}
	return list
}

// lower returns a text in lower case, in place if it is ASCII.
func lower(text []byte) []byte {
	for k, c := range text {
		if c >= utf8.RuneSelf {
			return bytes.ToLower(text)
		}
		if 'A' <= c && c <= 'Z' {
			text[k] = c + 'a' - 'A'
		}
	}
	return text
}

// find returns at most limit nodes whose id or label contains a text, in any case: first those whose
// id or label it is, then those whose id or label begins with it, then others, each in the order of
// the file.
func (n *network) find(text string, limit int) []int {
	n.searching.Do(func() { n.names = newNameIndex(n) })
	wanted := lower([]byte(text))
	if bytes.IndexByte(wanted, nameEnd) >= 0 {
		return nil
	}
	begins := append([]byte{nameEnd}, wanted...)
	var numbers []int
	for _, pattern := range [][]byte{append(slices.Clone(begins), nameEnd), begins, wanted} {
		numbers = n.names.numbers(numbers, pattern, limit)
	}
	for k, number := range numbers {
		numbers[k] = n.order[number]
	}
	return numbers
}
