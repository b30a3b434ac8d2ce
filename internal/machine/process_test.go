package machine

import (
	"runtime"
	"testing"
	"testing/fstest"
	"time"
)

func TestProcess(t *testing.T) {
	t.Parallel()
	system := fstest.MapFS{
		"proc/self/stat": {Data: []byte("7 (a (b) c) S 1 7 7 0 -1 4194304 99 0 0 0 150 50 0 0 20 0 5 0 1000 4096000 250 184467 1 1\n")},
		"proc/self/fd/0": {}, "proc/self/fd/1": {}, "proc/self/fd/2": {},
		"proc/self/limits": {Data: []byte("Limit   Soft Limit  Hard Limit  Units\nMax open files    1024    4096    files\n")},
	}
	want := Process{CPU: 2 * time.Second, Resident: 250 * 4096, Virtual: 4096000, Files: 3, MostFiles: 1024}
	if got, ok := process(system, 4096); !ok || got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got, ok := process(fstest.MapFS{"proc/self/stat": {Data: []byte("7 (x) S 1")}}, 4096); ok {
		t.Errorf("a short file gives %+v", got)
	}
	if p, ok := OfProcess(); ok != (runtime.GOOS == "linux") || ok && (p.Resident < 1<<20 || p.Files < 3) {
		t.Errorf("this process: %+v, %t", p, ok)
	}
}
