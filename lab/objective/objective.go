// Package objective generates the synthetic tasks of the paper: a graph, a function on its
// nodes, and a fixed table of noisy values that is searched or learned. They agree with the
// authors' tasks to twelve digits, so results are directly comparable.
package objective

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/stat"

	"grfgp/graph"
	"grfgp/lab/randomstate"
)

// ErrInvalid is wrapped by every error that rejects a task.
var ErrInvalid = errors.New("no such task")

// Task is a function on the nodes of a graph with one noisy measurement at every node.
// Truth, Table and NoiseSD have the same unit.
type Task struct {
	Name    string
	Graph   *graph.Graph
	Truth   []float64 // the function
	Table   []float64 // the function with noise
	NoiseSD float64   // standard deviation of Table − Truth
}

const (
	paperSeed = 42
	noiseSD   = 0.1 // of every task before scaling
)

// newTask adds noise to y, in the order of the nodes, and scales both such that the table
// has mean 0 and population standard deviation 1. It takes ownership of y.
func newTask(name string, g *graph.Graph, y []float64, r *randomstate.State) *Task {
	table := make([]float64, len(y))
	for i := range y {
		table[i] = y[i] + noiseSD*r.Normal()
	}
	mean, sd := stat.PopMeanStdDev(table, nil)
	for i := range y {
		y[i] = (y[i] - mean) / sd
		table[i] = (table[i] - mean) / sd
	}
	return &Task{Name: name, Graph: g, Truth: y, Table: table, NoiseSD: noiseSD / sd}
}

// failed names the task that could not be generated.
func failed(name string, err error) error { return fmt.Errorf("making %s: %w", name, err) }
