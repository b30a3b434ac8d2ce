package server

import (
	"context"
	"encoding/json"

	"grfgp/study"
)

// newEngine returns the engine of a study, which continues from its last checkpoint.
func (s *Server) newEngine(net *network, settings study.Settings) (study.Engine, error) {
	if s.opts.NewEngine != nil {
		return s.opts.NewEngine(net.Network, settings)
	}
	o, err := net.optimizer(settings)
	if err != nil {
		return nil, err
	}
	keeper := s.opts.Store.Checkpoints(settings.Name)
	if s.opts.ReadOnly {
		keeper = frozen{keeper}
	}
	o.KeepIn(keeper)
	return o, nil
}

// optimizer returns the engine of a study. Engines with the same Spec share walks and
// other costly parts of the model.
func (n *network) optimizer(settings study.Settings) (*study.Optimizer, error) {
	spec, err := json.Marshal(settings.Spec)
	if err != nil {
		return nil, err
	}
	n.making.Lock()
	defer n.making.Unlock()
	first := n.optimizers[string(spec)]
	if first == nil {
		if first, err = study.NewOptimizer(n.Graph, n.Nodes, settings); err != nil {
			return nil, err
		}
		if n.optimizers == nil {
			n.optimizers = map[string]*study.Optimizer{}
		}
		n.optimizers[string(spec)] = first
	}
	return first.Sibling(n.Nodes, settings)
}

// frozen is a Keeper of a server that changes nothing.
type frozen struct{ study.CheckpointStore }

// Save implements study.Keeper.
func (frozen) Save(context.Context, []byte) error { return nil }
