package main

import (
	"bufio"
	"fmt"
	"os"
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
func freeMemory() size {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) >= 2 && fields[0] == "MemAvailable:" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0
			}
			return size(kib << 10)
		}
	}
	return 0
}
