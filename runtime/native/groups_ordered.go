package native

import (
	"slices"

	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/order"
)

// Groups of form Ordered are lists: keys come in order to each worker, and a
// group is over when the next one begins. A worker takes runs of rows, each
// behind the one before, so that its keys ascend; groups of which several
// workers have rows lie where such runs end. The lists stay apart, and kernels
// that read groups go through one after the other.

// growList makes room for need groups in all.
func (t *groupTable) growList(need int) error {
	if t.slots > 0 && need <= t.slots {
		return nil
	}
	slots := max(need, 2*t.slots)
	if err := t.keys.Grow(t.What, 8*slots); err != nil {
		return err
	}
	return t.addSlots(slots)
}

// list returns the keys of the groups.
func (t *groupTable) list() []uint64 {
	if t.slots == 0 {
		return nil
	}
	return account.Words(&t.keys.Region)[:t.gauge.cursor]
}

// settle leaves each group to one worker. The last groups of the others fill
// the gaps.
func (g *groups) settle() {
	lists, taken := make([][]uint64, len(g.workers)), make([][]int, len(g.workers))
	for i, t := range g.workers {
		lists[i] = t.list()
	}
	order.Common(lists, func(i, a, j, b int) {
		into, from := g.workers[i], g.workers[j]
		for k, c := range g.Cells {
			g.combine(k, account.Words(&into.data[k])[c.Words*a:][:c.Words],
				account.Words(&from.data[k])[c.Words*b:][:c.Words])
		}
		taken[j] = append(taken[j], b)
	})
	for i, t := range g.workers {
		for _, slot := range slices.Backward(taken[i]) {
			t.gauge.cursor--
			last := int(t.gauge.cursor)
			lists[i][slot] = lists[i][last]
			for k, c := range g.Cells {
				words := account.Words(&t.data[k])
				copy(words[c.Words*slot:][:c.Words], words[c.Words*last:][:c.Words])
			}
		}
	}
}
