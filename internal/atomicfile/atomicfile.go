// Package atomicfile writes files all or nothing.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// ErrPath is wrapped by errors about a path at which no file can be written.
var ErrPath = errors.New("cannot be written")

// Write fills a temporary file in the folder of path and renames it to path once
// it is safely on disk. If write fails, the temporary file is removed and a file
// that was at path stays as it was. A device or a pipe at path is written directly.
func Write(path string, write func(io.Writer) error) error { return put(path, 0o666, write) }

// WritePrivate is Write for a file that only its owner may read: it has mode 0600, also
// where it replaces another.
func WritePrivate(path string, write func(io.Writer) error) error { return put(path, 0o600, write) }

// put writes a file. A new one has the permissions that the user's umask leaves of most.
func put(path string, most os.FileMode, write func(io.Writer) error) error {
	mode := os.FileMode(0)
	if info, err := os.Stat(path); err == nil {
		switch {
		case info.IsDir():
			return fmt.Errorf("%s %w: it is a directory; name a file in it", path, ErrPath)
		case !info.Mode().IsRegular():
			return writeDirectly(path, write)
		}
		// Through a symbolic link, its target is replaced and the link stays.
		target, err := filepath.EvalSymlinks(path)
		if err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
		path, mode = target, info.Mode()
		if most == 0o600 {
			mode = most
		}
	}
	f, err := createBeside(path, most)
	if err != nil {
		return unwritable(path, err, "check the folder and its permissions")
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
	if mode != 0 { // keep the permissions of the file that is replaced
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

// unwritable says why nothing can be written at path, and what to do.
func unwritable(path string, err error, next string) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("%s %w: %w; %s", path, ErrPath, err, next)
}

// unfinished are the names of the temporary files that Write is filling.
var unfinished sync.Map

// RemoveUnfinished removes the temporary files of calls of Write that are still
// running; these calls then fail. It is for a program that exits without waiting.
func RemoveUnfinished() {
	unfinished.Range(func(name, _ any) bool {
		_ = os.Remove(name.(string)) // the call may have finished meanwhile
		return true
	})
}

// createBeside creates a new file next to path, with the permissions that the user's
// umask leaves of most.
func createBeside(path string, most os.FileMode) (*os.File, error) {
	for try := 0; ; try++ {
		name := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+strconv.Itoa(os.Getpid())+"."+strconv.Itoa(try)+".tmp")
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, most)
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
		return unwritable(path, err, "check the permissions")
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

// syncFolder makes a rename survive a power cut where the system supports it; a
// folder that cannot be opened or synced is no reason to fail.
func syncFolder(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		f.Close()
	}
}
