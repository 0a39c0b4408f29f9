package joins

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/graph"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
)

// Cycles returns the cyclic parts of a conjunction. Relations are the edges of
// a hypergraph over the columns that several of them have. The parts are what
// the reduction of Graham, Yu and Özsoyoğlu leaves, cut where a single column
// holds two of them together. Relations that only restrict the columns of a
// part belong to it.
func Cycles(rels []queryplan.Node) [][]int {
	edges := make([][]string, len(rels))
	all := make([]int, len(rels))
	for i, n := range rels {
		edges[i], all[i] = trees.Columns(n), i
	}
	var out [][]int
	for _, block := range blocks(edges, reduce(edges, all)) {
		if block = reduce(edges, block); len(block) < 3 {
			continue
		}
		out = append(out, block)
	}
	taken := map[int]bool{}
	for _, block := range out {
		for _, i := range block {
			taken[i] = true
		}
	}
	for k, block := range out {
		var cols []string
		for _, i := range block {
			cols = append(cols, edges[i]...)
		}
		for i, edge := range edges {
			if !taken[i] && len(edge) > 0 && trees.HasAll(cols, edge) {
				out[k] = append(out[k], i)
				taken[i] = true
			}
		}
		slices.Sort(out[k])
	}
	return out
}

// reduce removes columns that only one edge has, and edges within others, from
// a hypergraph until there are none. It returns the remaining edges, none if
// the hypergraph is acyclic.
func reduce(edges [][]string, which []int) []int {
	left := map[int][]string{}
	holders := map[string][]int{} // the edges that still have a column, ascending
	for _, i := range which {
		left[i] = edges[i]
		for _, col := range edges[i] {
			holders[col] = append(holders[col], i)
		}
	}
	// An edge is looked at again when one with a column of its own has left.
	queue, queued := slices.Clone(which), map[int]bool{}
	for _, i := range which {
		queued[i] = true
	}
	for len(queue) > 0 {
		i := queue[0]
		queue, queued[i] = queue[1:], false
		left[i] = slices.DeleteFunc(slices.Clone(left[i]), func(col string) bool {
			return len(holders[col]) == 1
		})
		within := func(j int) bool { return j != i && trees.HasAll(left[j], left[i]) }
		if len(left[i]) > 0 && !slices.ContainsFunc(holders[left[i][0]], within) {
			continue
		}
		for _, col := range left[i] {
			holders[col] = slices.DeleteFunc(holders[col], func(j int) bool { return j == i })
			for _, j := range holders[col] {
				if !queued[j] {
					queue, queued[j] = append(queue, j), true
				}
			}
		}
		delete(left, i)
	}
	return slices.DeleteFunc(slices.Clone(which), func(i int) bool { _, ok := left[i]; return !ok })
}

// blocks divides the edges of a hypergraph into parts. No single column
// separates two edges of one part, but one separates edges of different parts.
// The parts are the biconnected components of the graph between edges and
// columns (Hopcroft, Tarjan, 1973), those with an edge in common united.
func blocks(edges [][]string, which []int) [][]int {
	b := &blockFinder{near: make([][]int, len(which)), parts: graph.NewSets(len(which))}
	number := map[string]int{}
	for at, i := range which {
		for _, col := range edges[i] {
			c, ok := number[col]
			if !ok {
				c = len(b.near)
				number[col] = c
				b.near = append(b.near, nil)
			}
			b.near[at], b.near[c] = append(b.near[at], c), append(b.near[c], at)
		}
	}
	b.index, b.low = make([]int, len(b.near)), make([]int, len(b.near))
	for at := range which {
		if b.index[at] == 0 {
			b.visit(at, -1)
		}
	}
	out := b.parts.All()
	for _, part := range out {
		for n, at := range part {
			part[n] = which[at]
		}
	}
	return out
}

// blockFinder searches the graph between edges, which have the first numbers,
// and columns.
type blockFinder struct {
	near       [][]int
	index, low []int // of the search, from 1 on
	seen       int
	stack      []int      // nodes that are not in a component yet, but the one above them
	parts      graph.Sets // of the edges
}

func (b *blockFinder) visit(v, from int) {
	b.seen++
	b.index[v], b.low[v] = b.seen, b.seen
	b.stack = append(b.stack, v)
	for _, w := range b.near[v] {
		switch {
		case w == from:
		case b.index[w] != 0:
			b.low[v] = min(b.low[v], b.index[w])
		default:
			below := len(b.stack)
			b.visit(w, v)
			b.low[v] = min(b.low[v], b.low[w])
			if b.low[w] >= b.index[v] {
				b.unite(append(b.stack[below:len(b.stack):len(b.stack)], v))
				b.stack = b.stack[:below]
			}
		}
	}
}

// unite makes one part of the edges of a component.
func (b *blockFinder) unite(component []int) {
	first := -1
	for _, v := range component {
		switch {
		case v >= len(b.parts):
		case first < 0:
			first = v
		default:
			b.parts.Union(first, v)
		}
	}
}
