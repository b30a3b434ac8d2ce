package server

import (
	"math"
	"time"
)

// NoLimit, or any other negative number, switches a limit of Limits off.
const NoLimit = -1

// Limits bound the size and duration of requests and responses. A field that is
// zero has the default given beside it; a negative field means no limit.
type Limits struct {
	Body       int64         // bytes of a request body, decompressed (1 MiB)
	Graph      int64         // bytes of an uploaded graph or exported study, decompressed (1 GiB)
	Rows       int           // observations in one request (100,000)
	Page       int           // rows in one JSON response (1,000)
	Concurrent int           // requests answered at the same time, others than the following (256)
	Uploads    int           // graphs and archives that arrive at the same time (16)
	Downloads  int           // graphs and archives that are sent at the same time (64)
	Streams    int           // event streams open at the same time (256)
	Studies    int           // studies in memory; more only while they are in use (200)
	Keep       time.Duration // how long a study or graph that nobody uses stays in memory (15 min)
	MapNodes   int           // nodes drawn on a map; of more, so many are drawn (4,000,000)
	ModelTime  time.Duration // of one processor, that walks, projections or eigenvectors of a model may take by estimate (1 h)
	Patience   time.Duration // how long a request waits for background work before it is answered with 503 (10 s)
	BodyTime   time.Duration // for headers and body to arrive; an upload may take longer if it arrives at 64 KiB/s or more (10 s)
	IdleTime   time.Duration // between requests of a connection, and for a client to read 64 KiB of a response (1 min)
}

// DefaultLimits returns the defaults of [Limits], which suit the server of one
// team.
func DefaultLimits() Limits {
	return Limits{
		Body: 1 << 20, Graph: 1 << 30, Rows: 100_000, Page: 1000, Concurrent: 256, Uploads: 16, Downloads: 64, Streams: 256, Studies: 200,
		Keep: 15 * time.Minute, MapNodes: 4_000_000,
		ModelTime: time.Hour, Patience: 10 * time.Second, BodyTime: 10 * time.Second, IdleTime: time.Minute,
	}
}

// complete replaces zero fields by their defaults and negative ones by the
// largest number of their type.
func (l Limits) complete() Limits {
	d := DefaultLimits()
	return Limits{
		Body: limit(l.Body, d.Body, math.MaxInt64), Graph: limit(l.Graph, d.Graph, math.MaxInt64),
		Rows: limit(l.Rows, d.Rows, math.MaxInt), Page: limit(l.Page, d.Page, math.MaxInt),
		Concurrent: limit(l.Concurrent, d.Concurrent, math.MaxInt), Streams: limit(l.Streams, d.Streams, math.MaxInt),
		Uploads: limit(l.Uploads, d.Uploads, math.MaxInt), Downloads: limit(l.Downloads, d.Downloads, math.MaxInt),
		Studies: limit(l.Studies, d.Studies, math.MaxInt), Keep: limit(l.Keep, d.Keep, math.MaxInt64),
		MapNodes: limit(l.MapNodes, d.MapNodes, math.MaxInt), ModelTime: limit(l.ModelTime, d.ModelTime, math.MaxInt64),
		Patience: limit(l.Patience, d.Patience, math.MaxInt64),
		BodyTime: limit(l.BodyTime, d.BodyTime, math.MaxInt64), IdleTime: limit(l.IdleTime, d.IdleTime, math.MaxInt64),
	}
}

func limit[N int | int64 | time.Duration](given, otherwise, largest N) N {
	switch {
	case given == 0:
		return otherwise
	case given < 0:
		return largest
	}
	return given
}
