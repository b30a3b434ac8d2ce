package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"grfgp/graphio"
	"grfgp/internal/atomicfile"
	"grfgp/internal/printable"
	"grfgp/walk"
)

// Exit codes are part of the interface: scripts rely on them.
const (
	exitOK          = 0
	exitInternal    = 1
	exitUsage       = 2 // wrong flags, or ambiguous input
	exitBadData     = 3
	exitNotFitted   = 4
	exitHeld        = 5 // the store is used by another process
	exitConflict    = 6 // with the events of a study
	exitUnreachable = 7 // no answer from the server or the database, or access denied
	exitNothing     = 8 // no node left to suggest
	exitTooLarge    = 9 // too large for this machine, or it lacks the graphics card that was asked for
	exitInterrupted = 130
)

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
		fmt.Fprint(a.Err, kept.interrupted())
		return code
	}
	if isCardError(err) {
		err = cardRemedy(err)
	}
	var file *fs.PathError
	if errors.As(err, &file) && file.Op == "write" {
		err = fmt.Errorf("the output could not be written: %w; free some space, or name another file", file)
	}
	fmt.Fprintf(a.Err, "grfgp: %s\n", printable.Text(words(err)+swappedWords(ctx, a.words(), err)))
	return code
}

func exitCode(ctx context.Context, err error) int {
	var coded *exitError
	var file *fs.PathError
	switch {
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitInterrupted
	case isCardError(err):
		return exitTooLarge
	case errors.As(err, &coded):
		return coded.code
	case errors.Is(err, graphio.ErrUsage):
		return exitUsage
	case errors.Is(err, graphio.ErrData):
		return exitBadData
	case errors.Is(err, walk.ErrOptions):
		return exitUsage
	case errors.Is(err, atomicfile.ErrPath), errors.As(err, &file): // of an output
		return exitUsage
	}
	return exitInternal
}
