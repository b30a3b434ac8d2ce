package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"grfgp/internal/cli"
	"grfgp/lab/dataset"
)

func datasetVerb(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dataset list | fetch | verify",
		Short: "List, download and check the paper's public data sets",
		Long: `Dataset manages the public data sets of the paper. They are searched for in the folder
given by the environment variable GRFGP_DATA, then in the user's cache; fetch downloads
them from their publishers into the cache.`,
		Example:   "  grfgp-lab dataset list\n  grfgp-lab dataset fetch enron facebook\n  grfgp-lab dataset verify",
		ValidArgs: []string{"list", "fetch", "verify"},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usagef("dataset has no command %q; its commands are list, fetch and verify", args[0])
			}
			return cli.Usagef("no command given: use grfgp-lab dataset list, fetch or verify")
		},
	}
	list := &cobra.Command{
		Use: "list", Short: "List data sets and their locations on this machine", Args: cli.NoArguments,
		RunE: func(*cobra.Command, []string) error { return a.listDatasets(dataset.Default()) },
	}
	fetch := &cobra.Command{
		Use: "fetch NAME...", Short: "Download data sets that are not on this machine", ValidArgs: datasetNames(),
		Long: `Fetch downloads data sets from their publishers into the user's cache; data sets that
are on this machine are checked instead, as by verify. An interrupted download resumes
when fetch is called again. A file is kept only if it holds as many nodes and edges as
the paper's graph. Publishers state no checksums: fetch records that of the first
download, and verify compares with it.`,
		RunE: func(cmd *cobra.Command, names []string) error {
			if len(names) == 0 {
				return cli.Usagef("no data set given: name one or more of %s", strings.Join(datasetNames(), ", "))
			}
			return a.fetchDatasets(cmd.Context(), dataset.Default(), names)
		},
	}
	verify := &cobra.Command{
		Use: "verify [NAME...]", Short: "Check checksums, nodes and edges", ValidArgs: datasetNames(),
		Long: `Verify compares checksums, and the numbers of nodes and edges, with the known ones.
Without names it checks all data sets on this machine.`,
		RunE: func(cmd *cobra.Command, names []string) error {
			return a.verifyDatasets(cmd.Context(), dataset.Default(), names)
		},
	}
	cmd.AddCommand(list, fetch, verify)
	return cmd
}

func datasetNames() []string {
	var names []string
	for _, set := range dataset.All() {
		names = append(names, set.Name)
	}
	return names
}

