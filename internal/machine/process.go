package machine

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

// Process is what the system says of this process.
type Process struct {
	CPU               time.Duration // used so far
	Resident, Virtual int64         // bytes of memory
	Files, MostFiles  int64         // open file descriptors, and the most that may be open
}

// OfProcess returns what the system says of this process; false where it does not say it as Linux does.
func OfProcess() (Process, bool) { return process(os.DirFS("/"), os.Getpagesize()) }

func process(system fs.FS, page int) (p Process, ok bool) {
	stat, err := fs.ReadFile(system, "proc/self/stat")
	if err != nil {
		return p, false
	}
	// The name of the program, in brackets, may have blanks; fields are counted after it: man 5 proc.
	_, after, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	fields := strings.Fields(after)
	if len(fields) < 22 {
		return p, false
	}
	at := func(field int) int64 {
		n, _ := strconv.ParseInt(fields[field-3], 10, 64) // a wrong figure is 0
		return n
	}
	const tick = time.Second / 100 // of all kernels that Go runs on
	p.CPU = time.Duration(at(14)+at(15)) * tick
	p.Virtual, p.Resident = at(23), at(24)*int64(page)
	open, _ := fs.ReadDir(system, "proc/self/fd")
	p.Files = int64(len(open))
	limits, _ := fs.ReadFile(system, "proc/self/limits")
	for line := range strings.Lines(string(limits)) {
		if rest, found := strings.CutPrefix(line, "Max open files"); found {
			if words := strings.Fields(rest); len(words) > 0 {
				p.MostFiles, _ = strconv.ParseInt(words[0], 10, 64)
			}
		}
	}
	return p, true
}
