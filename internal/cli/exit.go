package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"grfgp/graphio"
	"grfgp/internal/atomicfile"
	"grfgp/internal/gpu"
	"grfgp/internal/printable"
	"grfgp/walk"
)

// Exit codes are part of the interface: scripts rely on them.
const (
	ExitOK          = 0
	ExitInternal    = 1
	ExitUsage       = 2 // wrong flags, or ambiguous input
	ExitBadData     = 3
	ExitNotFitted   = 4
	ExitHeld        = 5 // the store is used by another process
	ExitConflict    = 6 // with the events of a study
	ExitUnreachable = 7 // no answer from the server or the database, or access denied
	ExitNothing     = 8 // no node left to suggest
	ExitTooLarge    = 9 // too large for this machine, or it lacks the graphics card that was asked for
	ExitInterrupted = 130
)

// ExitError carries the exit code of an error that a verb returns.
type ExitError struct {
	Code int
	Err  error
}

// Exit gives an error its exit code.
func Exit(code int, err error) error { return &ExitError{code, err} }

func (e *ExitError) Error() string { return e.Err.Error() }
func (e *ExitError) Unwrap() error { return e.Err }

// Usagef is an error of the command line.
func Usagef(format string, args ...any) error {
	return Exit(ExitUsage, fmt.Errorf(format, args...))
}

// TooLargef is an error of a task that is too large for the machine.
func TooLargef(format string, args ...any) error {
	return Exit(ExitTooLarge, fmt.Errorf(format, args...))
}

// Dataf is an error of the data in a file.
func Dataf(format string, args ...any) error {
	return Exit(ExitBadData, fmt.Errorf(format, args...))
}

// Unreadable says why the file of a flag cannot be read, and what to do.
func Unreadable(flag, path string, err error, next string) error {
	var file *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Usagef("%s %s: there is no such file; %s", flag, path, next)
	case errors.As(err, &file):
		err = file.Err
	}
	return Usagef("%s %s: %w; %s", flag, path, err, next)
}

// Report prints err, if any, and returns the exit code.
func (a *App) Report(ctx context.Context, err error) int {
	if err == nil {
		return ExitOK
	}
	code := ExitCode(ctx, err)
	if code == ExitInterrupted {
		fmt.Fprint(a.Err, a.Kept.interrupted(a.Name))
		return code
	}
	if IsCardError(err) {
		err = fmt.Errorf("%w; give --device auto to go on without it", err)
	}
	var file *fs.PathError
	if errors.As(err, &file) && file.Op == "write" {
		err = fmt.Errorf("the output could not be written: %w; free some space, or name another file", file)
	}
	fmt.Fprintf(a.Err, "%s: %s\n", a.Name, printable.Text(words(err)+a.swapped(ctx, err)))
	return code
}

// ExitCode returns the exit code of an error.
func ExitCode(ctx context.Context, err error) int {
	var coded *ExitError
	var file *fs.PathError
	switch {
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return ExitInterrupted
	case IsCardError(err):
		return ExitTooLarge
	case errors.As(err, &coded):
		return coded.Code
	case errors.Is(err, graphio.ErrUsage):
		return ExitUsage
	case errors.Is(err, graphio.ErrData):
		return ExitBadData
	case errors.Is(err, walk.ErrOptions):
		return ExitUsage
	case errors.Is(err, atomicfile.ErrPath), errors.As(err, &file): // of an output
		return ExitUsage
	}
	return ExitInternal
}

// IsCardError reports whether an error is about a graphics card that was asked for.
func IsCardError(err error) bool {
	return errors.Is(err, gpu.ErrNone) || errors.Is(err, gpu.ErrMemory) || errors.Is(err, gpu.ErrLost)
}
