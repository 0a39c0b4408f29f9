package native

import (
	"slices"
	"sort"

	"github.com/redfoxdb/redfox/runtime/account"
)

// Groups of form Ordered are lists: keys come in order to each worker, and a group is
// over when the next one begins. A worker takes runs of rows, each behind the one
// before, so that its keys ascend; groups of which several workers have rows lie where
// such runs end. The lists stay apart, and kernels that read groups go through one
// after the other.

// growList makes room for so many groups in all.
func (t *groupTable) growList(need int) error {
	if t.slots > 0 && need <= t.slots {
		return nil
	}
	slots := max(need, 2*t.slots)
	if err := t.keys.Grow(t.what, 8*slots); err != nil {
		return err
	}
	return t.addSlots(slots)
}

// list returns the keys of a table of form Ordered.
func (t *groupTable) list() []uint64 { return account.Words(&t.keys.Region)[:t.gauge.cursor] }

// settle leaves each group to one worker. Between two groups that several workers have
// lie many of one worker only, which a search passes over.
func (g *groups) settle() {
	var open []*orderedList
	for _, t := range g.workers {
		if t.slots > 0 && t.gauge.cursor > 0 {
			open = append(open, &orderedList{groupTable: t, keys: t.list()})
		}
	}
	lists := slices.Clone(open)
	for len(open) > 1 {
		slices.SortStableFunc(open, func(a, b *orderedList) int { return compareWords(a.keys[a.at], b.keys[b.at]) })
		first, next := open[0], open[1]
		if next.keys[next.at] == first.keys[first.at] {
			first.take(next)
		} else {
			first.at += after(first.keys[first.at:], next.keys[next.at])
		}
		open = slices.DeleteFunc(open, func(l *orderedList) bool { return l.at == len(l.keys) })
	}
	for _, l := range lists {
		l.remove()
	}
}

func compareWords(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// orderedList is a table as settle goes through it.
type orderedList struct {
	*groupTable
	keys  []uint64
	at    int
	taken []int // slots whose groups another worker has got, ascending
}

// take adds the group that another list is at to the one that this list is at.
func (l *orderedList) take(from *orderedList) {
	for i, c := range l.groups.cells {
		l.combine(i, account.Words(&l.cells[i])[c.Words*l.at:][:c.Words], account.Words(&from.cells[i])[c.Words*from.at:][:c.Words])
	}
	from.taken = append(from.taken, from.at)
	from.at++
}

// remove puts the last groups in the places of those that are taken.
func (l *orderedList) remove() {
	for _, slot := range slices.Backward(l.taken) {
		last := len(l.keys) - 1
		l.keys[slot] = l.keys[last]
		l.keys = l.keys[:last]
		for i, c := range l.groups.cells {
			words := account.Words(&l.cells[i])
			copy(words[c.Words*slot:][:c.Words], words[c.Words*last:][:c.Words])
		}
	}
	l.gauge.cursor = int64(len(l.keys))
}

// after returns how many of ascending keys, of which the first is, are less than key.
// It looks near the front first.
func after(keys []uint64, key uint64) int {
	step := 1
	for step < len(keys) && keys[step] < key {
		step *= 2
	}
	from, until := step/2, min(step, len(keys))
	return from + sort.Search(until-from, func(i int) bool { return keys[from+i] >= key })
}
