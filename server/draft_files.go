package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"sync"

	"grfgp/formats"
	"grfgp/graphio"
	"grfgp/study"
)

// draftOptions is the first part of a form of files: how they are to be read.
type draftOptions struct {
	Graph     string                 `json:"graph"`     // id of a stored graph in place of edges; "": none
	Values    string                 `json:"values"`    // what is measured, as in a Spec, or "class"; "": not known
	Exposures bool                   `json:"exposures"` // counts have exposures
	Files     map[string]fileOptions `json:"files"`     // by part
}

// fileOptions say how a file is read, see graphio.Options.
type fileOptions struct {
	Columns   map[graphio.Role]string `json:"columns"`
	Delimiter graphio.Delimiter       `json:"delimiter"`
	Header    graphio.Header          `json:"header"`
	Decimal   graphio.Decimal         `json:"decimal"`
	BadRows   graphio.BadRows         `json:"bad_rows"`
	Weights   graphio.Weights         `json:"weights"`
	Repeats   graphio.Repeats         `json:"repeats"`
	Times     graphio.Times           `json:"times"`
	Table     string                  `json:"table"`   // of a file that has several
	Unit      string                  `json:"unit"`    // beside every number; it is taken off
	Missing   string                  `json:"missing"` // what stands for missing values, separated by commas; none: no number does
}

// draftParts are the parts of the form, in the order in which they are read.
var draftParts = []string{"options", "nodes", "edges", "measurements", "allowed", "costs"}

// draftFile is what became of a file.
type draftFile struct {
	File   string          `json:"file"` // part of the form
	Report *graphio.Report `json:"report"`
}

// draftAnswer is the answer to a form of files. Without a draft there are questions.
type draftAnswer struct {
	Draft       string        `json:"draft,omitempty"`
	Nodes       int           `json:"nodes"`
	Edges       int           `json:"edges"`
	Coordinates string        `json:"coordinates,omitempty"`
	Columns     []graphColumn `json:"columns"`
	Values      int           `json:"values"` // measurements
	Allowed     *int          `json:"allowed,omitempty"`
	Files       []draftFile   `json:"files"`
	Questions   []question    `json:"questions"`
	Notes       []question    `json:"notes"`
}

// postDraft reads the files of a new study while they arrive, and says what was read and what
// must be asked. Nothing is stored.
func (s *Server) postDraft(w http.ResponseWriter, r *http.Request) error {
	if q := only(r); q.err != nil {
		return q.err
	}
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return mediaType.because("send the files as multipart/form-data, with the parts %s", strings.Join(draftParts, ", "))
	}
	body, err := s.uploaded(w, r)
	if err != nil {
		return err
	}
	defer body.memory.release()
	d := &draftReader{server: s, memory: body.memory}
	err = d.readAll(r.Context(), multipart.NewReader(body, params["boundary"]))
	if d.asks(body, err) {
		err = d.rest(body)
	}
	if err := body.done(w, err); err != nil {
		return err
	}
	answer := d.answer()
	if len(d.questions) == 0 {
		if answer.Draft, err = d.keep(s); err != nil {
			return err
		}
	}
	return respond(w, http.StatusOK, answer)
}

// draftReader reads the files of a form.
type draftReader struct {
	server    *Server
	memory    *reservation
	opts      draftOptions
	part      string // the last that was begun
	nodes     *graphio.NodeTable
	net       *graphio.Network
	read      *graphio.Measurements
	labels    *graphio.ClassLabels // in place of read, for a study of classes
	allowed   []bool               // nil: no file
	cost      []float64            // nil: no file
	files     []draftFile
	questions []question
	notes     []question
}

// asks reports whether an error of reading is a question, and keeps it. Those of the connection
// and of limits are not.
func (d *draftReader) asks(body *upload, err error) bool {
	var file *graphio.Error
	var p *problem
	var large *http.MaxBytesError
	if body.err != nil || !errors.As(err, &file) || errors.As(err, &p) || errors.As(err, &large) {
		return false
	}
	q := questionOf(d.part, file)
	// no column is of numbers
	if d.part == "measurements" && d.opts.Values == "" && file.Code == graphio.CodeContent && q.asksFor(graphio.RoleValue) {
		q.Choices = append(q.Choices, choice{"take them for classes", []setting{{Option: "values", Value: valuesOfClass}}})
	}
	d.questions = append(d.questions, q)
	return true
}

