//go:build !purego

package parallel

// pause tells the processor that this is a loop that waits, for well under a microsecond.
//
//go:noescape
func pause()
