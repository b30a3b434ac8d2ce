package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	"grfgp/internal/plural"
	"grfgp/partition"
)

// Features of a graph, where no flag says otherwise.
const (
	DefaultBeta  = 2.0  // length scale of the diffusion kernel
	DefaultError = 0.05 // relative error of the features
	KernelTail   = 1e-3 // share of a kernel that hops may leave out
)

// MostRanks bounds --ranks.
const MostRanks = 4096

// PrintRanks prints how processes share a graph, a row for each.
func PrintRanks(text io.Writer, p *partition.Plan) {
	fmt.Fprintf(text, "\nshared by %s (walks of %s; bytes exchanged are those of a product with one vector)\n\n",
		plural.Count(len(p.Shares), "processes"), plural.Count(p.Hops, "hops"))
	t := tabwriter.NewWriter(text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "rank\tnodes\tmemory\trim\trim / nodes\texchanged\t\n")
	for r, s := range p.Shares {
		share := "–"
		if s.Len() > 0 {
			share = fmt.Sprintf("%.3f", float64(s.Rim)/float64(s.Len()))
		}
		fmt.Fprintf(t, "%d\t%d\t%s\t%d\t%s\t%s\t\n", r, s.Len(), Size(s.Bytes), s.Rim, share, Size(s.Exchange))
	}
	_ = t.Flush() // the text does not fail
}
