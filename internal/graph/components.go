package graph

import "slices"

// Components returns the strongly connected components of a graph, given the
// successors of each node (Tarjan, SIAM J. Comput. 1972). A component comes
// after all others that it reaches, and its nodes come in the order in which
// the search meets them. The search keeps its own stack, because the graph of a
// program can be deep.
func Components(successors [][]int) [][]int {
	var out [][]int
	type call struct{ node, edge int }
	var calls []call
	var stack []int                       // nodes without a component yet
	index := make([]int, len(successors)) // order of discovery, from 1 on
	low := make([]int, len(successors))
	onStack := make([]bool, len(successors))
	found := 0
	enter := func(v int) {
		found++
		index[v], low[v] = found, found
		stack, onStack[v] = append(stack, v), true
		calls = append(calls, call{node: v})
	}
	for root := range successors {
		if index[root] > 0 {
			continue
		}
		enter(root)
		for len(calls) > 0 {
			c := &calls[len(calls)-1]
			v := c.node
			if c.edge < len(successors[v]) {
				w := successors[v][c.edge]
				c.edge++
				if index[w] == 0 {
					enter(w)
				} else if onStack[w] {
					low[v] = min(low[v], index[w])
				}
				continue
			}
			if low[v] == index[v] {
				first := len(stack) - 1
				for stack[first] != v {
					first--
				}
				component := slices.Clone(stack[first:])
				stack = stack[:first]
				for _, w := range component {
					onStack[w] = false
				}
				out = append(out, component)
			}
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				caller := calls[len(calls)-1].node
				low[caller] = min(low[caller], low[v])
			}
		}
	}
	return out
}
