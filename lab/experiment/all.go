package experiment

// All returns the experiments in the order of the paper.
func All() []*Experiment {
	return []*Experiment{scaling(), ablation(), traffic(), wind(), bayesOptimisation(), cora(), theory()}
}

// Named returns the experiment of a name, nil if there is none.
func Named(name string) *Experiment {
	for _, e := range All() {
		if e.Name == name {
			return e
		}
	}
	return nil
}
