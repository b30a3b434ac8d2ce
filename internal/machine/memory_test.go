package machine

import (
	"testing"
	"testing/fstest"
)

func TestFreeMemory(t *testing.T) {
	t.Parallel()
	const meminfo = "MemTotal: 4000 kB\nMemAvailable:   1000 kB\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"unknown system", nil, 0},
		{"no groups", map[string]string{"proc/meminfo": meminfo}, 1000 << 10},
		{"group without limit", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n",
		}, 1000 << 10},
		{"limit above what is free", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "999999999\n",
		}, 1000 << 10},
		{"limit, less what is used and cannot be dropped", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/box\n",
			"sys/fs/cgroup/box/memory.max": "5000\n", "sys/fs/cgroup/box/memory.current": "3000\n",
			"sys/fs/cgroup/box/memory.stat": "file 900\ninactive_file 700\n",
		}, 5000 - (3000 - 700)},
		{"limit of a group above", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/memory.max": "4000\n", "sys/fs/cgroup/a/memory.current": "1000\n", "sys/fs/cgroup/a/b/memory.max": "max\n",
		}, 3000},
		{"path from outside the container", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/far/away\n", "sys/fs/cgroup/memory.max": "4096\n",
		}, 4096},
		{"first version", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "3:cpu:/x\n2:hugetlb,memory:/x\n0::/\n",
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "8000\n", "sys/fs/cgroup/memory/x/memory.usage_in_bytes": "1000\n",
		}, 7000},
		{"nothing left", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "10\n", "sys/fs/cgroup/memory.current": "20\n",
		}, 1},
	} {
		system := fstest.MapFS{}
		for name, text := range c.files {
			system[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := freeMemory(system); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
