//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakOf returns the peak resident memory of a process that has ended, in bytes.
func peakOf(p *os.ProcessState) float64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" { // in bytes; elsewhere in KiB
		return float64(usage.Maxrss)
	}
	return float64(usage.Maxrss) * 1024
}
