package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grfgp/bayesopt"
	"grfgp/graphio"
	"grfgp/internal/cli"
)

// siteFlags are the flags that limit which nodes are suggested.
type siteFlags struct {
	allowed, exclude, pending string
	cost, group               string
	groupCap                  int
	budget                    float64
	hasBudget                 bool
}

func (f *siteFlags) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.allowed, "allowed", "", "`file` of candidates: only these nodes are suggested (default: all)")
	flags.StringVar(&f.exclude, "exclude", "", "`file` of nodes that must not be suggested")
	flags.StringVar(&f.pending, "pending", "", "`file` of pending nodes: not suggested, counted in --budget and --group-cap, and, except "+
		"by thompson, treated as measured when others are picked")
	flags.StringVar(&f.cost, "cost", "", "`file` of costs: node and cost")
	flags.StringVar(&f.group, "group", "", "`file` of groups: node and group")
	flags.IntVar(&f.groupCap, "group-cap", 0, "largest number of suggested and pending nodes of a group (default: no limit)")
	flags.Float64Var(&f.budget, "budget", 0, "largest total cost of suggested and pending nodes (default: no limit)")
}

// check refuses impossible values.
func (f *siteFlags) check(changed func(string) bool) error {
	f.hasBudget = changed("budget")
	switch {
	case f.hasBudget && !(f.budget >= 0):
		return cli.Usagef("--budget %v: give a number ≥ 0", f.budget)
	case changed("group-cap") && f.groupCap < 1:
		return cli.Usagef("--group-cap %d: give 1 or more", f.groupCap)
	case f.group != "" && f.groupCap == 0:
		return cli.Usagef("--group needs --group-cap N")
	}
	return nil
}

// sites are the limits as nodes of a graph.
type sites struct {
	allowed           []int // nil: all
	excluded, pending []int
	groups            []string // of every node, where there is a cap
	limits            bayesopt.Limits
	budget            *float64 // after pending nodes; nil: no limit
}

// read reads the files of the flags. Without a file of their own, cost, allowed and
// group are taken from the node table. Nodes of done are not suggested.
func (f *siteFlags) read(ctx context.Context, a *app, net *graphio.Network, done []int, opts graphio.Options) (*sites, error) {
	r := &siteReader{ctx: ctx, app: a, net: net, opts: opts}
	s := &sites{excluded: r.list("exclude", f.exclude), pending: r.list("pending", f.pending)}
	if still := without(s.pending, done); len(still) < len(s.pending) {
		a.Talk.Say("  note: pending nodes already measured: %d; they are no longer pending", len(s.pending)-len(still))
		s.pending = still
	}
	s.pending = without(s.pending, s.excluded)
	if s.allowed = r.list("allowed", f.allowed); f.allowed == "" && net.Nodes != nil && net.Nodes.Allowed != nil {
		s.allowed = []int{}
		for i, may := range net.Nodes.Allowed {
			if may {
				s.allowed = append(s.allowed, i)
			}
		}
	}
	s.limits.Cost = r.costs(f.cost, s.priced(net.Graph.Len(), done))
	if f.groupCap > 0 {
		s.groups = r.groups(f.group)
		s.limits.GroupCap, s.limits.Group = f.groupCap, bayesopt.NumberGroups(s.groups)
	}
	if f.hasBudget && r.err == nil {
		left := f.budget
		for _, i := range s.pending {
			left -= s.limits.CostOf(i)
		}
		left = max(0, left)
		s.budget = &left
	}
	return s, r.err
}

// without returns the nodes of a list that are not in another.
func without(nodes, done []int) []int {
	is := make(map[int]bool, len(done))
	for _, i := range done {
		is[i] = true
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(i int) bool { return is[i] })
}

// priced marks the nodes of n that must have a cost: candidates and pending nodes.
func (s *sites) priced(n int, done []int) []bool {
	must := make([]bool, n)
	for i := range must {
		must[i] = s.allowed == nil
	}
	for _, i := range s.allowed {
		must[i] = true
	}
	for _, i := range append(slices.Clone(done), s.excluded...) {
		must[i] = false
	}
	for _, i := range s.pending {
		must[i] = true
	}
	return must
}

// siteReader reads node tables until the first error.
type siteReader struct {
	ctx  context.Context
	app  *app
	net  *graphio.Network
	opts graphio.Options
	err  error
}

