package tables

import (
	"github.com/redfoxdb/redfox/runtime/order"
)

// If rows arrive in the order of the groups' key, a group ends when the next
// one begins, and no table is needed. A worker takes runs of rows, each behind
// the one before, so that its keys ascend; groups of which several workers have
// rows lie where such runs end.

// numberOrdered is numberAll for keys that ascend.
func (t *Groups) numberOrdered(keys []uint64, ids []uint32) {
	for i := range ids {
		if t.N == 0 || t.Keys[t.N-1] != keys[i] {
			t.newGroup(keys[i : i+1])
		}
		ids[i] = uint32(t.N - 1)
	}
}

// settle leaves each group to one of several tables whose keys ascend.
func settle(tables []*Groups) {
	lists := make([][]uint64, len(tables))
	for i, t := range tables {
		lists[i] = t.Keys[:t.N]
	}
	// The groups that tables i and j have in common.
	type shared struct{ into, from []uint32 }
	pairs := make([]shared, len(tables)*len(tables))
	order.Common(lists, func(i, a, j, b int) {
		p := &pairs[i*len(tables)+j]
		p.into, p.from = append(p.into, uint32(a)), append(p.from, uint32(b))
		tables[j].Taken = append(tables[j].Taken, b)
	})
	for at, p := range pairs {
		into, from := tables[at/len(tables)], tables[at%len(tables)]
		if into.agg.Counts {
			for k, a := range p.into {
				into.Counts[a] += from.Counts[p.from[k]]
			}
		}
		for k, acc := range into.Accs {
			acc.merge(from.Accs[k], p.from, p.into)
		}
	}
}
