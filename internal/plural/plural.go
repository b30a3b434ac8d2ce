// Package plural writes a number with its noun.
package plural

import (
	"fmt"
	"strings"
)

// Count returns a number and a noun that ends in s in the plural: "1 edge",
// "2 edges".
func Count(n int, plural string) string {
	if n == 1 {
		return "1 " + singular(plural)
	}
	return fmt.Sprintf("%d %s", n, plural)
}

func singular(plural string) string {
	if word, ok := strings.CutSuffix(plural, "sses"); ok {
		return word + "ss"
	}
	return strings.TrimSuffix(plural, "s")
}
