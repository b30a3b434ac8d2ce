// Package grfgp fits Gaussian processes to measurements on the nodes of a graph and
// predicts all other nodes, with credible intervals. It chooses what a [Spec] leaves
// open, and gives the reasons with every model.
//
// # The model
//
// A quantity f on the nodes has the prior f ~ N(m, K), and measurements of it have
// independent noise of variance σ². K is a function of a graph Laplacian L = I − W, of a
// parametric family:
//
//	diffusion     K = s² exp(−βL)
//	Matérn        K = s² (1 + κ²L/2ν)^−ν
//	free          K = ΦΦᵀ with Φ = Σ_l f_l W^l: a coefficient for every length of walk
//	power series  K = s² Σ_r α_r W^r
//
// [Fit] compares families by marginal likelihood, learns the hyperparameters by
// maximising it, and conditions on the measurements. A kernel may have many scales
// (kernels of longer reach are added), a linear trend on the log degree of nodes, and
// unit variance.
//
// Each family has several representations (Spec.Method). On small graphs it is dense, by
// eigenvectors. On larger ones it is a series of products with W, which is exact, or
// random features from graph random walks, which are quick. [Model.Limits] measures how
// far predictions depend on the walks.
//
// # Use
//
//	net, err := graphio.ReadGraph(ctx, graphio.File("roads.csv"), graphio.Options{})
//	…
//	model, err := grfgp.Fit(ctx, net.Graph, data, grfgp.Spec{})
//	…
//	p, err := model.Predict(ctx, net.Graph.Nodes()) // p.Mean[i] ± p.SD[i] at node i
//
// Nodes are the numbers of the graph. Take a graph in locality order, as readers return
// it; graph.Graph.Ordered makes one.
//
// [Classify] predicts classes from labels. [NewOptimizer] suggests the nodes to measure
// next. A [Trainer] shares eigenvectors and features between many fits on one graph.
// [Model.Save] and [Load] keep a model in a file.
package grfgp
