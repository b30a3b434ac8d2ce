package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"grfgp/graphio"
	"grfgp/internal/atomicfile"
	"grfgp/walk"
)

// Exit codes are part of the interface: scripts rely on them.
const (
	exitOK          = 0
	exitInternal    = 1
	exitUsage       = 2 // wrong flags, or input that can be read in two ways
	exitBadData     = 3
	exitNotFitted   = 4
	exitHeld        = 5 // another process is at work there
	exitConflict    = 6 // with what is known already
	exitUnreachable = 7 // a server that does not answer, or not this caller
	exitNothing     = 8 // left to suggest
	exitTooLarge    = 9 // does not fit this machine
	exitInterrupted = 130
)

// interrupted is the last word of a run that a signal ended.
const interrupted = "grfgp: interrupted; no file was left half written\n"

// exitError carries the exit code of an error that a verb returns.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

func tooLargef(format string, args ...any) error {
	return &exitError{exitTooLarge, fmt.Errorf(format, args...)}
}

func dataf(format string, args ...any) error {
	return &exitError{exitBadData, fmt.Errorf(format, args...)}
}

// unreadable says why the file of a flag cannot be read, and what to do.
func unreadable(flag, path string, err error, next string) error {
	var file *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return usagef("%s %s: there is no such file; %s", flag, path, next)
	case errors.As(err, &file):
		err = file.Err
	}
	return usagef("%s %s: %w; %s", flag, path, err, next)
}

// report prints err, if any, and returns the exit code.
func (a *app) report(ctx context.Context, err error) int {
	if err == nil {
		return exitOK
	}
	code := exitCode(ctx, err)
	if code == exitInterrupted {
		fmt.Fprint(a.Err, interrupted)
		return code
	}
	var file *fs.PathError
	if errors.As(err, &file) && file.Op == "write" {
		err = fmt.Errorf("what was asked for could not be written: %w; make room there, or name another place", file)
	}
	fmt.Fprintf(a.Err, "grfgp: %s\n", words(err))
	return code
}

func exitCode(ctx context.Context, err error) int {
	var coded *exitError
	var file *fs.PathError
	switch {
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &coded):
		return coded.code
	case errors.Is(err, graphio.ErrUsage):
		return exitUsage
	case errors.Is(err, graphio.ErrData):
		return exitBadData
	case errors.Is(err, walk.ErrOptions):
		return exitUsage
	case errors.Is(err, atomicfile.ErrPath), errors.As(err, &file): // the place of an output, not the program, is at fault
		return exitUsage
	}
	return exitInternal
}
