package dataset

import (
	"context"
	"fmt"
	"strconv"

	"grfgp/graph"
	"grfgp/graphio"
)

// Files of the traffic set.
const (
	trafficEdges     = "traffic_sanjose/road_edges.csv.gz"
	trafficNodes     = "traffic_sanjose/road_nodes.csv.gz"
	trafficSpeeds    = "traffic_sanjose/sensor_speeds.csv.gz"
	trafficSplits    = "traffic_sanjose/splits.csv.gz"
	trafficReference = "traffic_sanjose/reference_exact_diffusion.csv"
)

// Traffic is the freeway network of San Jose with speeds measured at some nodes. The
// weight of an edge is the mean length of edges divided by its length.
type Traffic struct {
	Graph     *graph.Graph
	Lat, Lon  []float64       // of every node, in degrees
	Speed     map[int]float64 // at nodes with a detector, in miles per hour
	Splits    []Split         // the paper's five
	Reference []TrafficReference
}

// Split is a set of training nodes and one of test nodes.
type Split struct {
	Seed        int // as in the paper
	Train, Test []int
}

// TrafficReference is a published result of the exact diffusion kernel
// σ_f² exp(−β L̃) with given hyperparameters, on speeds standardised by the training
// set.
type TrafficReference struct {
	Seed                  int
	Beta, Scale, NoiseVar float64 // β, σ_f, σ²
	LogLikelihood         float64
	RMSE                  float64 // in miles per hour
	JointNLPD, NLPD       float64 // joint density of all test values; mean over marginals
}

// Traffic reads the roads and their speeds.
func (s Store) Traffic(ctx context.Context) (*Traffic, error) {
	set, err := Named("traffic")
	if err != nil {
		return nil, err
	}
	p, err := s.find(set)
	if err != nil {
		return nil, err
	}
	t := &Traffic{Speed: map[int]float64{}}
	if t.Graph, err = set.load(ctx, p); err != nil {
		return nil, err
	}
	if err := t.read(p); err != nil {
		return nil, set.withRemedy(p, err)
	}
	return t, nil
}

// read reads coordinates, speeds, splits and references.
func (t *Traffic) read(p location) error {
	t.Lat, t.Lon = make([]float64, t.Graph.Len()), make([]float64, t.Graph.Len())
	if err := eachRow(p.path(trafficNodes), "node,lat,lon,osmid", func(cells []string) error {
		i, err := nodeBelow(cells[0], t.Graph.Len())
		if err != nil {
			return err
		}
		return numbers(cells[1:], &t.Lat[i], &t.Lon[i])
	}); err != nil {
		return err
	}
	if err := eachRow(p.path(trafficSpeeds), "node,sensor_id,speed_mph", func(cells []string) error {
		i, err := nodeBelow(cells[0], t.Graph.Len())
		if err != nil {
			return err
		}
		var speed float64
		err = numbers(cells[2:], &speed)
		t.Speed[i] = speed
		return err
	}); err != nil {
		return err
	}
	if err := t.readSplits(p.path(trafficSplits)); err != nil {
		return err
	}
	return t.readReference(p.path(trafficReference))
}

func readTrafficGraph(ctx context.Context, p location) (*graph.Graph, error) {
	return readByID(ctx, graphio.File(p.path(trafficEdges)), graphio.Options{})
}

func (t *Traffic) readSplits(file string) error {
	return eachRow(file, "seed,set,node", func(cells []string) error {
		seed, err := strconv.Atoi(cells[0])
		if err != nil {
			return err
		}
		i, err := nodeBelow(cells[2], t.Graph.Len())
		if err != nil {
			return err
		}
		if _, ok := t.Speed[i]; !ok {
			return fmt.Errorf("node %d has no detector", i)
		}
		if n := len(t.Splits); n == 0 || t.Splits[n-1].Seed != seed {
			t.Splits = append(t.Splits, Split{Seed: seed})
		}
		split := &t.Splits[len(t.Splits)-1]
		switch cells[1] {
		case "train":
			split.Train = append(split.Train, i)
		case "test":
			split.Test = append(split.Test, i)
		default:
			return fmt.Errorf("a node belongs to %q, want train or test", cells[1])
		}
		return nil
	})
}

func (t *Traffic) readReference(file string) error {
	return eachRow(file, "seed,beta,sigma_f,noise_variance,lml,rmse_mph,nlpd_joint_nats,nlpd_per_node_nats", func(cells []string) error {
		seed, err := strconv.Atoi(cells[0])
		if err != nil {
			return err
		}
		r := TrafficReference{Seed: seed}
		err = numbers(cells[1:], &r.Beta, &r.Scale, &r.NoiseVar, &r.LogLikelihood, &r.RMSE, &r.JointNLPD, &r.NLPD)
		t.Reference = append(t.Reference, r)
		return err
	})
}
