package graphio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"grfgp/covariate"
	"grfgp/graph"
	"grfgp/graphio"
)

func readText(t testing.TB, edges, nodes string) *graphio.Network {
	t.Helper()
	ctx := context.Background()
	var opts graphio.Options
	if nodes != "" {
		n, err := graphio.ReadNodes(ctx, graphio.Reader("nodes", strings.NewReader(nodes)), opts)
		if err != nil {
			t.Fatal(err)
		}
		opts.Nodes = n
	}
	net, err := graphio.ReadGraph(ctx, graphio.Reader("edges", strings.NewReader(edges)), opts)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

func networks(t testing.TB) map[string]*graphio.Network {
	grid, err := graph.Grid(3, 4)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*graphio.Network{
		"grid":    {Graph: grid},
		"weights": readText(t, "source,target,weight\na,b,0.5\nb,c,1e-300\n\"a,b\",c,7\n", ""),
		"table": readText(t, "source,target\na,b\nb,c\n",
			"id,label,lat,lon,cost,allowed,group\nz,Zürich,47.4,8.5,2,yes,g\na,,1,2,,no,\nb,B,3,4,5,yes,h\n"),
		"covariates": readText(t, "source,target\na,b\nb,c\n",
			"id,region,height,kind,words,built,osm\nz,g,1.5,x,p;q,2001-05-01,1\na,,,x,q;r,,2\nb,h,3,,p;q,2001-05-03,3\n"),
	}
}

func TestCodec(t *testing.T) {
	t.Parallel()
	for name, net := range networks(t) {
		t.Run(name, func(t *testing.T) {
			encoded, err := graphio.Encode(net)
			if err != nil {
				t.Fatal(err)
			}
			back, err := graphio.Decode(encoded)
			if err != nil {
				t.Fatal(err)
			}
			if back.Graph.Hash() != net.Graph.Ordered().Hash() {
				t.Error("another graph came back")
			}
			again, err := graphio.Encode(back)
			if err != nil || !bytes.Equal(again, encoded) {
				t.Errorf("other bytes the second time: %v", err)
			}
			if net.Nodes != nil && (!reflect.DeepEqual(back.Nodes.Name, net.Nodes.Name) ||
				!reflect.DeepEqual(back.Nodes.Allowed, net.Nodes.Allowed) || !reflect.DeepEqual(back.Nodes.Group, net.Nodes.Group)) {
				t.Errorf("table %+v, want %+v", back.Nodes, net.Nodes)
			}
			if got, want := covariates(t, back), covariates(t, net); got != want {
				t.Errorf("covariates %s, want %s", got, want)
			}
			for cut := range encoded {
				if _, err := graphio.Decode(encoded[:cut]); !errors.Is(err, graphio.ErrData) {
					t.Fatalf("cut off after %d of %d bytes: %v", cut, len(encoded), err)
				}
			}
			if _, err := graphio.Decode(append(encoded, 0)); !errors.Is(err, graphio.ErrData) {
				t.Errorf("a byte too many: %v", err)
			}
		})
	}
}

// covariates are all covariates of a network, as text.
func covariates(t testing.TB, net *graphio.Network) string {
	columns := net.Nodes.Covariates()
	set, err := covariate.Encode(columns, net.Graph.Len(), covariate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%+v %x %q", columns, set.Hash(), set.Notes)
}

// The bytes of a network without covariates: ids of graphs in stores depend on them.
func TestCodecWithoutCovariates(t *testing.T) {
	t.Parallel()
	const encoded = "grfgp-network 1\n" + `{"nodes":2,"entries":2,"ones":true,"columns":["x"]}` + "\n" +
		"\x01\x00\x00\x00\x01\x00\x00\x00" + "\x01\x00\x00\x00\x00\x00\x00\x00" + "\x01\x00\x00\x00\x01\x00\x00\x00ab" +
		"\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x00\x40"
	net, err := graphio.Decode([]byte(encoded))
	if err != nil || net.Graph.Edges() != 1 || net.Nodes.X[net.Graph.InputOrder()[1]] != 2 {
		t.Fatal(net, err)
	}
	if again, err := graphio.Encode(net); err != nil || string(again) != encoded {
		t.Errorf("%q, %v", again, err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, net := range networks(f) {
		encoded, err := graphio.Encode(net)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(encoded)
	}
	f.Fuzz(func(t *testing.T, encoded []byte) {
		net, err := graphio.Decode(encoded)
		if err != nil {
			return
		}
		again, err := graphio.Encode(net)
		if err != nil {
			t.Fatal(err)
		}
		back, err := graphio.Decode(again)
		if err != nil || back.Graph.Hash() != net.Graph.Hash() || covariates(t, back) != covariates(t, net) {
			t.Fatalf("what was encoded again: %v", err)
		}
	})
}
