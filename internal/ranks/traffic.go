package ranks

import (
	"context"
	"time"
)

// Traffic is what a rank has sent and received so far.
type Traffic struct {
	Sent, Received int64   // bytes; what a rank gives to a Gather counts once for every other rank
	Messages       int64   // sent, empty ones apart
	Seconds        float64 // in exchanges, waiting for other ranks included
}

// Traffic returns what this rank has sent and received since the group was made. It is for the goroutine that
// uses the group.
func (g *Group) Traffic() Traffic {
	if g == nil {
		return Traffic{}
	}
	return g.traffic
}

// Since returns the traffic after an earlier count.
func (t Traffic) Since(before Traffic) Traffic {
	return Traffic{t.Sent - before.Sent, t.Received - before.Received, t.Messages - before.Messages, t.Seconds - before.Seconds}
}

// gather is that of the transport, counted.
func (g *Group) gather(ctx context.Context, buf []byte, lengths []int) error {
	start := time.Now()
	err := g.transport.Gather(ctx, buf, lengths)
	g.traffic.Seconds += time.Since(start).Seconds()
	others := int64(g.Size() - 1)
	own := int64(lengths[g.Rank()])
	g.traffic.Sent += own * others
	g.traffic.Received += int64(len(buf)) - own
	if own > 0 {
		g.traffic.Messages += others
	}
	return err
}

// exchange is that of the transport, counted.
func (g *Group) exchange(ctx context.Context, in, out [][]byte) error {
	start := time.Now()
	err := g.transport.Exchange(ctx, in, out)
	g.traffic.Seconds += time.Since(start).Seconds()
	for r := range out {
		g.traffic.Sent += int64(len(out[r]))
		g.traffic.Received += int64(len(in[r]))
		if len(out[r]) > 0 {
			g.traffic.Messages++
		}
	}
	return err
}
