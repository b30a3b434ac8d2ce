package server

import (
	"cmp"
	"context"
	"encoding/json"

	"grfgp/study"
)

// newEngine returns the engine of a study, which continues from its last checkpoint.
func (s *Server) newEngine(net *network, settings study.Settings) (study.Engine, error) {
	if s.opts.NewEngine != nil {
		return s.opts.NewEngine(net.Network, settings)
	}
	e, err := net.engine(cmp.Or(s.opts.Device, "cpu"), settings)
	if err != nil {
		return nil, err
	}
	checkpoints := s.opts.Store.Checkpoints(settings.Name)
	if s.opts.ReadOnly {
		checkpoints = readOnlyCheckpoints{checkpoints}
	}
	e.UseCheckpoints(checkpoints)
	return e, nil
}

// engine returns an engine that shares random walks and other costly parts of the
// model with all engines of the same Spec and covariates on the graph. The server has one device.
func (n *network) engine(device string, settings study.Settings) (*study.ModelEngine, error) {
	spec, err := json.Marshal([]any{settings.Spec, settings.Covariates, settings.Labels})
	if err != nil {
		return nil, err
	}
	n.making.Lock()
	defer n.making.Unlock()
	first := n.engines[string(spec)]
	if first == nil {
		if first, err = study.NewModelEngineOn(device, n.Graph, n.Nodes, settings); err != nil {
			return nil, err
		}
		if n.engines == nil {
			n.engines = map[string]*study.ModelEngine{}
		}
		n.engines[string(spec)] = first
	}
	return first.Sibling(n.Nodes, settings)
}

// readOnlyCheckpoints does not save.
type readOnlyCheckpoints struct{ study.CheckpointStore }

// Save implements study.CheckpointStore.
func (readOnlyCheckpoints) Save(context.Context, []byte) error { return nil }
