package study_test

import (
	"testing"

	"grfgp/internal/testkit"
)

// Goroutines end with what started them.
func TestMain(m *testing.M) { testkit.NoLeaks(m) }
