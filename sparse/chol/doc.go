// Package chol factors sparse symmetric positive definite matrices, such as the precision Q = (κ²I + L)^ν of a process on a
// graph: exact solutions, log-determinants, variances and draws for any number of nodes, where the graph allows.
//
//	a, err := chol.Analyze(q)    // once per pattern: an order of elimination, its cost
//	f, err := a.Factor(ctx, q)   // for every matrix of the pattern
//	f.Solve(x, b); f.LogDet(); f.InverseDiag(ctx); f.SolveUpper(draw, z); f.Update(nodes, x)
//
// # Elimination
//
// With a permutation P, P·Q·Pᵀ = L·Lᵀ for one lower triangle L of positive diagonal. To eliminate node j is to take column j
// of L out of what is left,
//
//	⎡ d  cᵀ ⎤    l = √d,  column = c/l,  left = S − column·columnᵀ,
//	⎣ c  S  ⎦
//
// which joins all neighbours of j: entries that Q has not, the fill. The order decides how many. A separator is a set of nodes
// without which the rest falls into two sides; eliminated after both, it leaves them apart. Cut again and again (nested
// dissection), a graph that lies in a plane fills O(n log n) entries in O(n³ᐟ²) operations, a tree none. A mesh in space fills
// O(n⁴ᐟ³), a graph without small separators nearly all: Entries and Flops say so before there is any number.
//
// The parent of column j is the row of its first entry below the diagonal. This elimination tree is all dependence there is:
// columns of different branches do not know of each other. Row i of L is a subtree, column j is a part of the path from j to
// the root.
//
// # Supernodes
//
// Neighbouring columns with the same rows are one dense trapezoid, a supernode; small ones are joined at the price of some zeros,
// of which Entries knows. A front is the dense matrix of a supernode: its columns of Q, plus what its children have left,
//
//	⎡ F11  ·  ⎤    F11 = L11·L11ᵀ,  L21 = F21·L11⁻ᵀ,  F22 − L21·L21ᵀ is left for the parent (multifrontal).
//	⎣ F21 F22 ⎦
//
// Nearly all operations are products of dense blocks. Subtrees go to different processors; fronts above them are shared by all.
// Every front sums over its children in their order, so results are the same bytes at any number of threads.
//
// # What follows from L
//
//	log det Q = 2 Σ log Lⱼⱼ        Q⁻¹b = Pᵀ·L⁻ᵀ·L⁻¹·P·b        cov(Pᵀ·L⁻ᵀ·z) = Q⁻¹ for z of independent N(0, 1)
//
// The root C = PᵀLP of Q = C·Cᵀ, which SolveLower and SolveUpper invert, speaks of nodes as the caller numbers them.
//
// Variances are the diagonal of Z = Q⁻¹. From LᵀZ = L⁻¹, of which only the diagonal blocks are needed, a supernode follows from
// those above it (Takahashi's recursion), since Z22, at the rows of L21, is within the front of its parent:
//
//	Y = L21·L11⁻¹,  Z21 = −Z22·Y,  Z11 = L11⁻ᵀ·L11⁻¹ − Yᵀ·Z21.
//
// All elements at entries of Q come with it, which is what derivatives ∂ log det Q = tr(Z·∂Q) take.
//
// Q ± x·xᵀ changes the columns on the path from the first node of x to the root, by one rotation each. With p = L⁻¹x and
// αⱼ = 1 ± p₁² ± … ± pⱼ², Lⱼⱼ² becomes Lⱼⱼ²·αⱼ/αⱼ₋₁: whether a downdate leaves a factor is known before anything is changed.
//
// # Rounding
//
// The relative error of a solution is some 10⁻¹⁶ times the condition of Q, 1 + λ/κ² for ν = 1 with the largest eigenvalue λ of L,
// to the power of ν. A very long reach loses digits at ν = 2 or 3: two solves with κ²I + L then keep more than one with its square.
//
// # Memory
//
// Indices are int32, values float64. A factor takes 8 bytes for every entry and some, 9.3 in all at 10⁶ nodes of a grid, and the
// work beside it what Bytes says.
package chol
