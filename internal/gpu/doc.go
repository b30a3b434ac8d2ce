// Package gpu computes on a graphics card: it keeps blocks of vectors, sparse matrices and
// features in the memory of the card, and offers the few operations on them that solvers,
// kernels and posteriors need. Blocks are float64.
//
// The operations are kernels in CUDA C++ (kernels.cu), each of which has a twin in Go that
// defines it (twins.go). The build tag gpu adds the driver of NVIDIA cards, which is loaded
// when a program runs, without cgo; a program built without the tag has no card. Simulate
// returns a card that is none: it runs the twins, for tests.
//
// Operations are queued and return at once; those that return numbers wait. After a failure
// all further operations do nothing and numbers are NaN, until Err tells what happened: a
// computation asks once, at its end. Results have the same bits on every run on one card.
package gpu
