package server

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"grfgp/graphio"
	"grfgp/internal/compression"
	"grfgp/store"
	"grfgp/study"
)

// NetworkType is the media type of a network as graphio.Encode writes it.
const NetworkType = "application/vnd.grfgp.network"

func (s *Server) listGraphs(w http.ResponseWriter, r *http.Request) error {
	graphs, err := s.opts.Store.Graphs(r.Context())
	if err != nil {
		return err
	}
	uses, err := s.opts.Store.GraphStudies(r.Context())
	if err != nil {
		return err
	}
	type listed struct {
		store.GraphInfo
		Studies []string `json:"studies"` // that are on it
	}
	all := make([]listed, len(graphs))
	for k, g := range graphs {
		all[k] = listed{g, append([]string{}, uses[g.ID]...)}
	}
	return respond(w, http.StatusOK, map[string]any{"graphs": all})
}

// getGraph sends a packed graph.
func (s *Server) getGraph(w http.ResponseWriter, r *http.Request) error {
	packed, done, err := s.borrow(r.Context(), r.PathValue("g"))
	if err != nil {
		return err
	}
	defer done()
	w.Header().Set("Content-Type", NetworkType)
	w.Write(packed)
	return nil
}

// putGraph parses a graph while it arrives, and stores it under the hash of its
// content.
func (s *Server) putGraph(w http.ResponseWriter, r *http.Request) error {
	opts, err := graphOptions(r)
	if err != nil {
		return err
	}
	body, err := s.uploaded(w, r)
	if err != nil {
		return err
	}
	defer body.memory.release()
	net, err := s.readGraph(r, body, opts)
	if err := body.done(w, err); err != nil {
		return err
	}
	if err := study.CheckNewIDs(net.Graph.IDs()); err != nil {
		return badData.because("%s", err.Error())
	}
	packed, err := graphio.Encode(net)
	if err != nil {
		return err
	}
	isNew, id, err := s.keep(r.Context(), packed)
	if err != nil {
		return err
	}
	answer := struct {
		ID          string          `json:"id"`
		Nodes       int             `json:"nodes"`
		Edges       int             `json:"edges"`
		Coordinates string          `json:"coordinates"`
		Columns     []graphColumn   `json:"columns"`
		Report      *graphio.Report `json:"report,omitempty"`
		NodesReport *graphio.Report `json:"nodes_report,omitempty"`
	}{id, net.Graph.Len(), net.Graph.Edges(), coordinates(net.Nodes), graphColumns(net.Nodes), net.Report, nil}
	if net.Nodes != nil {
		answer.NodesReport = net.Nodes.Report
	}
	status := http.StatusOK
	if isNew {
		status = http.StatusCreated
		s.log.Info("graph added", "graph", id, "nodes", answer.Nodes, "edges", answer.Edges)
	}
	return respond(w, status, answer)
}

// keep stores a packed graph, and reports whether it is new.
func (s *Server) keep(ctx context.Context, packed []byte) (isNew bool, id string, err error) {
	id = store.GraphID(packed)
	if there, err := s.hasGraph(ctx, id); err != nil || there {
		return false, id, err
	}
	id, err = s.opts.Store.PutGraph(ctx, packed)
	return true, id, err
}

// hasGraph reports whether the store has a graph.
func (s *Server) hasGraph(ctx context.Context, id string) (bool, error) {
	known, err := s.opts.Store.Graphs(ctx)
	return slices.ContainsFunc(known, func(g store.GraphInfo) bool { return g.ID == id }), err
}

// asParameters writes the options of readers as parameters of an upload, those
// that graphOptions takes.
var asParameters = graphio.Speller{And: "&", Spell: func(_ graphio.Table, s graphio.Setting) string {
	value := cmp.Or(s.Value, "…")
	switch s.Option {
	case graphio.OptionColumns:
		return fmt.Sprintf("column=%s=%s", s.Role, value)
	case graphio.OptionHeader:
		return "header=" + value
	case graphio.OptionBadRows:
		return "on_bad_row=" + value
	case graphio.OptionWeights:
		return "weights=" + value
	}
	return ""
}}