// table reads a file of nodes and returns their numbers in the graph, −1 for unknown
// ids.
func (r *siteReader) table(flag, path string) (*graphio.NodeTable, []int) {
	if path == "" || r.err != nil {
		return nil, nil
	}
	opts, s := r.opts, r.app.Talk.Stage("reading --"+flag)
	opts.Progress = s.Update
	opts.Columns = map[graphio.Role]string{}
	if name, told := r.opts.Columns[graphio.Role(flag)]; told { // cost or group
		opts.Columns[graphio.Role(flag)] = name
	}
	n, err := graphio.ReadNodes(r.ctx, r.app.Source(path), opts)
	if errors.Is(err, graphio.ErrEmpty) && (flag == "exclude" || flag == "pending") {
		s.Done("no nodes in %s", path)
		return nil, nil
	}
	if err != nil {
		r.err = err
		return nil, nil
	}
	at, unknown := make([]int, n.IDs.Len()), []string(nil)
	for k := range at {
		node, ok := r.net.Graph.IDs().Lookup(n.IDs.Bytes(k))
		if !ok {
			node = -1
			unknown = append(unknown, fmt.Sprintf("%q", n.IDs.At(k)))
		}
		at[k] = node
	}
	s.Done("%d nodes from %s", len(at)-len(unknown), n.Report.File)
	some := strings.Join(unknown[:min(3, len(unknown))], ", ")
	switch {
	case len(unknown) == len(at):
		r.err = cli.Dataf("%s: none of its ids, such as %s, is a node of the graph, which has ids such as %q; use the same ids in both files",
			n.Report.File, some, r.net.Graph.IDs().At(r.net.Graph.InputOrder()[0]))
	case len(unknown) > 0:
		r.app.Talk.Say("  note: ids not in the graph: %d, such as %s", len(unknown), some)
	}
	return n, at
}

// list returns the nodes of a file; for --allowed, those that its column allowed, if
// there is one, allows.
func (r *siteReader) list(flag, path string) []int {
	n, at := r.table(flag, path)
	if n == nil {
		return nil
	}
	nodes := []int{}
	for k, node := range at {
		if node >= 0 && (flag != "allowed" || n.Allowed == nil || n.Allowed[k]) {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// costs returns the cost of every node, nil if there are none. Marked nodes must have
// one.
func (r *siteReader) costs(path string, must []bool) []float64 {
	var cost []float64
	file := "--cost " + path
	if n, at := r.table("cost", path); n != nil {
		if n.Cost == nil {
			r.err = cli.Dataf("%s: there is no column cost; name it in the header, or give --column cost=2", n.Report.File)
			return nil
		}
		cost = missingNumbers(r.net.Graph.Len())
		for k, node := range at {
			if node >= 0 {
				cost[node] = n.Cost[k]
			}
		}
	} else if nodes := r.net.Nodes; nodes != nil && nodes.Cost != nil {
		cost, file = append(cost, nodes.Cost...), "--nodes"
	}
	if cost == nil || r.err != nil {
		return nil
	}
	for _, i := range r.net.Graph.InputOrder() {
		c, label := cost[i], r.net.Graph.IDs().At(i)
		switch {
		case must[i] && math.IsNaN(c):
			r.err = cli.Dataf("%s: node %q has no cost, and is a candidate or pending; give it a cost, or leave it out of --allowed FILE", file,
				label)
			return nil
		case math.IsNaN(c):
			cost[i] = 1 // never asked for
		case c == 0:
			r.err = cli.Dataf("%s: node %q costs 0, so its benefit per cost would be infinite; give it a small cost", file, label)
			return nil
		}
	}
	return cost
}

// groups returns the group of every node, empty for a node without one.
func (r *siteReader) groups(path string) []string {
	names := make([]string, r.net.Graph.Len())
	if n, at := r.table("group", path); n != nil {
		if n.Group == nil {
			r.err = cli.Dataf("%s: there is no column group; name it in the header, or give --column group=2", n.Report.File)
			return nil
		}
		for k, node := range at {
			if node >= 0 {
				names[node] = n.Group[k]
			}
		}
	} else if nodes := r.net.Nodes; nodes != nil && nodes.Group != nil {
		copy(names, nodes.Group)
	} else if r.err == nil {
		r.err = cli.Usagef("--group-cap needs groups: give --group FILE, or a column group in --nodes")
	}
	return names
}

func missingNumbers(n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = math.NaN()
	}
	return all
}
