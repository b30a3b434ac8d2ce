package experiment

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"testing"

	"grfgp/internal/testkit"
)

// Every experiment lists the same parts every time, with names that are valid in files
// and settings that give keys, and explains its columns.
func TestAllAreInOrder(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range All() {
		if seen[e.Name] || !nameForm.MatchString(e.Name) || e.Title == "" || e.About == "" || e.Version < 1 {
			t.Errorf("%+v", e)
		}
		seen[e.Name] = true
		for _, c := range e.Columns {
			if c.Name == "" || c.About == "" {
				t.Errorf("%s: column %+v is not explained", e.Name, c)
			}
		}
		for _, took := range e.TimeColumns {
			if !slices.ContainsFunc(e.Columns, func(c Column) bool { return c.Name == took && c.Kind == Cost }) {
				t.Errorf("%s has no costs %q", e.Name, took)
			}
		}
		for _, o := range []Options{{Seed: 1}, {Seed: 1, Quick: true}, {Seed: 1, Seeds: 2}} {
			parts := e.Parts(o)
			if len(parts) == 0 {
				t.Errorf("%s: %+v leaves no parts", e.Name, o)
			}
			if !slices.Equal(keys(t, e, parts), keys(t, e, e.Parts(o))) {
				t.Errorf("%s: %+v gives other parts every time", e.Name, o)
			}
		}
		if slices.Equal(keys(t, e, e.Parts(Options{Seed: 1})), keys(t, e, e.Parts(Options{Seed: 2}))) {
			t.Errorf("%s: the seed is not in the settings", e.Name)
		}
	}
}

func keys(t *testing.T, e *Experiment, parts []Part) []string {
	t.Helper()
	var all []string
	seen := map[string]bool{}
	for _, c := range parts {
		name, _, err := e.key(c)
		if err != nil || seen[name] || !nameForm.MatchString(name) {
			t.Fatalf("%s: part %s: key %s, %v", e.Name, c.Name, name, err)
		}
		seen[name] = true
		all = append(all, name)
	}
	return all
}

// quickly runs the quick form of an experiment and shows it; in the quick suite only the parts
// for which short is true.
func quickly(t *testing.T, e *Experiment, short func(c Part) bool) (*Results, *Section) {
	t.Helper()
	o := Options{Quick: true, Seeds: 1, Seed: 1}
	if !testkit.IsFull() {
		whole := e.Parts
		e.Parts = func(o Options) []Part {
			return slices.DeleteFunc(whole(o), func(c Part) bool { return !short(c) })
		}
	}
	r, err := runAll(context.Background(), e, o, memory{}, Watch{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Show(o, r)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range s.Figures {
		if names[f.Name] || !nameForm.MatchString(f.Name) || f.Caption == "" || len(f.Picture.PNG(20)) == 0 {
			t.Errorf("figure %q", f.Name)
		}
		names[f.Name] = true
	}
	for _, table := range s.Tables {
		for _, row := range table.Rows {
			if len(row) != len(table.Head) {
				t.Errorf("%s: %d cells under %d heads", table.Title, len(row), len(table.Head))
			}
		}
	}
	if _, err := json.Marshal(s); err != nil {
		t.Error(err)
	}
	var out bytes.Buffer
	if err := e.WriteCSV(&out, r.Rows); err != nil || bytes.Count(out.Bytes(), []byte("\n")) != len(r.Rows)+1 {
		t.Errorf("CSV of %d rows: %v\n%s", len(r.Rows), err, out.String())
	}
	return r, s
}

// Experiments without results can be shown, without figures: neither empty axes nor the
// paper's curves alone.
func TestNothingCanBeShown(t *testing.T) {
	noData(t)
	for _, e := range All() {
		s, err := e.Show(Options{Seed: 1}, &Results{})
		if err != nil {
			t.Errorf("%s: %v", e.Name, err)
		} else if len(s.Figures) > 0 {
			t.Errorf("%s: a figure %s of nothing", e.Name, s.Figures[0].Name)
		}
	}
}
