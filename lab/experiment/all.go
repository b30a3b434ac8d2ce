package experiment

// All returns the experiments in the order of the paper.
func All() []*Experiment {
	return []*Experiment{scaling(), ablation(), traffic(), wind(), bayesOptimisation(), cora(), theory()}
}
