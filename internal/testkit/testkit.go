// Package testkit says how much of the tests runs, and where their data are.
//
// `go test ./...` is the quick suite: every rule, with one seed or one small case of what is
// studied over many. `GRFGP_FULL=1 go test ./...` is the full suite: calibration, coverage over many
// sets, whole searches, killed processes and real data. A study that takes minutes and makes a table or a
// picture of the documentation is in neither: `GRFGP_STUDY=1 go test -run TestCasesTable -v .`.
package testkit

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// IsFull says that the full suite runs.
func IsFull() bool { return os.Getenv("GRFGP_FULL") != "" }

// Full skips a test that only the full suite has.
func Full(t testing.TB) {
	t.Helper()
	if !IsFull() {
		t.Skip("part of the full suite: GRFGP_FULL=1 go test ./...")
	}
}

// IsStudy says that studies run, which are in neither suite.
func IsStudy() bool { return os.Getenv("GRFGP_STUDY") != "" }

// Study skips what takes minutes and makes tables or pictures of the documentation. Such studies are
// started by name, by whoever writes the documentation; they are in neither suite.
func Study(t testing.TB) {
	t.Helper()
	if !IsStudy() {
		t.Skip("a study for the documentation: GRFGP_STUDY=1 go test -run " + t.Name() + " -v")
	}
}

// Size returns how many seeds, sets or steps a study has: few in the quick suite, all in the full one.
func Size(quick, full int) int {
	if IsFull() {
		return full
	}
	return quick
}

// Unraced skips a test of numbers under the race detector, which makes it many times slower:
// smaller tests run the same code at once.
func Unraced(t testing.TB) {
	t.Helper()
	if Raced {
		t.Skip("a test of numbers: smaller ones run the same code under the race detector")
	}
}

// FewIfRaced returns cases, under the race detector only the first few: the others run the same code with other numbers.
func FewIfRaced[T any](few int, cases []T) []T {
	if Raced {
		return cases[:few:few] // what is appended leaves the others alone
	}
	return cases
}

// Data returns the path of a file or folder of the data sets, or skips the test. They are in
// the folder GRFGP_DATA, or in ../shared/datasets beside the repository.
func Data(t testing.TB, path string) string {
	t.Helper()
	file := filepath.Join(folder(), filepath.FromSlash(path))
	if _, err := os.Stat(file); err != nil {
		t.Skipf("the data set %s is not here; GRFGP_DATA names the folder of the data sets: %v", path, err)
	}
	return file
}

// HasData says that a file or folder of the data sets is here.
func HasData(path string) bool {
	_, err := os.Stat(filepath.Join(folder(), filepath.FromSlash(path)))
	return err == nil
}

func folder() string {
	if dir := os.Getenv("GRFGP_DATA"); dir != "" {
		return dir
	}
	return filepath.Join(root(), "..", "shared", "datasets")
}

// root is the folder of go.mod: tests run in the folder of their package.
func root() string {
	dir, err := os.Getwd()
	if err != nil {
		panic("testkit: no working directory: " + err.Error())
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at
		}
		if filepath.Dir(at) == at {
			_, file, _, _ := runtime.Caller(0) // a test that changed its folder
			return filepath.Join(filepath.Dir(file), "..", "..")
		}
	}
}
