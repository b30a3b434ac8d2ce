package harmonic

// strong is how large a weight has to be beside the largest of a node for the two
// to be joined.
const strong = 0.25

// pairs joins every node to the free neighbour of the largest weight. One that has
// no free neighbour, or weak ones only, joins the pair of its strongest neighbour.
func (n *network) pairs() (member []uint32, count int) {
	size := len(n.ground)
	const free = ^uint32(0)
	member = make([]uint32, size)
	for i := range member {
		member[i] = free
	}
	for i := range size {
		if member[i] != free {
			continue
		}
		best, most := -1, 0.0
		strongest, all := -1, 0.0
		to, weight := n.row(i)
		for k, j := range to {
			if member[j] == free && weight[k] > most {
				best, most = int(j), weight[k]
			}
			if weight[k] > all {
				strongest, all = int(j), weight[k]
			}
		}
		switch {
		case best >= 0 && most >= strong*all:
			member[i], member[best] = uint32(count), uint32(count)
			count++
		case strongest >= 0:
			member[i] = member[strongest]
		default:
			member[i] = uint32(count)
			count++
		}
	}
	return member, count
}

// joined returns the network of aggregates: weights and grounds add up.
func (n *network) joined(member []uint32, count int) *network {
	first := make([]int, count+1) // nodes by aggregate
	for _, m := range member {
		first[m+1]++
	}
	for m := range count {
		first[m+1] += first[m]
	}
	nodes, next := make([]int, len(member)), append([]int(nil), first...)
	for i, m := range member {
		nodes[next[m]] = i
		next[m]++
	}
	out := &network{from: make([]int, 1, count+1), ground: make([]float64, count)}
	mark := make([]int, count) // 1 + where an edge to an aggregate is, if it is of this row
	for m := range count {
		start := len(out.to)
		for _, i := range nodes[first[m]:first[m+1]] {
			out.ground[m] += n.ground[i]
			to, weight := n.row(i)
			for k, j := range to {
				other := member[j]
				if int(other) == m {
					continue
				}
				if p := mark[other] - 1; p >= start {
					out.weight[p] += weight[k]
					continue
				}
				out.to, out.weight = append(out.to, other), append(out.weight, weight[k])
				mark[other] = len(out.to)
			}
		}
		out.from = append(out.from, len(out.to))
	}
	return out
}
