// Package plain puts errors into words for people: without the names of packages,
// which mean nothing to those who type commands or send requests.
package plain

import (
	"errors"
	"reflect"
	"slices"
	"strings"
)

// packages are the names that errors of this module begin with.
var packages = strings.Fields("bayesopt bench dataset experiment gp graph graphio grfgp kernel objective server solve sparse store study walk")

// Words returns what err says. Names of packages are left out where an error, or
// one that it wraps, begins with one; text of users in between stays as it is.
func Words(err error) string {
	text, rest := "", err.Error()
	for _, inner := range wrapped(err) {
		if before, after, ok := strings.Cut(rest, inner.Error()); ok {
			text, rest = text+before+Words(inner), after
		}
	}
	text += rest
	if name, said, ok := strings.Cut(text, ": "); ok && slices.Contains(packages, name) && ordinary(err) {
		return said
	}
	return text
}

// Own marks an error whose words are for people: they may begin with the name of a
// user's file, called graph say, which is no package. What it wraps is as ever.
func Own(err error) error { return own{err} }

type own struct{ error }

func (o own) Unwrap() []error { return wrapped(o.error) }

// ordinary reports whether an error is one of errors.New or fmt.Errorf. Those of
// other types have words of their own.
func ordinary(err error) bool {
	t := reflect.TypeOf(err)
	return t.Kind() == reflect.Pointer && slices.Contains([]string{"errors", "fmt"}, t.Elem().PkgPath())
}

// wrapped returns what err wraps, in the order of its text.
func wrapped(err error) []error {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		return several.Unwrap()
	}
	if inner := errors.Unwrap(err); inner != nil {
		return []error{inner}
	}
	return nil
}
