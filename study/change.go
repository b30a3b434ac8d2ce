package study

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"grfgp"
)

// Merge returns the settings with some fields changed by a JSON merge patch (RFC 7396):
// {"budget": 40} sets the budget, {"budget": null} removes it. The error wraps ErrInvalid.
func (s Settings) Merge(patch []byte) (Settings, error) {
	if s.Spec.Roles == "" && !s.Spec.Terms.Has(grfgp.RoleTerm) {
		s.Spec.Roles = rolesNone // created before there were roles
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return s, err
	}
	whole, err := decodeJSON(raw)
	if err != nil {
		return s, err
	}
	change, err := decodeJSON(patch)
	if _, object := change.(map[string]any); err != nil || !object {
		return s, fmt.Errorf(`%w: a change of settings is a JSON object of the fields to change, as in {"budget": 40}`, ErrInvalid)
	}
	raw, err = json.Marshal(mergePatch(whole, change))
	if err != nil {
		return s, err
	}
	var merged Settings
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&merged); err != nil {
		return s, fmt.Errorf("%w: settings: %v", ErrInvalid, err)
	}
	if err := merged.keeps(s); err != nil {
		return s, err
	}
	return merged.Complete()
}

// keeps returns an error if the settings change what a study keeps.
func (s Settings) keeps(was Settings) error {
	switch {
	case s.Name != was.Name:
		return fmt.Errorf("%w: a study keeps its name, %q; export it and import it under another", ErrInvalid, was.Name)
	case s.Graph != was.Graph:
		return fmt.Errorf("%w: a study keeps its graph; create another study", ErrInvalid)
	}
	return nil
}

// decodeJSON decodes a text with its numbers as they are written.
func decodeJSON(text []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err = dec.Decode(&v); err == nil && dec.More() {
		err = fmt.Errorf("more than one value")
	}
	return v, err
}

// mergePatch applies a merge patch, as in RFC 7396.
func mergePatch(target, patch any) any {
	change, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	out, ok := target.(map[string]any)
	if !ok {
		out = map[string]any{}
	}
	for name, v := range change {
		if v == nil {
			delete(out, name)
		} else {
			out[name] = mergePatch(out[name], v)
		}
	}
	return out
}

// Change replaces the settings of a study; name and graph stay. Whether a model of them can
// be fitted on the graph is for the caller to check, as when a study is created. The
// measurements must fit the new settings. The old settings, was, are those that the new ones
// were made from: if others have changed them meanwhile, the error wraps ErrConflict. The same
// settings again change nothing.
func (s *Study) Change(ctx context.Context, was, to Settings, note, by string) (now Settings, err error) {
	if to, err = to.Complete(); err != nil {
		return to, err
	}
	err = s.commit(ctx, by, func(st *State) (Payload, error) {
		switch {
		case to.equal(st.Settings):
			return nil, nil
		case !was.equal(st.Settings):
			return nil, fmt.Errorf("%w: the settings were changed by another command meanwhile; try again", ErrConflict)
		}
		return Changed{to, note}, nil
	}, func(st *State) { now = st.Settings })
	return now, err
}

func (s *State) checkChanged(p Changed) error {
	to := p.Settings
	if err := to.check(); err != nil {
		return err
	}
	if err := to.keeps(s.Settings); err != nil {
		return err
	}
	for _, v := range s.Records {
		if v.Retracted {
			continue
		}
		if err := to.checkValue(v.Measurement); err != nil {
			return fmt.Errorf("%w: observation %d does not fit the new settings: %w", ErrConflict, v.Number, err)
		}
	}
	return checkText("a note", p.Note, MaxNote)
}

func (s *State) change(e Event, p Changed) {
	if !s.Settings.SameEngine(p.Settings) {
		s.modelAt, s.changedAt = e.Seq, e.Seq
	}
	s.Settings = p.Settings
	s.countClasses()
	s.findBest() // the goal may be another
	if !s.Settings.Repeats {
		s.Queue = slices.DeleteFunc(s.Queue, func(q QueuedNode) bool { return !s.available(q.Node) })
	}
}

// forEngine returns the settings without those that an Engine does not use.
func (s Settings) forEngine() Settings {
	s.Budget, s.Lease, s.Unit = nil, 0, ""
	return s
}

// SameEngine reports whether engines of both settings give the same answers.
func (s Settings) SameEngine(t Settings) bool { return s.forEngine().equal(t.forEngine()) }

// ModelSeq returns the number of the event with the settings of the model: those of the
// study, budget, lease and unit aside.
func (s *Study) ModelSeq() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state.modelAt
}
