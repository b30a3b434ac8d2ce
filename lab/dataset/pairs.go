package dataset

import (
	"archive/zip"
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"grfgp/graph"
	"grfgp/graphio"
)

// readPairs returns a reader of edge lists: a file with one edge per line, or the named
// member of a zip archive.
func readPairs(member string) func(context.Context, location) (*graph.Graph, error) {
	return func(ctx context.Context, p location) (*graph.Graph, error) {
		name := p.only()
		if !strings.HasSuffix(name, ".zip") {
			return readByID(ctx, graphio.File(name), graphio.Options{})
		}
		archive, err := zip.OpenReader(name)
		if err != nil {
			return nil, fmt.Errorf("%w: opening %s: %w", ErrDamaged, name, err)
		}
		defer archive.Close()
		r, err := openMember(&archive.Reader, member)
		if err != nil {
			return nil, fmt.Errorf("%w: opening %s: %w", ErrDamaged, name, err)
		}
		defer r.Close()
		return readByID(ctx, graphio.Reader(name+"/"+member, r), graphio.Options{})
	}
}

// openMember opens a member of an archive, in any of its folders.
func openMember(archive *zip.Reader, member string) (io.ReadCloser, error) {
	for _, f := range archive.File {
		if path.Base(f.Name) == member {
			return f.Open()
		}
	}
	return nil, fmt.Errorf("it has no member %s", member)
}

// readByID reads a graph and numbers its nodes by increasing id.
func readByID(ctx context.Context, src graphio.Source, opts graphio.Options) (*graph.Graph, error) {
	net, err := graphio.ReadGraph(ctx, src, opts)
	if err != nil {
		return nil, err
	}
	type node struct {
		id uint64
		at int
	}
	labels := net.Graph.IDs()
	nodes, order := make([]node, labels.Len()), make([]int, labels.Len())
	for i := range nodes {
		id, err := strconv.ParseUint(labels.At(i), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: the id of a node is %q, want a whole number", ErrDamaged, src.Name(), labels.At(i))
		}
		nodes[i] = node{id, i}
	}
	slices.SortFunc(nodes, func(a, b node) int { return cmp.Compare(a.id, b.id) })
	for k, n := range nodes {
		order[k] = n.at
	}
	return net.Graph.Permute(order)
}
