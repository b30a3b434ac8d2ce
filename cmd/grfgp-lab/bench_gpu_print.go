package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"grfgp/internal/cli"
	"grfgp/lab/bench"
)

func printGPU(w io.Writer, r *bench.GPUReport) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	const giga = 1e9
	fmt.Fprintf(t, "card\t%s\tcopies %.0f GB/s\t%s\n", r.Card, r.CardCopy/giga, r.Note)
	host := ""
	if r.HostCopy > 0 {
		host = fmt.Sprintf("copies %.0f GB/s", r.HostCopy/giga)
	}
	fmt.Fprintf(t, "processor\t%d threads\t%s\n", r.Threads, host)
	if r.Products != nil {
		fmt.Fprintf(t, "\nproducts\tright sides\tms on the card\tGB/s\tshare of the copy rate\tms on the processor\tprocessor / card\tlargest "+
			"relative difference\n")
		for _, p := range r.Products {
			fmt.Fprintf(t, "%s, %d rows, %d entries\t%d\t%.3f\t%.0f\t%.2f\t%s\n", p.Matrix, p.Rows, p.Entries, p.RightSides, 1000*p.Seconds,
				p.BytesPerSec/giga, p.ShareOfCopy,
				beside(p.Processor > 0, "%.2f\t%.1f\t%.1e", 1000*p.Processor, p.SpeedUp, p.Difference))
		}
	}
	printCardRings(t, r)
	if s := r.Thompson; s != nil {
		fmt.Fprintf(t, "\nThompson steps, %d nodes, %d measurements\tms, median of %d\tleast\tmost\tprocessor / card\n", s.Nodes, s.Measured,
			s.Card.Steps)
		fmt.Fprintf(t, "card\t%.1f\t%.1f\t%.1f\t%s\n", 1000*s.Card.Median, 1000*s.Card.Least, 1000*s.Card.Most,
			beside(s.Processor != nil, "%.1f", s.SpeedUp))
		if p := s.Processor; p != nil {
			fmt.Fprintf(t, "processor\t%.1f\t%.1f\t%.1f\n", 1000*p.Median, 1000*p.Least, 1000*p.Most)
			fmt.Fprintf(t, "%s; the first %d suggestions are the same\n", s.Chosen, s.Same)
		}
		printWhere(t, s.Where)
	}
	if p := r.Predict; p != nil {
		fmt.Fprintf(t, "\npredict, grid of %d nodes, %d measurements\tseconds\tCPU seconds\tpeak\tprocessor / card\tstages\n", p.Nodes,
			p.Measured)
		fmt.Fprintf(t, "card\t%.1f\t%.1f\t%s\t%s\t%s\n", p.Card.Seconds, p.Card.CPU, cli.Size(p.Card.Peak),
			beside(p.Processor != nil, "%.1f", p.SpeedUp), stageWords(p.Card.Stages))
		if q := p.Processor; q != nil {
			fmt.Fprintf(t, "processor\t%.1f\t%.1f\t%s\t\t%s\n", q.Seconds, q.CPU, cli.Size(q.Peak), stageWords(q.Stages))
		}
		if d := p.Difference; d != nil {
			fmt.Fprintf(t, "largest differences: means %.1e standard deviations, standard deviations %.1e of themselves\n", d.Mean, d.SD)
		}
		fmt.Fprintf(t, "from a packed file, which took %.1f s to make from an edge list; CSV is written\n", p.Pack)
	}
	if r.MostBytes > 0 {
		fmt.Fprintf(t, "\nmost memory of the card in use, without predict: %s\n", cli.Size(r.MostBytes))
	}
	return t.Flush()
}

func printCardRings(t io.Writer, r *bench.GPUReport) {
	if r.Rings == nil {
		return
	}
	fmt.Fprintf(t, "\nrings\tfeatures s\ttraining s\tinference s, 64 samples\ttotal s\t/ card\tRMSE\tcoverage\n")
	row := func(what string, x bench.Regression, ratio string) {
		fmt.Fprintf(t, "%s\t%.3f\t%.3f\t%.3f\t%.3f\t%s\t%.4f\t%.1f %%\n", what, x.Features, x.Training, x.Inference, x.Total(), ratio, x.RMSE,
			100*x.Coverage)
	}
	for _, c := range r.Rings {
		mine := c.Median()
		name := ringName(c)
		row(name+", card", mine, "1")
		if c.Processor != nil {
			row(name+", processor", *c.Processor, fmt.Sprintf("%.1f", c.SpeedUp))
		}
		for _, p := range r.Published {
			if c.OverTheir > 0 && p.Nodes == c.Card[0].Nodes {
				fmt.Fprintf(t, "authors' library, %d nodes, measured earlier\t%.1f\t%.1f\t%.2f\t%.1f\t%.0f\n", p.Nodes, p.Features, p.Training,
					p.Inference, p.Total(), c.OverTheir)
			}
		}
	}
	fmt.Fprintf(t, "the authors' library was measured on 16 cores and an H200 with hops 0 to 3, not in this run:")
	for k, p := range r.Published {
		fmt.Fprintf(t, "%s %.1f + %.1f + %.2f s at %d nodes", []string{"", ";"}[min(k, 1)], p.Features, p.Training, p.Inference, p.Nodes)
	}
	fmt.Fprintln(t)
	for _, c := range r.Rings {
		name := ringName(c)
		if c.Learned != nil {
			fmt.Fprintf(t, "%s: largest differences in standard deviations: means %.1e, samples %.1e; with the same hyperparameters %.1e, %.1e\n",
				name, c.Learned.Mean, c.Learned.Sample, c.Inferred.Mean, c.Inferred.Sample)
		}
		if n := len(c.Card); n > 1 {
			fmt.Fprintf(t, "%s: %d runs on the card gave %s\n", name, n,
				map[bool]string{true: "the same bytes", false: "different results"}[c.SameBytes])
		}
		printWhere(t, c.Where)
	}
}

func ringName(c bench.CardRing) string {
	return fmt.Sprintf("%s protocol, %d nodes", c.Protocol, c.Card[0].Nodes)
}

// beside formats what there is only with a processor to compare with.
func beside(is bool, format string, args ...any) string {
	if !is {
		return strings.Repeat("\t", strings.Count(format, "\t"))
	}
	return fmt.Sprintf(format, args...)
}

func printWhere(w io.Writer, where []string) {
	if len(where) > 0 {
		fmt.Fprintf(w, "  %s\n", strings.Join(where, "; "))
	}
}

func stageWords(all []bench.StageTime) string {
	var words []string
	for _, s := range all {
		words = append(words, fmt.Sprintf("%s %.1f", s.Name, s.Seconds))
	}
	return strings.Join(words, ", ")
}
