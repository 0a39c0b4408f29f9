package tables

import (
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// Chosen are the groups of a range that have pairs, and the label that most
// pairs of each have.
type Chosen struct{ Groups, Labels []uint32 }

// Modes returns what each range of groups has: for each group the label of most
// of its pairs, the least or greatest of several. Labels have one column, of a
// kind whose words order by scalar.Ordered. The caller frees the result.
func (t *Tally) Modes(r *work.Run, kind scalar.Kind, greatest bool) []Chosen {
	t.number(r)
	flip := int64(0)
	if greatest {
		flip = -1
	}
	layout, keys := t.Labels()
	rank := work.Alloc[int64](r.Mem, t.Name, t.found.N)
	layout.Unpack(rank, keys, 0, t.found.N)
	for i, w := range rank {
		rank[i] = scalar.Ordered(kind, w) ^ flip
	}
	out := make([]Chosen, len(t.ranges))
	r.Tasks(len(t.ranges), func(i int) { out[i] = t.modes(r.Mem, t.ranges[i], rank) })
	work.Free(r.Mem, rank)
	return out
}

// Free gives back the memory.
func (c *Chosen) Free(mem *work.Memory) {
	work.Free(mem, c.Groups)
	work.Free(mem, c.Labels)
}

// modes returns the labels of a range, by groups in ascending order. rank
// orders labels by number.
//
// A count has the group that it belongs to in its upper half, so that it need
// not be cleared. A label is compared each time that its count grows, last with
// its final one.
func (t *Tally) modes(mem *work.Memory, p *foldRange, rank []int64) Chosen {
	all := t.Fold.found == t.sources.N
	counts := work.Alloc[uint64](mem, t.Name, t.found.N)
	best := work.Alloc[uint32](mem, t.Name, p.groups.N) // 1 + the label
	of, present := t.of, t.present
	for i := range p.order {
		most, mode, begin := uint64(0), uint32(0), uint64(i+1)<<32
		for _, s := range p.of(i) {
			if !all && present[s] == 0 {
				continue
			}
			l := of[s]
			n := max(counts[l], begin) + 1
			counts[l] = n
			if n >= most && (n > most || rank[l] < rank[mode-1]) {
				most, mode = n, l+1
			}
		}
		best[p.group(i)] = mode
	}
	work.Free(mem, counts)
	groups, k := work.Alloc[uint32](mem, t.Name, len(best)), 0
	for g, mode := range best {
		if mode > 0 {
			groups[k], best[k] = uint32(p.first+g), mode-1
			k++
		}
	}
	return Chosen{groups[:k], best[:k]}
}
