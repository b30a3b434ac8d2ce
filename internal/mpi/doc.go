// Package mpi connects the ranks of a run by MPI, the message-passing library that
// clusters have. It is empty unless the program is built with the tag mpi and a C
// compiler that knows MPI:
//
//	CC=mpicc CGO_ENABLED=1 go build -tags mpi ./cmd/grfgp
//
// Open MPI and MPICH both do.
package mpi
