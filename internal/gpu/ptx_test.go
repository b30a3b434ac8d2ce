package gpu

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// readText returns a file of the package.
func readText(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// ptxEntries returns the sizes of the arguments of every kernel in a text of PTX.
func ptxEntries(ptx string) map[string][]int {
	entries := map[string][]int{}
	param := regexp.MustCompile(`\.param (?:\.align \d+ )?\.[a-z](\d+) \w+(?:\[(\d+)\])?`)
	for _, m := range regexp.MustCompile(`(?s)\.entry (\w+)\((.*?)\)`).FindAllStringSubmatch(ptx, -1) {
		entries[m[1]] = nil
		for _, p := range param.FindAllStringSubmatch(m[2], -1) {
			bits, _ := strconv.Atoi(p[1])
			count := 1
			if p[2] != "" {
				count, _ = strconv.Atoi(p[2])
			}
			entries[m[1]] = append(entries[m[1]], bits/8*count)
		}
	}
	return entries
}

// fits says how arguments differ from those that a kernel of these sizes takes.
func fits(kernel string, args *arguments, sizes []int) error {
	if len(args.starts) != len(sizes) {
		return fmt.Errorf("kernel %s takes %d arguments, not %d", kernel, len(sizes), len(args.starts))
	}
	at := 0
	for i, size := range sizes {
		align := min(size, 8)
		at = (at + align - 1) / align * align
		end := len(args.data)
		if i+1 < len(sizes) {
			end = args.starts[i+1]
		}
		// Up to seven bytes before the next argument may be a gap.
		if args.starts[i] != at || at+size > end || end-at-size >= 8 {
			return fmt.Errorf("argument %d of kernel %s has %d bytes at %d, not %d at %d", i, kernel, end-args.starts[i], args.starts[i], size, at)
		}
		at += size
	}
	return nil
}

// checked is a driver that compares the arguments of every launch with those in kernels.ptx.
type checked struct {
	driver
	entries map[string][]int

	mu       sync.Mutex // guards
	launched map[string]bool
}

// check returns a driver that is checked.
func check(t testing.TB, d driver) *checked {
	return &checked{driver: d, entries: ptxEntries(readText(t, "kernels.ptx")), launched: map[string]bool{}}
}

func (c *checked) launch(kernel string, groups, threads int, args *arguments) error {
	sizes, ok := c.entries[kernel]
	if !ok {
		return fmt.Errorf("there is no kernel %s in kernels.ptx", kernel)
	}
	if err := fits(kernel, args, sizes); err != nil {
		return err
	}
	c.mu.Lock()
	c.launched[kernel] = true
	c.mu.Unlock()
	return c.driver.launch(kernel, groups, threads, args)
}

// TestPTXSource checks that kernels.ptx was made from the sources as they are.
func TestPTXSource(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256([]byte(readText(t, "prelude.h") + readText(t, "kernels.cu")))
	if !strings.Contains(readText(t, "kernels.ptx"), fmt.Sprintf("\n// SHA-256 of prelude.h and kernels.cu: %x\n", sum)) {
		t.Error("kernels.ptx was made from other sources: run go generate in this folder")
	}
}

// TestPTXKernels checks that kernels.ptx has the kernels of kernels.cu, with as many arguments.
func TestPTXKernels(t *testing.T) {
	t.Parallel()
	entries := ptxEntries(readText(t, "kernels.ptx"))
	var names []string
	for _, m := range regexp.MustCompile(`(?s)extern "C" __global__ void (\w+)\((.*?)\)`).FindAllStringSubmatch(readText(t, "kernels.cu"),
		-1) {
		names = append(names, m[1])
		if want := strings.Count(m[2], ",") + 1; len(entries[m[1]]) != want {
			t.Errorf("kernel %s has %d arguments in kernels.ptx and %d in kernels.cu", m[1], len(entries[m[1]]), want)
		}
	}
	slices.Sort(names)
	if got := slices.Sorted(maps.Keys(entries)); len(names) == 0 || !slices.Equal(got, names) {
		t.Errorf("kernels.ptx has the kernels %q, and kernels.cu %q", got, names)
	}
}

// TestPTXRounds checks that products and sums are rounded one by one: without .rn, the driver
// may fuse them.
func TestPTXRounds(t *testing.T) {
	t.Parallel()
	ptx, rounded := readText(t, "kernels.ptx"), 0
	for _, op := range regexp.MustCompile(`\b(add|sub|mul|fma|mad|div|rcp|sqrt)\.[a-z0-9.]*f(32|64)\b`).FindAllString(ptx, -1) {
		if !strings.Contains(op, ".rn.") || strings.Contains(op, "ftz") || strings.HasPrefix(op, "fma") || strings.HasPrefix(op, "mad") {
			t.Fatalf("kernels.ptx has the instruction %s", op)
		}
		rounded++
	}
	if rounded < 100 {
		t.Errorf("kernels.ptx has %d operations: that cannot be all", rounded)
	}
}

func TestPTXTarget(t *testing.T) {
	t.Parallel()
	if ptx := readText(t, "kernels.ptx"); !strings.Contains(ptx, "\n.version 6.0\n.target sm_60\n.address_size 64\n") {
		t.Error("kernels.ptx is not for the oldest cards and drivers")
	}
}

// TestFits checks the comparison of arguments with kernels.
func TestFits(t *testing.T) {
	t.Parallel()
	entries := ptxEntries(".visible .entry f(\n\t.param .u64 f_param_0,\n\t.param .u32 f_param_1,\n\t.param .f64 f_param_2,\n\t.param " +
		".align 8 .b8 f_param_3[512]\n)\n{\n}\n.visible .entry g(\n\n)\n{}")
	if want := []int{8, 4, 8, 512}; !slices.Equal(entries["f"], want) || len(entries) != 2 || len(entries["g"]) != 0 {
		t.Fatalf("entries %v", entries)
	}
	for _, c := range []struct {
		args []any
		ok   bool
	}{
		{[]any{pointer(1), int32(2), 3.0, factors{}}, true},
		{[]any{int64(1), uint32(2), pointer(3), factors{}}, true},
		{[]any{pointer(1), int64(2), 3.0, factors{}}, true}, // a gap of four bytes follows the int32
		{[]any{pointer(1), int32(2), int32(3), factors{}}, false},
		{[]any{int32(1), int32(2), 3.0, factors{}}, false},
		{[]any{pointer(1), int32(2), 3.0}, false},
		{[]any{pointer(1), int32(2), 3.0, 4.0}, false},
		{[]any{pointer(1), int32(2), 3.0, factors{}, int32(1)}, false},
	} {
		if err := fits("f", pack(c.args...), entries["f"]); (err == nil) != c.ok {
			t.Errorf("arguments %T: %v", c.args, err)
		}
	}
}

// TestArgumentsLayout compares the layout with that of a struct of C.
func TestArgumentsLayout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args   []any
		starts []int
		size   int
	}{
		{nil, nil, 0},
		{[]any{pointer(1)}, []int{0}, 8},
		{[]any{int32(1), int32(2), pointer(3)}, []int{0, 4, 8}, 16},
		{[]any{int32(1), pointer(2), int32(3)}, []int{0, 8, 16}, 20},
		{[]any{uint32(1), float64(2), int32(3), int64(4)}, []int{0, 8, 16, 24}, 32},
		{[]any{int32(1), factors{}, int32(2), factors{}}, []int{0, 8, 520, 528}, 1040},
	} {
		a := pack(c.args...)
		if !slices.Equal(a.starts, c.starts) || len(a.data) != c.size {
			t.Errorf("%T: arguments begin at %v in %d bytes, want %v in %d", c.args, a.starts, len(a.data), c.starts, c.size)
		}
	}
}
