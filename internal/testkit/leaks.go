package testkit

import (
	"fmt"
	"net/http"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// NoLeaks runs the tests of a package that starts servers, for its TestMain: they fail if goroutines
// outlive what started them. Idle connections of the default transport are nobody's leak, and closed first.
// One look waits for half a second: where a machine is busy, goroutines need more of them to end.
func NoLeaks(m *testing.M) {
	code := m.Run()
	if code == 0 {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		err := goleak.Find()
		for range 100 {
			if err == nil {
				break
			}
			err = goleak.Find()
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "goroutines are left: %v\n", err)
			code = 1
		}
	}
	os.Exit(code)
}
