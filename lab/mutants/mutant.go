package mutants

import (
	"fmt"
	"path"
	"strings"
)

// mutant is one wrong change: a text that occurs exactly once in a file is replaced by
// another.
type mutant struct {
	file     string // from the root of the repository
	old, new string
	what     string // description of the error
}

// dir returns the package of the mutant.
func (m mutant) dir() string { return "./" + path.Dir(m.file) }

// tests returns a pattern of the tests to run, "" for all. The root package has many
// unrelated ones.
func (m mutant) tests() string {
	if m.dir() == "./." {
		return "^(TestHyperparametersCost)$"
	}
	return ""
}

// apply returns the source with the change.
func (m mutant) apply(source string) (string, error) {
	if m.old == m.new {
		return "", fmt.Errorf("%s: %q is replaced by itself", m.file, m.old)
	}
	if n := strings.Count(source, m.old); n != 1 {
		return "", fmt.Errorf("%s: %q occurs %d times, want once; the source has changed, so change the mutant", m.file, m.old, n)
	}
	return strings.Replace(source, m.old, m.new, 1), nil
}
