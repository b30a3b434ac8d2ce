package bayesopt

// NumberGroups converts the group name of every node to a number for
// Limits.Group. A node without a group name is a group of its own.
func NumberGroups(names []string) []int {
	numbers, groups, next := map[string]int{}, make([]int, len(names)), 0
	for i, name := range names {
		g, known := numbers[name]
		if !known || name == "" {
			g, next = next, next+1
			numbers[name] = g
		}
		groups[i] = g
	}
	return groups
}