// rest reads what is left of a form: a browser hears the answer when it has sent everything.
func (d *draftReader) rest(body *upload) error {
	_, err := io.Copy(io.Discard, body.Reader)
	return err
}

// readAll reads the parts in their order. The error of a file that cannot be read is a
// *graphio.Error.
func (d *draftReader) readAll(ctx context.Context, form *multipart.Reader) error {
	last := -1
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		name := part.FormName()
		at := slices.Index(draftParts, name)
		if at <= last {
			return malformed.because("the form has a part %q; the parts are %s, in this order", name, strings.Join(draftParts, ", "))
		}
		last, d.part = at, name
		if name == "options" {
			err = d.readOptions(part)
		} else {
			err = d.readFile(ctx, part)
		}
		if err != nil {
			return err
		}
	}
	if d.net == nil {
		if err := d.known(ctx); err != nil {
			return err
		}
	}
	return d.finish()
}

func (d *draftReader) readOptions(part io.Reader) error {
	text, err := io.ReadAll(http.MaxBytesReader(nil, io.NopCloser(part), d.server.opts.Limits.Body))
	if err != nil {
		return err
	}
	if err := decode(text, &d.opts); err != nil {
		return err
	}
	for name := range d.opts.Files {
		if !slices.Contains(draftParts[1:], name) {
			return malformed.because("there are options of a file %q; the files are %s", name, strings.Join(draftParts[1:], ", "))
		}
	}
	return nil
}

// of returns the options of a file.
func (d *draftReader) of(part string) graphio.Options {
	f := d.opts.Files[part]
	var missing []string
	if f.Missing != "" {
		missing = strings.Split(f.Missing, ",")
	}
	return graphio.Options{
		Unit: f.Unit, Missing: missing, Formats: formats.Options{Table: f.Table},
		Columns: maps.Clone(f.Columns), Delimiter: f.Delimiter, Header: f.Header, Decimal: f.Decimal,
		BadRows: f.BadRows, Unknown: graphio.UnknownSkip, Weights: f.Weights, Repeats: f.Repeats, Times: f.Times,
	}
}

// readFile reads one file of the form.
func (d *draftReader) readFile(ctx context.Context, part io.Reader) error {
	in := &lentReader{r: part}
	defer in.end()
	file, err := d.server.decompress(in, d.memory)
	if err != nil {
		return err
	}
	src, opts := graphio.Reader(d.part, file), d.of(d.part)
	switch d.part {
	case "nodes":
		d.nodes, err = graphio.ReadNodes(ctx, src, opts)
		if err == nil {
			d.tell(d.nodes.Report)
		}
		return err
	case "edges":
		if d.opts.Graph != "" {
			return malformed.because("the form has both a file of edges and the id of a graph")
		}
		opts.Nodes = d.nodes
		d.net, err = graphio.ReadGraph(ctx, src, opts)
		if err == nil {
			d.tell(d.net.Report)
		}
		return err
	}
	if d.net == nil {
		if err := d.known(ctx); err != nil {
			return err
		}
	}
	if d.part == "measurements" && d.opts.Values == valuesOfClass {
		return d.readLabels(ctx, src, opts)
	}
	if d.part == "measurements" {
		return d.readMeasurements(ctx, src, opts)
	}
	return d.readSites(ctx, src, opts)
}

// known takes a graph of the store as the network.
func (d *draftReader) known(ctx context.Context) error {
	if d.opts.Graph == "" || d.nodes != nil {
		return malformed.because("the form has no part called edges")
	}
	n := d.server.network(d.opts.Graph)
	if err := n.wait(ctx, false); err != nil {
		return err
	}
	d.net = &graphio.Network{Graph: n.Graph, Nodes: n.Nodes}
	return nil
}

// tell keeps what became of a file.
func (d *draftReader) tell(r *graphio.Report) {
	d.files = append(d.files, draftFile{d.part, r})
	d.notes = append(d.notes, notesOf(d.part, r)...)
}

