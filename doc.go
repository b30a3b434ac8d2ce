// Package grfgp fits Gaussian processes to measurements on the nodes of a graph and
// predicts all other nodes, with credible intervals. A [Spec] describes the model;
// [Fit] makes every choice that it leaves open, and the model gives the reasons.
//
// # The model
//
// A quantity f on the nodes has the prior f ~ N(m, K), and its measurements have
// independent noise of variance σ². The kernel K is a function of a graph Laplacian L =
// I − W and belongs to a parametric family:
//
//	diffusion     K = s² exp(−βL)
//	Matérn        K = s² (1 + κ²L/2ν)^−ν
//	free          K = ΦΦᵀ with Φ = Σ_l f_l W^l: one free coefficient f_l per walk length l
//	power series  K = s² Σ_r α_r W^r with given α_r
//
// [Fit] learns the hyperparameters by maximising the log marginal likelihood,
// compares families by it, and conditions the best model on the measurements. A
// kernel may also have many scales (a sum with kernels of longer reach), a linear
// trend in the log degree, or the same variance at every node (unit variance).
//
// Each family has several representations (Spec.Method). Small graphs use dense
// matrices and eigenvectors. Larger graphs use a series of products with W, which is
// exact, or random features from walks on the graph, which are fast. [Model.Limits]
// measures the Monte-Carlo error that the walks cause in predictions.
//
// # Use
//
//	net, err := graphio.ReadGraph(ctx, graphio.File("roads.csv"), graphio.Options{})
//	m, err := graphio.ReadMeasurements(ctx, graphio.File("speeds.csv"), net.Graph, graphio.Options{})
//	data, err := gp.DataOf(m)
//	model, err := grfgp.Fit(ctx, net.Graph, data, grfgp.Spec{})
//	p, err := model.Predict(ctx, net.Graph.Nodes()) // p.Mean[i] ± p.SD[i] at node i
//
// A node is a number from 0 to N−1, as in the graph. The graph should be in locality
// order, as the readers of package graphio return it; [graph.Graph.Ordered] puts any
// graph into that order.
//
// [Classify] predicts classes from labels. [NewOptimizer] suggests the nodes to measure
// next. A [Trainer] shares eigenvectors and features between many fits on one graph.
// [Model.Save] and [Load] keep a model in a file. Package crossval measures how well a
// model predicts held-out measurements, package replay compares acquisition policies on
// known values, and package report writes the results as an HTML page.
package grfgp
