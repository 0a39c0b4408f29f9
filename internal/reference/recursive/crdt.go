package recursive

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
)

// element identifies an element of a text by its time and its writer. The root
// of a text is the element at time 0.
type element struct{ ctr, node int }

func (e element) words() []string { return []string{fmt.Sprint(e.ctr), fmt.Sprint(e.node)} }

// CRDT makes the edits of a text: insertions by three writers, who mostly go on
// behind what they wrote last, and removals of runs of elements.
func CRDT(insertions int, seed uint64) Facts {
	r := rand.New(rand.NewPCG(seed, 3))
	f := Facts{}
	all := []element{{}}
	parent := map[element]element{}
	var last [4]element
	removed := map[element]bool{}
	f.add("value", "0", "0", "^")
	for t := 1; t <= insertions; t++ {
		e := element{t, 1 + max(0, r.IntN(5)-2)}
		if r.IntN(300) == 0 {
			last[e.node] = all[r.IntN(len(all))]
		}
		parent[e] = last[e.node]
		f.add("insert", slices.Concat(e.words(), parent[e].words())...)
		f.add("value", append(e.words(), string(rune('a'+r.IntN(26))))...)
		all, last[e.node] = append(all, e), e
		if r.IntN(100) == 0 {
			// A writer deletes what stands behind the cursor.
			for gone, n := e, r.IntN(50); n > 0 && gone != (element{}); n-- {
				if !removed[gone] {
					removed[gone] = true
					f.add("remove", gone.words()...)
				}
				gone = parent[gone]
			}
		}
	}
	return f
}

// SolveCRDT returns the tuples of the recursive predicates of
// testdata/recursive/crdt.logic and of those behind them, as redfox prints
// them. It walks the tree of insertions in the order of the text.
func SolveCRDT(f Facts) map[string][][2]element {
	parse := func(ctr, node string) element {
		var e element
		fmt.Sscan(ctr, &e.ctr)
		fmt.Sscan(node, &e.node)
		return e
	}
	children := map[element][]element{}
	for _, r := range f["insert"] {
		p := parse(r[2], r[3])
		children[p] = append(children[p], parse(r[0], r[1]))
	}
	for _, c := range children {
		slices.SortFunc(c, func(a, b element) int { // the latest first
			return cmp.Or(cmp.Compare(b.ctr, a.ctr), cmp.Compare(b.node, a.node))
		})
	}
	visible := map[element]bool{}
	for _, r := range f["value"] {
		visible[parse(r[0], r[1])] = true
	}
	for _, r := range f["remove"] {
		delete(visible, parse(r[0], r[1]))
	}
	out := map[string][][2]element{}
	next := map[element]element{}
	type visit struct {
		at, after element
		follows   bool // after is the next sibling of at or of an ancestor
	}
	for todo := []visit{{}}; len(todo) > 0; {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if v.follows {
			out["nextSiblingAnc"] = append(out["nextSiblingAnc"], [2]element{v.at, v.after})
		}
		below := children[v.at]
		switch {
		case len(below) > 0:
			next[v.at] = below[0]
		case v.follows:
			next[v.at] = v.after
		}
		for i, c := range below {
			if i+1 < len(below) {
				todo = append(todo, visit{c, below[i+1], true})
			} else {
				todo = append(todo, visit{c, v.after, v.follows})
			}
		}
	}
	for from, to := range next {
		out["nextElem"] = append(out["nextElem"], [2]element{from, to})
		for ok := true; ok; to, ok = next[to] {
			out["skipBlank"] = append(out["skipBlank"], [2]element{from, to})
			if visible[to] {
				if visible[from] {
					out["nextVisible"] = append(out["nextVisible"], [2]element{from, to})
				}
				break
			}
		}
	}
	return out
}

// ElementRows writes pairs of elements as redfox prints them.
func ElementRows(pairs [][2]element) []string {
	out := make([]string, len(pairs))
	for i, p := range pairs {
		out[i] = fmt.Sprintf("%d\t%d\t%d\t%d", p[0].ctr, p[0].node, p[1].ctr, p[1].node)
	}
	return out
}
