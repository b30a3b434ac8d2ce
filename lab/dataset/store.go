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

// Store is a list of folders with data.
type Store struct {
	Roots []string // in the order in which they are searched
	Cache string   // the root that Fetch writes to; "" if there is none
}

// Variable is the environment variable that names a folder of data.
const Variable = "GRFGP_DATA"

// Default returns the store of the folder in GRFGP_DATA, if set, and the user's cache.
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

// location is a form of a set in one of the store's folders.
type location struct {
	root string
	form Form
}

// path returns the path of a file of the form.
func (p location) path(file string) string { return filepath.Join(p.root, filepath.FromSlash(file)) }

// only returns the path of the first file of the form.
func (p location) only() string { return p.path(p.form.Files[0].Path) }

// Where returns the paths of a set's files, or an error that wraps ErrMissing and says
// how to get them.
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

func (s Store) find(set Set) (location, error) {
	for _, root := range s.Roots {
		for _, form := range set.Forms {
			p := location{root, form}
			switch lacks, err := p.lacks(); {
			case err != nil:
				return p, fmt.Errorf("looking for %s: %w; check its permissions, or set %s to another folder", set.Name, err, Variable)
			case len(lacks) == 0:
				return p, nil
			}
		}
	}
	return location{}, s.missing(set)
}

// lacks returns the names of missing files.
func (p location) lacks() ([]string, error) {
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

// absent reports whether an error means that a path does not exist, or that a file is in
// the place of a folder.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// Lacks returns a folder that holds some but not all files of a set, with the names of
// the missing ones; nothing if there is no such folder.
func (s Store) Lacks(set Set) (root string, names []string) {
	for _, root := range s.Roots {
		for _, form := range set.Forms {
			p := location{root, form}
			if lacks, err := p.lacks(); err == nil && len(lacks) > 0 && len(lacks) < len(form.Files) {
				return root, lacks
			}
		}
	}
	return "", nil
}

// missing returns an error that says where a set was looked for, and how to get it.
func (s Store) missing(set Set) error {
	var roots []string
	for _, root := range s.Roots {
		switch info, err := os.Stat(root); {
		case err != nil && absent(err) && root != s.Cache:
			root += " (no such folder)"
		case err == nil && !info.IsDir():
			root += " (not a folder)"
		}
		roots = append(roots, root)
	}
	places := strings.Join(roots, " and ")
	if places == "" {
		places = "no folder: set " + Variable
	}
	next := fmt.Sprintf("it has no download; prepare %s from %s and put them there (docs/datasets.md describes the files)",
		strings.Join(set.names(0), ", "), set.Home)
	if _, ok := set.Download(); ok {
		next = "'grfgp-lab dataset fetch " + set.Name + "' downloads it"
	}
	if root, lacks := s.Lacks(set); len(lacks) > 0 {
		places += fmt.Sprintf("; %s lacks %s", root, strings.Join(lacks, ", "))
	}
	return fmt.Errorf("%w: %s; looked in %s; %s", ErrMissing, set.Name, places, next)
}

// names returns the file names of a form, the first with its folder.
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

// Graph returns the graph of a set. Nodes are numbered by increasing id, so that all
// forms of a set give the same graph; Cora is numbered as in the paper's code.
func (s Store) Graph(ctx context.Context, set Set) (*graph.Graph, error) {
	p, err := s.find(set)
	if err != nil {
		return nil, err
	}
	return set.load(ctx, p)
}

// Has reports whether all files of the named set are on this machine.
func (s Store) Has(name string) bool {
	set, err := Named(name)
	if err != nil {
		return false
	}
	_, err = s.find(set)
	return err == nil
}