// readMeasurements reads the measurements as study create does: one by one, with one noise
// level.
func (d *draftReader) readMeasurements(ctx context.Context, src graphio.Source, opts graphio.Options) (err error) {
	if opts.Columns == nil {
		opts.Columns = map[graphio.Role]string{}
	}
	opts.Repeats, opts.IgnoreSD, opts.Counts = cmp.Or(opts.Repeats, graphio.RepeatsKeep), true, d.opts.Values == string(graphio.KindCount)
	size := graphio.Role("")
	switch {
	case d.opts.Values == string(graphio.KindShare):
		size = graphio.RoleTested
	case opts.Counts && d.opts.Exposures:
		size = graphio.RoleExposure
	}
	if size != "" {
		opts.Columns[size] = cmp.Or(opts.Columns[size], string(size))
	}
	opts.Places = d.net.Nodes
	d.read, err = graphio.ReadMeasurements(ctx, src, d.net.Graph, opts)
	var file *graphio.Error
	if errors.As(err, &file) && file.Code == graphio.CodeOption && size != "" {
		file.Remedies = append(file.Remedies, graphio.Remedy{
			Do: "name the column", Set: []graphio.Setting{{Option: graphio.OptionColumns, Role: size}}})
	}
	if err != nil {
		return err
	}
	d.tell(d.read.Report)
	if n, most := len(d.read.Values), d.server.opts.Limits.Rows; n > most {
		return tooLarge.because("%d measurements; the limit of this server is %d", n, most)
	}
	d.questions = append(d.questions, doubts(d.read, d.opts)...)
	return nil
}

// valuesOfClass are classes in place of values.
const valuesOfClass = "class"

// readLabels reads classes. Rows without one are nodes that are to be predicted.
func (d *draftReader) readLabels(ctx context.Context, src graphio.Source, opts graphio.Options) (err error) {
	if d.labels, err = graphio.ReadLabels(ctx, src, d.net.Graph, opts); err != nil {
		return err
	}
	d.tell(d.labels.Report)
	if n, most := len(d.labels.Nodes), d.server.opts.Limits.Rows; n > most {
		return tooLarge.because("%d labels; the limit of this server is %d", n, most)
	}
	d.questions = append(d.questions, strangers(d.labels.Report, d.opts)...)
	return nil
}

// done returns the nodes that something is known of.
func (d *draftReader) done() []int {
	switch {
	case d.read != nil:
		return d.read.Nodes
	case d.labels != nil:
		return d.labels.Nodes
	}
	return nil
}

// readSites reads a file of nodes that may be suggested, or one of costs.
func (d *draftReader) readSites(ctx context.Context, src graphio.Source, opts graphio.Options) error {
	table, err := graphio.ReadNodes(ctx, src, opts)
	if err != nil {
		return err
	}
	d.tell(table.Report)
	if d.part == "costs" && table.Cost == nil {
		return d.fail("there is no column of costs", graphio.Remedy{
			Do: "name the column", Set: []graphio.Setting{{Option: graphio.OptionColumns, Role: graphio.RoleCost}}})
	}
	allowed, cost := make([]bool, d.net.Graph.Len()), make([]float64, d.net.Graph.Len())
	for i := range cost {
		cost[i] = math.NaN()
	}
	known, unknown := 0, []string(nil)
	for k := range table.IDs.Len() {
		node, ok := d.net.Graph.IDs().Lookup(table.IDs.Bytes(k))
		if !ok {
			unknown = append(unknown, fmt.Sprintf("%q", table.IDs.At(k)))
			continue
		}
		known++
		allowed[node] = table.Allowed == nil || table.Allowed[k]
		if table.Cost != nil {
			cost[node] = table.Cost[k]
		}
	}
	some := strings.Join(unknown[:min(3, len(unknown))], ", ")
	switch {
	case known == 0:
		return d.fail(fmt.Sprintf("none of its ids, such as %s, is a node of the network", some),
			graphio.Remedy{Do: "use the same ids in both files"})
	case len(unknown) > 0:
		d.notes = append(d.notes, question{File: d.part, Code: codeUnknown,
			Text: fmt.Sprintf("ids that are not in the network: %d, such as %s; they are left out", len(unknown), some)})
	}
	if d.part == "allowed" {
		d.allowed = allowed
	} else {
		d.cost = cost
	}
	return nil
}

