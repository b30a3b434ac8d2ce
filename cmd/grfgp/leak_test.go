package main

import (
	"runtime/debug"
	"testing"

	"grfgp/internal/testkit"
)

// Goroutines end with what started them. Many small runs make and drop much, which is collected less often here.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	testkit.NoLeaks(m)
}
