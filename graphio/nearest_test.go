package graphio

import "testing"

func TestNearestNeighbours(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, joined string }{
		{"on the globe", "id,lat,lon\nwest,0,179\neast,0,-179\nfar,0,170\n", "west-east west-far"},
		{"in the plane", "id,x,y\na,0,0\nb,0,1\nc,0,3\n", "a-b b-c"},
		{"globe before plane", "id,x,y,lat,lon\na,0,0,0,0\nb,0,1,0,50\nc,0,3,0,20\n", "a-c b-c"},
	} {
		nodes, err := readNodes(c.text, Options{})
		if err != nil {
			t.Fatal(err)
		}
		net, err := NearestNeighbours(nodes, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := edgesOf(net); got != c.joined {
			t.Errorf("%s: %s, want %s", c.name, got, c.joined)
		}
		if net.Nodes == nil || net.Nodes.IDs.At(0) != net.Graph.IDs().At(0) {
			t.Errorf("%s: the table does not follow the graph", c.name)
		}
	}
	for _, c := range []struct {
		name, text string
		k          int
		kind       error
		want       string
	}{
		{"no coordinates", "id,cost\na,1\nb,2\n", 1, ErrUsage,
			`n: there are no columns lat and lon, or x and y; name them with Options.Columns["lat"] and Options.Columns["lon"]`},
		{"too many", "id,x,y\na,0,0\nb,1,1\nc,2,2\n", 3, ErrUsage,
			"n: it has 3 nodes, too few for 3 nearest neighbours of each; give a number from 1 to 2"},
		{"a gap", "id,x,y\na,0,0\nb,,\n", 1, ErrData, `n: node "b" has no coordinates; give them, or leave the node out`},
	} {
		nodes, err := readNodes(c.text, Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = NearestNeighbours(nodes, c.k)
		checkError(t, err, c.kind, c.want)
	}
}
