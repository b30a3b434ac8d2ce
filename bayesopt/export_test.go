package bayesopt

// WithPool compares the given number of candidates at a time, over all nodes.
func WithPool(pool int) VarianceReduction { return VarianceReduction{pool: pool} }
