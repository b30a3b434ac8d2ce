package grfgp

import (
	"grfgp/gp"
	"grfgp/internal/ranks"
)

// Together is how long fits go on: on several processes, and after an interruption. The
// zero value is one process, and nothing is kept.
type Together struct {
	Ranks       *ranks.Group   // that fit the same models to the same data
	Checkpoints gp.Checkpoints // of iterative fits; nil: none
}

// FitTogether makes the fits that follow be those of several processes, or keep
// checkpoints. Models are the same to the bit. Several processes use no graphics card.
func (t *Trainer) FitTogether(how Together) { t.together = how }
