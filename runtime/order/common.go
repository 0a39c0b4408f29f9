package order

import (
	"cmp"
	"slices"
	"sort"
)

// Common calls f for the keys that several of ascending lists have: list i has
// at place a the key that list j has at place b. Of each key, i is the first
// list that has it, and f hears of every other. A key comes at most once in a
// list.
//
// Lists that workers made of runs of rows in order have long stretches of keys
// that no other has. The search goes past those in steps that double (Bentley,
// Yao, 1976).
func Common(lists [][]uint64, f func(i, a, j, b int)) {
	type cursor struct{ list, at int }
	var open []*cursor
	for i, l := range lists {
		if len(l) > 0 {
			open = append(open, &cursor{list: i})
		}
	}
	key := func(c *cursor) uint64 { return lists[c.list][c.at] }
	for len(open) > 1 {
		slices.SortFunc(open, func(x, y *cursor) int {
			return cmp.Or(cmp.Compare(key(x), key(y)),
				x.list-y.list)
		})
		first, next := open[0], open[1]
		if key(first) == key(next) {
			f(first.list, first.at, next.list, next.at)
			next.at++
		} else {
			first.at += less(lists[first.list][first.at:], key(next))
		}
		open = slices.DeleteFunc(open, func(c *cursor) bool { return c.at == len(lists[c.list]) })
	}
}

// less returns how many of ascending keys, the first of which is, are less than
// key.
func less(keys []uint64, key uint64) int {
	step := 1
	for step < len(keys) && keys[step] < key {
		step *= 2
	}
	from, until := step/2, min(step, len(keys))
	return from + sort.Search(until-from, func(i int) bool { return keys[from+i] >= key })
}
