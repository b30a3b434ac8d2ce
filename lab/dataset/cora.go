package dataset

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"grfgp/graph"
	"grfgp/lab/randomstate"
)

// Cora is the largest component of the citation network. Nodes are in the order of the
// public loader, on which the paper's split depends.
type Cora struct {
	Graph   *graph.Graph // with the papers' ids
	Class   []int        // of every node
	Classes []string     // names, in alphabetical order
}

// coraTrain is the number of training nodes in the paper: 80 %.
const coraTrain = 1988

// Cora reads the citation network.
func (s Store) Cora(ctx context.Context) (*Cora, error) {
	set, err := Named("cora")
	if err != nil {
		return nil, err
	}
	p, err := s.find(set)
	if err != nil {
		return nil, err
	}
	c, err := readCora(ctx, p)
	if err == nil {
		err = set.check(c.Graph)
	}
	if err != nil {
		return nil, set.withRemedy(p, err)
	}
	return c, nil
}

// AuthorsSplit returns the paper's split: numpy's permutation of seed 1.
func (c *Cora) AuthorsSplit() (train, test []int) {
	order := c.Graph.Nodes()
	randomstate.Shuffle(randomstate.New(1), order)
	return order[:coraTrain], order[coraTrain:]
}

func readCoraGraph(ctx context.Context, p location) (*graph.Graph, error) {
	c, err := readCora(ctx, p)
	if err != nil {
		return nil, err
	}
	return c.Graph, nil
}

func readCora(_ context.Context, p location) (*Cora, error) {
	cites, topic, err := coraText(p)
	if err != nil {
		return nil, err
	}
	labels, edges := graph.NewIDs(2708), graph.Edges{}
	for lines := bufio.NewScanner(strings.NewReader(cites)); lines.Scan(); {
		pair := strings.Fields(lines.Text())
		if len(pair) != 2 {
			return nil, fmt.Errorf("%w: cora.cites has a line %q, want two papers", ErrDamaged, lines.Text())
		}
		citing := labels.Intern([]byte(pair[1])) // before the cited paper, as in the public loader
		edges.U, edges.V = append(edges.U, uint32(citing)), append(edges.V, uint32(labels.Intern([]byte(pair[0]))))
	}
	whole, _, err := graph.FromEdges(labels, edges, graph.BuildOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading cora: %w", err)
	}
	c := &Cora{}
	c.Graph, _ = whole.LargestComponent()
	for _, name := range topic {
		if !slices.Contains(c.Classes, name) {
			c.Classes = append(c.Classes, name)
		}
	}
	slices.Sort(c.Classes)
	for i := range c.Graph.Len() {
		class, found := slices.BinarySearch(c.Classes, topic[c.Graph.IDs().At(i)])
		if !found {
			return nil, fmt.Errorf("%w: cora has no topic for paper %s", ErrDamaged, c.Graph.IDs().At(i))
		}
		c.Class = append(c.Class, class)
	}
	return c, nil
}

// coraText returns the citations, and the topic of every paper.
func coraText(p location) (cites string, topic map[string]string, err error) {
	topic = map[string]string{}
	f, err := os.Open(p.only())
	if err != nil {
		return "", nil, fmt.Errorf("reading cora: %w", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return "", nil, fmt.Errorf("%w: unpacking %s: %w", ErrDamaged, p.only(), err)
	}
	if len(p.form.Files) == 2 {
		text, err := io.ReadAll(z)
		if err != nil {
			return "", nil, fmt.Errorf("%w: unpacking %s: %w", ErrDamaged, p.only(), err)
		}
		err = eachRow(p.path(p.form.Files[1].Path), "paper_id,label", func(cells []string) error {
			topic[cells[0]] = cells[1]
			return nil
		})
		return string(text), topic, err
	}
	for archive := tar.NewReader(z); ; {
		member, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		var text []byte
		if err == nil {
			text, err = io.ReadAll(archive)
		}
		if err != nil {
			return "", nil, fmt.Errorf("%w: unpacking %s: %w", ErrDamaged, p.only(), err)
		}
		switch path.Base(member.Name) {
		case "cora.cites":
			cites = string(text)
		case "cora.content": // a paper, its words, its topic
			for line := range strings.Lines(string(text)) {
				if cells := strings.Fields(line); len(cells) > 1 {
					topic[cells[0]] = cells[len(cells)-1]
				}
			}
		}
	}
	if cites == "" || len(topic) == 0 {
		return "", nil, fmt.Errorf("%w: %s lacks cora.cites or cora.content", ErrDamaged, p.only())
	}
	return cites, topic, nil
}
