//go:build !unix

package load

import "os"

// terminate kills a process: it cannot be asked to shut down here.
func terminate(p *os.Process) error { return p.Kill() }

// suspend does nothing: there are no such signals here.
func suspend(*os.Process) error { return nil }
func resume(*os.Process) error  { return nil }
