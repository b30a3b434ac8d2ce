package bench

import (
	"context"
	"runtime"
	"slices"

	"grfgp/internal/gpu"
	"grfgp/internal/machine"
)

// GPUOptions select and size the parts of RunGPU.
type GPUOptions struct {
	Device *gpu.Device
	Parts  []string // of GPUParts; none means all
	Quick  bool     // small graphs
	Alone  bool     // leave out the processor, which is measured beside the card otherwise
	Runs   int      // of each regression on the card; 0 means 3
	Seed   uint64
	// Predict makes the files of a job, runs the program on them, and has the answers compared.
	Predict func(ctx context.Context, job GridJob) (GridCost, error)
	// Stage is called when a part begins, and the function that it returns when it ends.
	Stage func(part string) (done func())
}

// GPUReport has what a graphics card computes in which time, and its host beside it.
type GPUReport struct {
	Version  int     `json:"version"`
	Card     string  `json:"card"`
	Note     string  `json:"note"` // driver and kernels
	Threads  int     `json:"threads"`
	CardCopy float64 `json:"card_copy_bytes_per_second"` // within the memory of the card, read and written bytes
	HostCopy float64 `json:"host_copy_bytes_per_second,omitempty"`

	Products []CardProduct `json:"products,omitempty"`
	Rings    []CardRing    `json:"rings,omitempty"`
	Thompson *CardSteps    `json:"thompson,omitempty"`
	Predict  *CardPredict  `json:"predict,omitempty"`

	// Published are times of the authors' library on such a machine, measured earlier and not in this run.
	Published []Published `json:"published"`

	MostBytes int64 `json:"most_bytes"` // in use at a time, of the card's memory
}

// Published is the scaling task by the authors' library on 16 cores and an H200, with hops 0 to 3.
type Published struct {
	Nodes     int     `json:"nodes"`
	Features  float64 `json:"features_seconds"`
	Training  float64 `json:"training_seconds"`
	Inference float64 `json:"inference_seconds"`
}

// Total is the time of features, training and inference, in seconds.
func (p Published) Total() float64 { return p.Features + p.Training + p.Inference }

// authorsOnH200 was measured before this program could use a card; see docs/performance.md.
var authorsOnH200 = []Published{{1 << 18, 33.7, 20.6, 0.33}, {1 << 20, 98.7, 85.2, 1.35}}

// publishedFor returns the published times of a ring; nil: there are none.
func publishedFor(nodes int) *Published {
	for _, p := range authorsOnH200 {
		if p.Nodes == nodes {
			return &p
		}
	}
	return nil
}

const (
	productsPart = "products"
	ringsPart    = "rings"
	thompsonPart = "thompson"
	predictPart  = "predict"
)

// GPUParts returns the parts of RunGPU.
func GPUParts() []string { return []string{productsPart, ringsPart, thompsonPart, predictPart} }

// RunGPU measures the card and, unless it is left out, the processor.
func RunGPU(ctx context.Context, o GPUOptions) (*GPUReport, error) {
	d := o.Device
	r := &GPUReport{Version: 1, Card: d.Name(), Note: d.Note(), Threads: runtime.GOMAXPROCS(0), Published: authorsOnH200}
	part := func(name string, do func() error) error {
		if len(o.Parts) > 0 && !slices.Contains(o.Parts, name) {
			return nil
		}
		defer o.Stage(name)()
		if err := do(); err != nil {
			return err
		}
		r.MostBytes = d.Most()
		d.Trim() // a child process needs the memory
		return d.Err()
	}
	var err error
	if r.CardCopy, err = o.copyRate(ctx); err != nil {
		return nil, err
	}
	if !o.Alone {
		host, err := machine.Bandwidth(ctx)
		if err != nil {
			return nil, err
		}
		r.HostCopy = host.Copy
	}
	if err := part(productsPart, func() (err error) { r.Products, err = cardProducts(ctx, o, r.CardCopy); return err }); err != nil {
		return nil, err
	}
	if err := part(ringsPart, func() (err error) { r.Rings, err = cardRings(ctx, o); return err }); err != nil {
		return nil, err
	}
	if err := part(thompsonPart, func() (err error) { r.Thompson, err = cardThompson(ctx, o); return err }); err != nil {
		return nil, err
	}
	if err := part(predictPart, func() (err error) { r.Predict, err = cardPredict(ctx, o); return err }); err != nil {
		return nil, err
	}
	return r, nil
}
