package main

import (
	"context"
	"encoding/json"
	"io"
	"os"

	"github.com/spf13/cobra"

	"grfgp/graphio"
	"grfgp/internal/cli"
	"grfgp/internal/plural"
)

// packFlags are the flags of the verb.
type packFlags struct {
	cli.Input
	out      string
	oneScale bool
}

func packVerb(a *app) *cobra.Command {
	var f packFlags
	cmd := &cobra.Command{
		Use:   "pack --edges FILE -o FILE",
		Short: "Write a graph, ordered, in a form that is ready within seconds",
		Long: `Pack reads a graph and its node tables once, orders the nodes, and writes all of it to one
file. Every command takes that file as --edges. It is mapped into memory instead of
being read, so a graph of a million nodes is ready in a tenth of a second, and several processes
share its memory. Results are the same bytes as from the original files.

The file also has the coarser graphs that models of many scales are made of, so that commands
map them instead of computing them. --one-scale leaves them out: the file is then less than half as
large, and packing takes less memory.

The file has checksums: one that is damaged or cut off is refused. It must not be changed
while a command uses it; writing it again with pack is fine.`,
		Example: `  grfgp pack --edges roads.csv --nodes places.csv -o roads.packed
  grfgp predict --edges roads.packed --measurements speeds.csv`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.pack(cmd.Context(), &f) },
	}
	f.Input.Flags(cmd)
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "`file` for the packed graph")
	cmd.Flags().BoolVar(&f.oneScale, "one-scale", false, "leave out the coarser graphs, which commands then compute where they need them")
	return cmd
}

// packAnswer is the answer in JSON.
type packAnswer struct {
	Version int    `json:"version"`
	File    string `json:"file"`
	Nodes   int    `json:"nodes"`
	Edges   int    `json:"edges"`
	Bytes   int64  `json:"bytes"`
	Levels  int    `json:"levels"` // coarser graphs
}

func (a *app) pack(ctx context.Context, f *packFlags) error {
	if f.out == "" {
		return cli.Usagef("no file to write: give -o FILE")
	}
	// Writing puts nodes into order, without a second copy of the graph. Coarser graphs are then computed
	// from the written file, mapped; where it cannot be read back, the graph is ordered in memory.
	info, err := os.Stat(f.out)
	stream := err == nil && !info.Mode().IsRegular()
	f.Unordered = f.oneScale || !stream
	net, err := f.Load(ctx, &a.App)
	if err != nil {
		return err
	}
	answer := packAnswer{Version: 1, File: f.out, Nodes: net.Graph.Len(), Edges: net.Graph.Edges()}
	s := a.Talk.Stage("packing")
	if !stream || f.oneScale {
		err = f.write(ctx, a.Kept, net)
		net = nil
	}
	if !f.oneScale && err == nil {
		answer.Levels, err = f.addLevels(ctx, a.Kept, net)
	}
	if err != nil {
		return err
	}
	if info, err = os.Stat(f.out); err != nil {
		return err
	}
	answer.Bytes = info.Size()
	s.Done("%s in %s, with %s", cli.Size(info.Size()), f.out, plural.Count(answer.Levels, "coarser graphs"))
	if !a.JSON {
		return nil
	}
	return json.NewEncoder(a.Out).Encode(answer)
}

// write writes the packed graph.
func (f *packFlags) write(ctx context.Context, kept *cli.Kept, net *graphio.Network) error {
	return kept.Write(f.out, func(w io.Writer) error { return graphio.WritePacked(ctx, w, net) })
}

// addLevels writes the packed graph with its coarser graphs, and returns their number. A nil network is read
// back from the file.
func (f *packFlags) addLevels(ctx context.Context, kept *cli.Kept, net *graphio.Network) (int, error) {
	if net == nil {
		var err error
		if net, err = graphio.ReadGraph(ctx, graphio.File(f.out), graphio.Options{}); err != nil {
			return 0, err
		}
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	levels := net.Graph.Levels()
	net.Graph = net.Graph.WithLevels(levels)
	return len(levels), f.write(ctx, kept, net)
}
