package graphio

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// WriteFile writes a file all or nothing: write fills a file of another name in
// the same folder, which takes the wanted name only when it is safely on disk.
// When write fails nothing is left behind, and what was at path stays.
//
// What is at path and not a plain file (a device, a pipe) is written directly.
func WriteFile(path string, write func(io.Writer) error) error {
	mode := os.FileMode(0)
	if info, err := os.Stat(path); err == nil {
		switch {
		case info.IsDir():
			return &Error{Code: CodeFile, File: path, What: "is a directory", Remedies: []Remedy{do("name a file in it")}}
		case !info.Mode().IsRegular():
			return writeDirectly(path, write)
		}
		// Through a symbolic link, its target is replaced and the link stays.
		target, err := filepath.EvalSymlinks(path)
		if err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
		path, mode = target, info.Mode()
	}
	f, err := createBeside(path)
	if err != nil {
		return &Error{Code: CodeFile, File: path, What: "cannot be written: " + reason(err), Remedies: []Remedy{do("check the folder and its permissions")}, Err: err}
	}
	unfinished.Store(f.Name(), nil)
	defer unfinished.Delete(f.Name())
	done := false
	defer func() {
		if !done { // also when write panics
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := fill(f, write); err != nil {
		return err
	}
	if mode != 0 { // as private as what it replaces
		if err := f.Chmod(mode); err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	done = true
	syncFolder(filepath.Dir(path))
	return nil
}

// unfinished are the names of the files that WriteFile is filling.
var unfinished sync.Map

// RemoveUnfinished removes the files that calls of WriteFile are filling, which
// then fail. It is for programs that end without waiting for those calls.
func RemoveUnfinished() {
	unfinished.Range(func(name, _ any) bool {
		_ = os.Remove(name.(string)) // gone is what it should be
		return true
	})
}

// createBeside creates a new file next to path, with the permissions that a
// newly created file has for this user.
func createBeside(path string) (*os.File, error) {
	for try := 0; ; try++ {
		name := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+strconv.Itoa(os.Getpid())+"."+strconv.Itoa(try)+".tmp")
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, os.ErrExist) || try >= 1000 {
			return f, err
		}
	}
}

func fill(f *os.File, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("writing %s: %w", f.Name(), err)
	}
	return nil
}

func writeDirectly(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return &Error{Code: CodeFile, File: path, What: "cannot be written: " + reason(err), Remedies: []Remedy{do("check the permissions")}, Err: err}
	}
	if err := fill(f, write); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// syncFolder makes a rename last through a power cut, where the system can: a
// folder that cannot be opened or synced is no reason to fail.
func syncFolder(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		f.Close()
	}
}
