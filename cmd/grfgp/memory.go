package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// size is a flag in bytes, written as 500M, 8GiB and the like.
type size int64

func (s *size) Type() string { return "SIZE" }

// String returns s in the largest unit of 1024s below it.
func (s size) String() string {
	v, unit := float64(s), 0
	for units := len(sizeUnits) - 1; v >= 1024 && unit < units; unit++ {
		v /= 1024
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", int64(s))
	}
	return fmt.Sprintf("%.3g %s", v, sizeUnits[unit])
}

var sizeUnits = []string{"B", "KiB", "MiB", "GiB", "TiB"}

// Set reads a number with an optional unit; all units are powers of 1024.
func (s *size) Set(text string) error {
	number := strings.TrimRight(text, "BKMGTibkmgt ")
	unit := strings.ToUpper(strings.TrimSpace(text[len(number):]))
	factor := 1.0
	if unit != "" && unit != "B" {
		at := strings.Index("KMGT", unit[:1])
		if rest := unit[1:]; at < 0 || rest != "" && rest != "B" && rest != "IB" {
			return fmt.Errorf("%q is no size; write it like 500M or 8GiB", text)
		}
		for range at + 1 {
			factor *= 1024
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0) || v*factor > 1<<60 {
		return fmt.Errorf("%q is no size; write it like 500M or 8GiB", text)
	}
	*s = size(v * factor)
	return nil
}

// freeMemory returns how much memory programs can still have, or 0 where the
// system does not say.
func freeMemory() size { return freeMemoryOf(os.DirFS("/")) }

// freeMemoryOf looks at the machine and, on a Linux that has them, at the limits
// of the control groups that this program is in.
func freeMemoryOf(system fs.FS) size {
	free := size(0)
	if kib, ok := field(system, "proc/meminfo", "MemAvailable:"); ok {
		free = size(kib << 10)
	}
	groups, _ := fs.ReadFile(system, "proc/self/cgroup") // none: no limits
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number:controllers:path
		if len(parts) < 3 {
			continue
		}
		root, files := "sys/fs/cgroup", groupFiles{"memory.max", "memory.current", "inactive_file"}
		if parts[1] != "" {
			if !slices.Contains(strings.Split(parts[1], ","), "memory") {
				continue
			}
			root, files = "sys/fs/cgroup/memory", groupFiles{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}
		}
		// A limit of any group above holds as well; within a container the path
		// may not be there, but the root is.
		for dir := path.Join(root, parts[2]); ; dir = path.Dir(dir) {
			if room, ok := files.room(system, dir); ok && (free == 0 || room < free) {
				free = max(1, room)
			}
			if dir == root || dir == "." {
				break
			}
		}
	}
	return free
}

// groupFiles are the names of the files of a control group: its limit, its use,
// and the entry of memory.stat for pages that can be dropped.
type groupFiles struct{ limit, use, droppable string }

// room returns what a control group leaves.
func (g groupFiles) room(system fs.FS, dir string) (size, bool) {
	limit, ok := field(system, path.Join(dir, g.limit), "")
	if !ok {
		return 0, false
	}
	used, _ := field(system, path.Join(dir, g.use), "")
	droppable, _ := field(system, path.Join(dir, "memory.stat"), g.droppable)
	return size(limit - max(0, used-droppable)), true
}

// field returns the number after a word that begins a line of a file, or the
// first one of the file if the word is empty.
func field(system fs.FS, name, word string) (int64, bool) {
	text, err := fs.ReadFile(system, name)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if word != "" {
			if len(fields) < 2 || fields[0] != word {
				continue
			}
			fields = fields[1:]
		}
		if len(fields) > 0 {
			n, err := strconv.ParseInt(fields[0], 10, 64) // "max" is none
			return n, err == nil
		}
	}
	return 0, false
}

// most is the memory that a run may take: the limit, or most of what is free if
// there is none; 0 where nobody knows.
func (s size) most() size {
	if s > 0 {
		return s
	}
	return freeMemory() / 10 * 8
}
