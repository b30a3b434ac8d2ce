//go:build !race

package grfgp_test

const raced = false
