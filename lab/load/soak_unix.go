//go:build unix

package load

import (
	"os"
	"syscall"
)

// terminate asks a process to shut down.
func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

// suspend stops a process until resume.
func suspend(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }
func resume(p *os.Process) error  { return p.Signal(syscall.SIGCONT) }
