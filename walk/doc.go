// Package walk turns a matrix W of a graph, such as the normalised adjacency
// D^-½AD^-½, into sparse random features by walking on it.
//
// # Features
//
// For every start node i and every length l ≤ L, random walkers estimate row i of
// the matrix power W^l. The estimates are sparse matrices Ψ_0 … Ψ_L with
//
//	E[Ψ_l] = W^l.
//
// A kernel with coefficients f_l combines them to Φ = Σ_l f_l Ψ_l, with one row of
// few entries per node. ΦΦᵀ estimates the covariance (Σ f_l W^l)² at a cost that is
// linear in the number of nodes; see package kernel.
//
// # Walkers
//
// A walker carries a load, its importance weight. At node i it steps to a
// neighbour j with probability p_ij and multiplies its load by W_ij/p_ij, so that
// the mean load at j after l steps from i is (W^l)_ij. Two samplers are unbiased:
//
//   - Repelling, the default, computes a row exactly while it has few entries, and
//     then shares the walkers of a node among its neighbours by systematic sampling,
//     so that they spread out.
//   - Independent is Algorithm 2 of the paper: independent walkers that halt with
//     probability p at every step.
//
// A row depends on W, the options and its own number alone: shards, threads and
// repeated runs give the same bits.
//
// # Error
//
// Pilot estimates the size of the features and their error ‖Φ − Σ f_l W^l‖ from a
// few rows, before the whole run. Tune finds the number of walkers that reaches a
// given error or fits into memory.
//
// # Options
//
// A zero in Options means zero, because zero is a valid number of hops and a valid
// halting probability: start from Default and change single fields. Only for
// Options.Hi, Options.Scale, Goal.Bytes and Goal.Rows does the zero value mean a
// default, which their comments give.
package walk
