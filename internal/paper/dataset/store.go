package dataset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"grfgp/graph"
)

// Store is where data is looked for.
type Store struct {
	Roots []string // folders of data, in the order in which they are looked into
	Cache string   // the one among them that Fetch writes to; "" where there is none
}

// Variable is the environment variable that names a folder of data.
const Variable = "GRFGP_DATA"

// Default looks into the folder that GRFGP_DATA names, and then into the user's
// cache.
func Default() Store {
	var s Store
	if dir := os.Getenv(Variable); dir != "" {
		s.Roots = append(s.Roots, dir)
	}
	if dir, err := os.UserCacheDir(); err == nil {
		s.Cache = filepath.Join(dir, "grfgp")
		s.Roots = append(s.Roots, s.Cache)
	}
	return s
}

// place is a form of a set in a folder of data.
type place struct {
	root string
	form Form
}

// path returns where a file of the form is.
func (p place) path(file string) string { return filepath.Join(p.root, filepath.FromSlash(file)) }

// only returns where the only file of the form is.
func (p place) only() string { return p.path(p.form.Files[0].Path) }

// Where returns the files of a set, or an error that wraps ErrMissing and says
// what to do.
func (s Store) Where(set Set) ([]string, error) {
	p, err := s.find(set)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, f := range p.form.Files {
		files = append(files, p.path(f.Path))
	}
	return files, nil
}

func (s Store) find(set Set) (place, error) {
	for _, root := range s.Roots {
		for _, form := range set.Forms {
			p := place{root, form}
			switch lacks, err := p.lacks(); {
			case err != nil:
				return p, fmt.Errorf("dataset: looking for %s: %w; see who may read it, or let %s name another folder", set.Name, err, Variable)
			case len(lacks) == 0:
				return p, nil
			}
		}
	}
	return place{}, s.missing(set)
}

// lacks returns the files of the form that are not there.
func (p place) lacks() ([]string, error) {
	var names []string
	for _, f := range p.form.Files {
		info, err := os.Stat(p.path(f.Path))
		if err != nil && !absent(err) {
			return nil, err
		}
		if err != nil || !info.Mode().IsRegular() {
			names = append(names, path.Base(f.Path))
		}
	}
	return names, nil
}

// absent tells whether there is nothing at a path, or a file where a folder should be.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// Lacks returns a folder that has some of the files of a set, and those that it lacks;
// nothing where no folder has some but not all.
func (s Store) Lacks(set Set) (root string, names []string) {
	for _, root := range s.Roots {
		for _, form := range set.Forms {
			p := place{root, form}
			if lacks, err := p.lacks(); err == nil && len(lacks) > 0 && len(lacks) < len(form.Files) {
				return root, lacks
			}
		}
	}
	return "", nil
}

// missing says where a set was looked for, and how to get it.
func (s Store) missing(set Set) error {
	var roots []string
	for _, root := range s.Roots {
		switch info, err := os.Stat(root); {
		case err != nil && absent(err) && root != s.Cache:
			root += " (there is no such folder)"
		case err == nil && !info.IsDir():
			root += " (which is not a folder)"
		}
		roots = append(roots, root)
	}
	places := strings.Join(roots, " and ")
	if places == "" {
		places = "no folder: set " + Variable
	}
	next := fmt.Sprintf("nobody publishes it in the form that is read; prepare %s from %s and put them there (docs/datasets.md has their columns)", strings.Join(set.names(0), ", "), set.Home)
	if _, ok := set.Download(); ok {
		next = "'grfgp dataset fetch " + set.Name + "' downloads it"
	}
	if root, lacks := s.Lacks(set); len(lacks) > 0 {
		places += fmt.Sprintf("; %s has some of its files but not %s", root, strings.Join(lacks, ", "))
	}
	return fmt.Errorf("%w: %s; looked in %s; %s", ErrMissing, set.Name, places, next)
}

// names returns the files of a form.
func (s Set) names(form int) []string {
	var names []string
	for k, f := range s.Forms[form].Files {
		name := f.Path
		if k > 0 {
			name = path.Base(name)
		}
		names = append(names, name)
	}
	return names
}

// Graph returns the graph of a set, nodes numbered by increasing id, so that all
// forms of a set give the same graph. Cora is numbered as in the paper's code.
func (s Store) Graph(ctx context.Context, set Set) (*graph.Graph, error) {
	p, err := s.find(set)
	if err != nil {
		return nil, err
	}
	return set.load(ctx, p)
}

// Has tells whether all files of the set of a name are here.
func (s Store) Has(name string) bool {
	set, err := Named(name)
	if err != nil {
		return false
	}
	_, err = s.find(set)
	return err == nil
}
