//go:build !gpu || !linux

package gpu

import "fmt"

// openDriver says that the program has no driver.
func openDriver() (driver, string, error) {
	return nil, "", fmt.Errorf("%w: this program was built without support for graphics cards; build it with -tags gpu on Linux", ErrNone)
}
