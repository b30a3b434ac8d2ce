package main

import "grfgp/internal/cli"

// Short names of what nearly every test uses.
type Streams = cli.Streams

const (
	exitOK          = cli.ExitOK
	exitInternal    = cli.ExitInternal
	exitUsage       = cli.ExitUsage
	exitBadData     = cli.ExitBadData
	exitNotFitted   = cli.ExitNotFitted
	exitHeld        = cli.ExitHeld
	exitConflict    = cli.ExitConflict
	exitUnreachable = cli.ExitUnreachable
	exitNothing     = cli.ExitNothing
	exitTooLarge    = cli.ExitTooLarge
	exitInterrupted = cli.ExitInterrupted
)