// datasetsNamed returns the sets with the given names.
func datasetsNamed(names []string) ([]dataset.Set, error) {
	var sets []dataset.Set
	for _, name := range names {
		set, err := dataset.Named(name)
		if err != nil {
			return nil, cli.Exit(cli.ExitUsage, err)
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// datasetAnswer is one set in JSON.
type datasetAnswer struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Home    string   `json:"home"`
	Address string   `json:"address,omitempty"` // of the download
	Licence string   `json:"licence"`
	StandIn string   `json:"stands_in_for,omitempty"`
	Note    string   `json:"note,omitempty"`
	Nodes   int      `json:"nodes"`
	Edges   int      `json:"edges"`
	Files   []string `json:"files"`            // on this machine; empty: none
	Lacks   []string `json:"lacks,omitempty"`  // missing files of a set that is here in part
	SHA256  []string `json:"sha256,omitempty"` // of each file, if verified
	Basis   []string `json:"compared_with,omitempty"`
}

func datasetOf(set dataset.Set, files []string) datasetAnswer {
	form, _ := set.Download()
	if files == nil {
		files = []string{}
	}
	return datasetAnswer{Name: set.Name, Title: set.Title, Home: set.Home, Address: form.URL, Licence: set.Licence,
		StandIn: set.StandIn, Note: set.Note, Nodes: set.Nodes, Edges: set.Edges, Files: files}
}

// answerDatasets writes sets in JSON.
func (a *app) answerDatasets(sets []datasetAnswer) error {
	return json.NewEncoder(a.Out).Encode(struct {
		Version int             `json:"version"`
		Sets    []datasetAnswer `json:"sets"`
	}{1, sets})
}

func (a *app) listDatasets(store dataset.Store) error {
	var answers []datasetAnswer
	for _, set := range dataset.All() {
		files, err := store.Where(set)
		if err != nil && !errors.Is(err, dataset.ErrMissing) {
			return err
		}
		answer := datasetOf(set, files)
		if len(files) == 0 {
			_, answer.Lacks = store.Lacks(set)
		}
		answers = append(answers, answer)
	}
	if a.JSON {
		return a.answerDatasets(answers)
	}
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "name\tnodes\tedges\tlocation\tcontent")
	for _, d := range answers {
		where := "not on this machine; fetch downloads it"
		switch {
		case len(d.Files) > 0:
			where = filepath.Dir(d.Files[0])
		case len(d.Lacks) > 0:
			where = "incomplete; missing " + strings.Join(d.Lacks, ", ")
		case d.Address == "":
			where = "not on this machine; no download"
		}
		what := d.Title
		if d.StandIn != "" {
			what += fmt.Sprintf(" (a stand-in for %s, not the paper's data)", d.StandIn)
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\n", d.Name, d.Nodes, d.Edges, where, what)
	}
	if dir := os.Getenv(dataset.Variable); dir != "" {
		if info, err := os.Stat(dir); err != nil {
			a.Talk.Say("note: %s is not a folder: %v", dataset.Variable, err)
		} else if !info.IsDir() {
			a.Talk.Say("note: %s is not a folder: %s is a file", dataset.Variable, dir)
		}
	}
	a.Talk.Say("files were found by name; 'grfgp-lab dataset verify' checks their content")
	return w.Flush()
}

func (a *app) fetchDatasets(ctx context.Context, store dataset.Store, names []string) error {
	sets, err := datasetsNamed(names)
	if err != nil {
		return err
	}
	return a.eachDataset(ctx, sets, func(set dataset.Set) (datasetAnswer, error) { return a.fetchDataset(ctx, store, set) })
}

// fetchDataset downloads a set, or verifies it if it is on this machine.
func (a *app) fetchDataset(ctx context.Context, store dataset.Store, set dataset.Set) (datasetAnswer, error) {
	if _, err := store.Where(set); !errors.Is(err, dataset.ErrMissing) {
		return a.verifyDataset(ctx, store, set)
	}
	form, _ := set.Download()
	s := a.Talk.Stage("fetching " + set.Name)
	files, err := store.Fetch(ctx, set, dataset.FetchOptions{Progress: s.Update})
	if err == nil {
		s.Done("%d nodes and %d edges from %s; its checksum was recorded", set.Nodes, set.Edges, form.URL)
	}
	return datasetOf(set, files), err
}

// answerFiles writes the files of sets, one per line, or all in JSON.
func (a *app) answerFiles(answers []datasetAnswer) error {
	if a.JSON {
		return a.answerDatasets(answers)
	}
	for _, d := range answers {
		for k, file := range d.Files {
			line := d.Name + ": " + file
			if len(d.Basis) > 0 {
				line += fmt.Sprintf(": checksum %s…, %s", d.SHA256[k][:12], d.Basis[k])
			}
			fmt.Fprintln(a.Out, line)
		}
	}
	return nil
}

func (a *app) verifyDatasets(ctx context.Context, store dataset.Store, names []string) error {
	sets, err := datasetsNamed(names)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		for _, set := range dataset.All() {
			if _, err := store.Where(set); !errors.Is(err, dataset.ErrMissing) {
				sets = append(sets, set)
			}
		}
	}
	if len(sets) == 0 {
		return cli.Dataf("no data set is on this machine; 'grfgp-lab dataset list' lists them")
	}
	return a.eachDataset(ctx, sets, func(set dataset.Set) (datasetAnswer, error) { return a.verifyDataset(ctx, store, set) })
}

// eachDataset calls do for every set; an error does not stop the others.
func (a *app) eachDataset(ctx context.Context, sets []dataset.Set, do func(dataset.Set) (datasetAnswer, error)) error {
	var answers []datasetAnswer
	var failed []error
	for _, set := range sets {
		answer, err := do(set)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			failed = append(failed, datasetError(err))
		default:
			answers = append(answers, answer)
		}
	}
	if len(answers) > 0 {
		failed = append(failed, a.answerFiles(answers))
	}
	return errors.Join(failed...)
}

// verifyDataset verifies a set on this machine.
func (a *app) verifyDataset(ctx context.Context, store dataset.Store, set dataset.Set) (datasetAnswer, error) {
	s := a.Talk.Stage("verifying " + set.Name)
	answer := datasetOf(set, nil)
	v, err := store.Verify(ctx, set)
	if err != nil {
		return answer, err
	}
	s.Done("%d nodes and %d edges, as expected", v.Nodes, v.Edges)
	for _, f := range v.Files {
		answer.Files, answer.SHA256, answer.Basis = append(answer.Files, f.Path), append(answer.SHA256, f.SHA256), append(answer.Basis, f.Basis)
	}
	return answer, nil
}

// datasetError gives errors about data their exit code.
func datasetError(err error) error {
	switch {
	case errors.Is(err, dataset.ErrUnreachable):
		return cli.Exit(cli.ExitUnreachable, err)
	case errors.Is(err, dataset.ErrMissing), errors.Is(err, dataset.ErrDamaged):
		return cli.Exit(cli.ExitBadData, err)
	}
	return err
}