// graphOptions reads the parameters of an upload.
func graphOptions(r *http.Request) (graphio.Options, error) {
	q := only(r, "weights", "column", "on_bad_row", "header")
	opts := graphio.Options{Columns: map[graphio.Role]string{}}
	if weights := q.choice("weights", "auto", "similarity", "distance", "ignore"); weights != "auto" {
		opts.Weights = graphio.Weights(weights)
	}
	if q.choice("on_bad_row", "fail", "skip") == "skip" {
		opts.BadRows = graphio.BadRowsSkip
	}
	if header := q.choice("header", "auto", "yes", "no"); header != "auto" {
		opts.Header = graphio.Header(header)
	}
	for _, c := range r.URL.Query()["column"] {
		role, name, ok := strings.Cut(c, "=")
		if !ok || name == "" {
			return opts, malformed.because("column has the form role=name, as in column=source=from, not %q", c)
		}
		opts.Columns[graphio.Role(role)] = name
	}
	return opts, q.err
}

// readGraph reads an upload: a file of edges, a form with nodes and edges, or a packed
// network.
func (s *Server) readGraph(r *http.Request, body *upload, opts graphio.Options) (*graphio.Network, error) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return nil, mediaType.because("give the type of the body, as in Content-Type: text/csv")
	}
	switch kind {
	case NetworkType:
		packed, err := io.ReadAll(body)
		if err != nil {
			return nil, err
		}
		return graphio.Decode(packed)
	case "multipart/form-data":
		return s.readParts(r.Context(), multipart.NewReader(body, params["boundary"]), body.memory, opts)
	case "text/csv", "text/plain", "text/tab-separated-values", "application/octet-stream", "application/gzip", "application/zstd",
		"application/xml", "application/graphml+xml":
		edges, err := s.decompress(body, body.memory)
		if err != nil {
			return nil, err
		}
		return graphio.ReadGraph(r.Context(), graphio.Reader("edges", edges), opts)
	}
	return nil, mediaType.because("a graph is text/csv, multipart/form-data or %s, not %q", NetworkType, kind)
}

// readParts reads a form with a file of nodes, which is optional, and one of edges.
func (s *Server) readParts(ctx context.Context, parts *multipart.Reader, memory *reservation, opts graphio.Options) (*graphio.Network,
	error) {
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, malformed.because("the form has no part called edges")
		}
		if err != nil {
			return nil, err
		}
		file, err := s.decompress(part, memory)
		if err != nil {
			return nil, err
		}
		switch part.FormName() {
		case "nodes":
			if opts.Nodes, err = graphio.ReadNodes(ctx, graphio.Reader("nodes", file), opts); err != nil {
				return nil, err
			}
		case "edges":
			return graphio.ReadGraph(ctx, graphio.Reader("edges", file), opts)
		default:
			return nil, malformed.because("the form has a part called %q; the parts are nodes and edges, in this order", part.FormName())
		}
	}
}

// decompress undoes gzip or zstd, within the limit on the size of graphs and the memory
// of the server.
func (s *Server) decompress(file io.Reader, memory *reservation) (io.Reader, error) {
	for again := false; ; again = true {
		packed := &counter{Reader: file}
		in := bufio.NewReader(packed)
		head, err := in.Peek(4)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		format := compression.Detect(head)
		if format == "" {
			return in, nil
		}
		if again {
			return nil, mediaType.because("the file is compressed twice")
		}
		var z io.Reader
		if format == compression.Gzip {
			z, err = gzip.NewReader(in)
		} else {
			z, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
		}
		if err != nil {
			return nil, err
		}
		file = &atMost{r: z, left: s.opts.Limits.Graph, packed: packed, memory: memory}
	}
}

// checkIDs refuses graphs with ids that a study does not accept.
func checkIDs(net *graphio.Network) error {
	if err := study.CheckIDs(net.Graph.IDs()); err != nil {
		return badData.because("%s", err.Error())
	}
	return nil
}
