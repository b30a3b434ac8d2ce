package main

import (
	"encoding/hex"
	"io"
	"strings"

	"grfgp/graph"
	"grfgp/internal/atomicfile"
	"grfgp/internal/mmap"
	"grfgp/walk"
)

// matrixName identifies the matrix of the walks in a file of features.
func matrixName(g *graph.Graph, normalization string) string {
	hash := g.Hash()
	return normalization + " " + hex.EncodeToString(hash[:])
}

// keep saves the features, with the name of their matrix.
func (a *app) keep(features *walk.Features, path string, g *graph.Graph, norm graph.Normalization) error {
	s := a.talk.Stage("writing features")
	err := atomicfile.Write(path, func(w io.Writer) error {
		_, err := features.Encode(w, matrixName(g, norm.String()))
		return err
	})
	if err == nil {
		s.Done("%s", path)
	}
	return err
}

// lookAt describes a file of features, which must be those of the graph.
func (a *app) lookAt(f *featuresFlags, g *graph.Graph, answer *featuresAnswer) error {
	s := a.talk.Stage("opening features")
	file, err := mmap.Open(f.from)
	if err != nil {
		return usagef("--from: %v", err)
	}
	defer file.Close()
	features, matrix, err := walk.Decode(file.Bytes())
	if err != nil {
		return dataf("%s: %w", f.from, err)
	}
	answer.Matrix, _, _ = strings.Cut(matrix, " ")
	answer.File = f.from
	if matrix != matrixName(g, answer.Matrix) {
		return dataf("%s has features of another graph; give the files and flags that they were sampled with", f.from)
	}
	s.Done("checksums are correct, and the features are those of this graph")
	return a.answerFeatures(f, g, features, answer)
}
