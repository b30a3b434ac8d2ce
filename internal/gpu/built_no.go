//go:build !gpu || !linux

package gpu

// Built reports whether the program was built to use graphics cards.
const Built = false