// fail is an error about the content of the present file.
func (d *draftReader) fail(what string, remedies ...graphio.Remedy) error {
	e := &graphio.Error{Code: graphio.CodeContent, File: d.part, What: what, Remedies: remedies}
	if len(d.files) > 0 && d.files[len(d.files)-1].File == d.part {
		e.Columns = columnsOf(d.files[len(d.files)-1].Report)
	}
	return e
}

// columnsOf are the columns that a report names.
func columnsOf(r *graphio.Report) (all []string) {
	for _, c := range r.Columns {
		all = append(all, c.Name)
	}
	return append(all, r.Unused...)
}

// finish checks the ids, and adds the limits of the search to the node table, as study create
// does.
func (d *draftReader) finish() error {
	if err := study.CheckNewIDs(d.net.Graph.IDs()); err != nil {
		d.part = "edges"
		return d.fail(err.Error())
	}
	if d.allowed == nil && d.cost == nil {
		return nil
	}
	nodes := graphio.NodeTable{IDs: d.net.Graph.IDs()}
	if d.net.Nodes != nil {
		nodes = *d.net.Nodes
	}
	if d.allowed != nil {
		nodes.Allowed = d.allowed
	}
	if d.cost != nil {
		if err := d.price(nodes.Allowed); err != nil {
			return err
		}
		nodes.Cost = d.cost
	}
	d.net.Nodes = &nodes
	return nil
}

// price refuses nodes that may be suggested and have no cost, or cost nothing. Those that are
// never suggested cost 1.
func (d *draftReader) price(allowed []bool) error {
	d.part = "costs"
	never := make([]bool, len(d.cost))
	for i := range never {
		never[i] = allowed != nil && !allowed[i]
	}
	for _, i := range d.done() {
		never[i] = true
	}
	for _, i := range d.net.Graph.InputOrder() {
		switch c := d.cost[i]; {
		case c == 0:
			return d.fail(fmt.Sprintf("node %q costs 0", d.net.Graph.IDs().At(i)), graphio.Remedy{Do: "give it a small cost"})
		case math.IsNaN(c) && never[i]:
			d.cost[i] = 1
		case math.IsNaN(c):
			return d.fail(fmt.Sprintf("node %q has no cost", d.net.Graph.IDs().At(i)),
				graphio.Remedy{Do: "give every node that may be measured a cost"},
				graphio.Remedy{Do: "leave it out of the nodes that may be suggested"})
		}
	}
	return nil
}

// answer says what was read.
func (d *draftReader) answer() draftAnswer {
	a := draftAnswer{Columns: []graphColumn{}, Files: append([]draftFile{}, d.files...), Questions: append([]question{}, d.questions...),
		Notes: append([]question{}, d.notes...)}
	if d.net != nil {
		a.Nodes, a.Edges, a.Coordinates, a.Columns = d.net.Graph.Len(), d.net.Graph.Edges(), coordinates(d.net.Nodes), graphColumns(d.net.Nodes)
	}
	a.Values = len(d.done())
	if d.allowed != nil {
		n := 0
		for _, may := range d.allowed {
			if may {
				n++
			}
		}
		a.Allowed = &n
	}
	return a
}

// keep keeps a draft of what was read.
func (d *draftReader) keep(s *Server) (id string, err error) {
	packed, err := graphio.Encode(d.net)
	if err != nil {
		return "", err
	}
	made := &draft{packed: packed, made: s.opts.Now()}
	if d.read != nil {
		sizes := d.read.Exposures()
		for k, node := range d.read.Nodes {
			m := study.Measurement{Node: d.net.Graph.IDs().At(node), Value: d.read.Values[k]}
			if sizes != nil {
				m.Exposure = sizes[k]
			}
			made.measurements = append(made.measurements, m)
		}
	}
	if d.labels != nil {
		for k, node := range d.labels.Nodes {
			made.measurements = append(made.measurements, study.Measurement{
				Node: d.net.Graph.IDs().At(node), Class: d.labels.Classes[d.labels.Class[k]]})
		}
	}
	return s.drafts.keep(made, s.opts.Limits.Graph), nil
}

// lentReader is a reader that graphio reads on a goroutine of its own. After end, which waits
// for that, it has no more to read.
type lentReader struct {
	mu   sync.Mutex
	r    io.Reader
	over bool
}

func (l *lentReader) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return 0, io.EOF
	}
	return l.r.Read(p)
}

func (l *lentReader) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
}
