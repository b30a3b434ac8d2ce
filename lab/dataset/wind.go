package dataset

import (
	"context"
	"fmt"
	"math"

	"grfgp/graph"
	"grfgp/graphio"
)

// Files of the wind set.
const (
	windEdges  = "wind_era5/grid_edges.csv.gz"
	windSpeeds = "wind_era5/era5_wind_2010-01_2.5deg.csv.gz"
	windTrack  = "wind_era5/aeolus_train_nodes.csv.gz"
)

// Levels are the pressure levels of the wind set in hPa, at altitudes of about 0.1, 2 and
// 5 km.
var Levels = [3]int{1000, 800, 500}

// Wind is the monthly mean wind on a global grid of 2.5 degrees, in rows of WindColumns
// nodes from the north pole to the south pole.
type Wind struct {
	Graph    *graph.Graph // edges to the neighbours north, south, east and west, of equal weight
	Lat, Lon []float64    // in degrees
	East     [3][]float64 // wind towards the east at each of Levels, in m/s
	North    [3][]float64
	Track    []int // nodes under the satellite track
	distance func(context.Context) (*graph.Graph, error)
}

// WindColumns is the number of nodes on a circle of latitude.
const WindColumns = 144

// Wind reads the wind and its grid.
func (s Store) Wind(ctx context.Context) (*Wind, error) {
	set, err := Named("wind")
	if err != nil {
		return nil, err
	}
	p, err := s.find(set)
	if err != nil {
		return nil, err
	}
	w := &Wind{distance: func(ctx context.Context) (*graph.Graph, error) {
		return readByID(ctx, graphio.File(p.path(windEdges)), graphio.Options{Weights: graphio.WeightsSimilarity})
	}}
	if w.Graph, err = set.load(ctx, p); err != nil {
		return nil, err
	}
	if err := w.read(p); err != nil {
		return nil, set.withRemedy(p, err)
	}
	return w, nil
}

// read reads wind and track.
func (w *Wind) read(p location) error {
	n := w.Graph.Len()
	w.Lat, w.Lon = make([]float64, n), make([]float64, n)
	for l := range Levels {
		w.East[l], w.North[l] = make([]float64, n), make([]float64, n)
	}
	if err := eachRow(p.path(windSpeeds), "node,lat,lon,u_1000hPa,v_1000hPa,u_800hPa,v_800hPa,u_500hPa,v_500hPa", func(cells []string) error {
		i, err := nodeBelow(cells[0], n)
		if err != nil {
			return err
		}
		return numbers(cells[1:], &w.Lat[i], &w.Lon[i], &w.East[0][i], &w.North[0][i], &w.East[1][i], &w.North[1][i], &w.East[2][i],
			&w.North[2][i])
	}); err != nil {
		return err
	}
	return eachRow(p.path(windTrack), "node", func(cells []string) error {
		i, err := nodeBelow(cells[0], n)
		w.Track = append(w.Track, i)
		return err
	})
}

func readWindGraph(ctx context.Context, p location) (*graph.Graph, error) {
	return readByID(ctx, graphio.File(p.path(windEdges)), graphio.Options{Weights: graphio.WeightsIgnore})
}

// Distances returns the grid with the weights of the paper's code: the weight of an edge
// is the distance of its nodes on the unit sphere, so nodes far apart count as more
// similar.
func (w *Wind) Distances(ctx context.Context) (*graph.Graph, error) { return w.distance(ctx) }

// Speed returns the wind speed at a level, in m/s.
func (w *Wind) Speed(level int) ([]float64, error) {
	for l, pressure := range Levels {
		if pressure == level {
			speed := make([]float64, len(w.Lat))
			for i := range speed {
				speed[i] = math.Hypot(w.East[l][i], w.North[l][i])
			}
			return speed, nil
		}
	}
	return nil, fmt.Errorf("%w: no wind at %d hPa; the levels are %v", ErrUnknown, level, Levels)
}

// Split returns the nodes under the track for training and all others for testing.
func (w *Wind) Split() (train, test []int) {
	under := make([]bool, len(w.Lat))
	for _, i := range w.Track {
		under[i] = true
	}
	for i, yes := range under {
		if yes {
			train = append(train, i)
		} else {
			test = append(test, i)
		}
	}
	return train, test
}
