package main

import (
	"fmt"
	"io"

	"grfgp/internal/cli"
	"grfgp/lab/bench"
)

// printMultiscale compares kernels of one scale and of many; nil prints nothing.
func printMultiscale(w io.Writer, m *bench.Multiscale) {
	if m == nil {
		return
	}
	fmt.Fprintf(w, "\nmultiscale on rings\tscales\tfeatures s\ttraining s\tinference s\ttotal s\ttime ratio\tRMSE\t95 %% "+
		"coverage\tnoise\theap\n")
	for k, x := range m.Ring {
		ratio := ""
		if x.Scales == "many" {
			ratio = fmt.Sprintf("%.2f", x.Total()/m.Ring[k-1].Total())
		}
		fmt.Fprintf(w, "%d nodes, hops 0..%d, %d epochs\t%s\t%.2f\t%.2f\t%.2f\t%.2f\t%s\t%.4f\t%.3f\t%.4f\t%s\n", x.Nodes, x.Hops, x.Epochs,
			x.Scales, x.Features, x.Training, x.Inference, x.Total(), ratio, x.RMSE, x.Coverage, x.NoiseSD, cli.Size(x.Bytes))
	}
	fmt.Fprintf(w, "exponents, many scales (95 %%)\t\t\t\t\t%s\t\t\t\t\t%s\n", exponent(m.Time), exponent(m.Memory))

	i := m.Iterations
	fmt.Fprintf(w, "\niterations to a residual of %g\tmeasurements\tkernel's preconditioner\tdiagonal preconditioner\tits residual\n", i.Tol)
	fmt.Fprintf(w, "ring of %d nodes\t%d\t%d\t%d\t%.1g\n", i.Nodes, i.Measurements, i.Own, i.Jacobi, i.Residual)

	fmt.Fprintf(w, "\nfew measurements\tnodes\tmeasurements\tscales\tfit s\tpredict s\tRMSE\tR²\t95 %% coverage\tnoise (true)\theap\n")
	for _, x := range m.Tasks {
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%.2f\t%.2f\t%.4f\t%.4f\t%.3f\t%.4f (%.4f)\t%s\n", x.Task, x.Nodes, x.Train,
			x.Scales, x.Fit, x.Predict, x.RMSE, x.R2, x.Coverage, x.NoiseSD, x.TrueSD, cli.Size(x.Bytes))
	}
}

// exponent formats an exponent with its 95 % interval.
func exponent(e bench.Exponent) string {
	return fmt.Sprintf("%.3f (%.3f to %.3f)", e.Value, e.Lower, e.Upper)
}
