package crossval

import (
	"context"

	"grfgp/gp"
	"grfgp/graph"
)

// SameNodeRows is the baseline SameNode at test rows.
func SameNodeRows(ctx context.Context, g *graph.Graph, times []float64, train, test gp.Data) ([]float64, error) {
	return Options{times: times}.predictRows(ctx, SameNode, &Inputs{Graph: g}, train, test)
}
