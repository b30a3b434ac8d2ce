//go:build race

package grfgp_test

// raced says that the race detector is on: experiments on real data would take
// many minutes and find nothing that smaller tests do not.
const raced = true
