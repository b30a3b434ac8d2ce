package machine

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// FreeMemory returns how many bytes of memory programs can still have: those of the
// machine and, on Linux, within the limits of this process's control groups. It is 0
// if the system does not say.
func FreeMemory() int64 { return freeMemory(os.DirFS("/")) }

func freeMemory(system fs.FS) int64 {
	free := int64(0)
	if kib, ok := field(system, "proc/meminfo", "MemAvailable:"); ok {
		free = kib << 10
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

// groupFiles names the files of a control group: its limit, its use, and the entry
// of memory.stat for pages that can be dropped.
type groupFiles struct{ limit, use, droppable string }

// room returns the bytes that a control group still allows.
func (g groupFiles) room(system fs.FS, dir string) (int64, bool) {
	limit, ok := field(system, path.Join(dir, g.limit), "")
	if !ok {
		return 0, false
	}
	used, _ := field(system, path.Join(dir, g.use), "")
	droppable, _ := field(system, path.Join(dir, "memory.stat"), g.droppable)
	return limit - max(0, used-droppable), true
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
