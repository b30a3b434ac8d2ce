package cli

import (
	"fmt"
	"strconv"
	"strings"

	"grfgp/internal/machine"
)

// Size is a flag in bytes, written as 500M, 8GiB and the like.
type Size int64

func (s *Size) Type() string { return "SIZE" }

// String returns s in the largest unit of 1024s below it.
func (s Size) String() string {
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
func (s *Size) Set(text string) error {
	number := strings.TrimRight(text, "BKMGTibkmgt ")
	unit := strings.ToUpper(strings.TrimSpace(text[len(number):]))
	factor := 1.0
	if unit != "" && unit != "B" {
		at := strings.Index("KMGT", unit[:1])
		if rest := unit[1:]; at < 0 || rest != "" && rest != "B" && rest != "IB" {
			return fmt.Errorf("%q is not a size; write it as in 500M or 8GiB", text)
		}
		for range at + 1 {
			factor *= 1024
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0) || v*factor > 1<<60 {
		return fmt.Errorf("%q is not a size; write it as in 500M or 8GiB", text)
	}
	*s = Size(v * factor)
	return nil
}

// FreeMemory returns the memory that programs can still have, 0 if it is not known.
func FreeMemory() Size { return Size(machine.FreeMemory()) }

// Most is the memory that a run may take: the limit, or 80 % of the free memory if
// there is none; 0 if that is not known.
func (s Size) Most() Size {
	if s > 0 {
		return s
	}
	return FreeMemory() / 10 * 8
}
