package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"grfgp/internal/ranks"
)

// Plan is an experiment with the cached results of its parts.
type Plan struct {
	experiment *Experiment
	ranks      *ranks.Group
	cache      Cache
	parts      []Part
	results    []*Result // nil where the part must run
	listed     int       // parts that match the options, with those that cannot run
	skipped    []error   // one per missing data set
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// NewPlan loads the finished parts of an experiment from the cache and checks which of
// the others can run. It calls say, unless nil, about cached results that are damaged.
// It returns an error if no part is left.
func NewPlan(e *Experiment, opts Options, cache Cache, say func(format string, args ...any)) (*Plan, error) {
	p := &Plan{experiment: e, cache: cache, ranks: opts.Ranks}
	var names []string
	seen, without := map[string]bool{}, map[string]int{}
	for _, c := range e.Parts(opts) {
		if seen[c.Name] || !nameForm.MatchString(c.Name) {
			panic(fmt.Sprintf("experiment: %s: the name of part %q is a duplicate or not allowed", e.Name, c.Name))
		}
		seen[c.Name] = true
		names = append(names, c.Name)
		if opts.Only != nil && !opts.Only.MatchString(c.Name) {
			continue
		}
		r, err := p.load(c, say)
		if err != nil {
			return nil, err
		}
		if r == nil && c.Ready != nil {
			err = c.Ready()
		}
		if errors.Is(err, errSuperseded) {
			continue
		}
		p.listed++
		switch {
		case r == nil && opts.Finished:
		case errors.Is(err, ErrNoData):
			if without[err.Error()]++; without[err.Error()] == 1 {
				p.skipped = append(p.skipped, err)
			}
		case err != nil:
			return nil, err
		default:
			p.parts, p.results = append(p.parts, c), append(p.results, r)
		}
	}
	switch {
	case len(p.parts) > 0 || len(names) == 0:
	case p.listed == 0:
		return nil, fmt.Errorf("%w: no part of %s matches %s; its parts are %s", ErrNoPart, e.Name, opts.Only, some(names, 4))
	case opts.Finished:
		return nil, fmt.Errorf("%w of %s in this folder", ErrUnfinished, e.Name)
	default:
		return nil, p.skipped[0]
	}
	for k, why := range p.skipped {
		p.skipped[k] = fmt.Errorf("%d parts are skipped: %w", without[why.Error()], why)
	}
	return p, nil
}

// load returns the cached result of a part, nil if the part must run.
func (p *Plan) load(c Part, say func(string, ...any)) (*Result, error) {
	name, settings, err := p.experiment.key(c)
	if err != nil {
		return nil, err
	}
	data, err := p.cache.Load(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, p.experiment.failed(c, err)
	}
	r, err := p.experiment.decode(c, settings, data)
	if err != nil {
		if say != nil {
			say("%s: the cached result of %s is %v; it is computed again", p.experiment.Name, c.Name, err)
		}
		return nil, nil
	}
	return r, nil
}

// some lists the first few names and counts the others.
func some(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// cached counts the parts whose results were in the cache.
func (p *Plan) cached() int {
	n := 0
	for _, r := range p.results {
		if r != nil {
			n++
		}
	}
	return n
}

// Work is the expected time in seconds, on two cores, of the parts that must run.
func (p *Plan) Work() float64 {
	sum := 0.0
	for k, c := range p.parts {
		if p.results[k] == nil {
			sum += c.work()
		}
	}
	return sum
}

func (c Part) work() float64 {
	if c.Work > 0 {
		return c.Work
	}
	return 1
}
