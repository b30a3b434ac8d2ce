package gpu

import (
	"os"
	"regexp"
	"strconv"
	"testing"
)

// TestConstants: constants that kernels.cu and Go both have are equal.
func TestConstants(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("kernels.cu")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"THREADS": threads, "LONG": longRow, "LANES": fewLanes, "FEW": fewColumns, "COLUMNS": maxColumns,
		"PROJECT_THREADS": projectThreads, "PROJECT_ROWS": projectRows, "PROJECT_LENGTHS": projectLengths, "STREAM_ROWS": streamRows} {
		found := regexp.MustCompile(`(?m)^#define ` + name + ` (\d+)$`).FindSubmatch(source)
		if found == nil {
			t.Errorf("kernels.cu has no %s", name)
			continue
		}
		if got, _ := strconv.Atoi(string(found[1])); got != want {
			t.Errorf("%s is %d in kernels.cu and %d in Go", name, got, want)
		}
	}
}
