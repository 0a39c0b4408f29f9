package tables

import (
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// Tally is a Fold that counts the pairs of each group by labels, which are the
// values of the sources. A group counts in an array with a place for each label
// and clears the few places that it has used, so there is no hash table of
// groups and labels.
type Tally struct {
	*Fold
	labels interval.Layout
	of     []uint32 // the number of each source's label
	found  *Groups  // labels of this round
}

// Tallied is what a range of groups has: for each group and label of its pairs
// their numbers and how many pairs there are.
type Tallied struct {
	Groups, Labels, Counts []uint32

	mem    *work.Memory
	counts []uint32 // by label, 0 between groups
}

// NewTally makes a tally of pairs as NewFold makes a fold. The groups have no
// accumulators.
func NewTally(r *work.Run, groups *Grouping, labels interval.Layout, pairs *FoldPairs) *Tally {
	t := &Tally{Fold: NewFold(r, groups, pairs), labels: labels}
	t.values = make([]foldValues, len(labels.Fields))
	for i := range t.values {
		t.values[i].words = work.Alloc[int64](r.Mem, t.Name, t.sources.N)
	}
	t.of = work.Alloc[uint32](r.Mem, t.Name, t.sources.N)
	for _, p := range t.ranges {
		p.tallied.mem = r.Mem
	}
	return t
}

// Free gives back the memory of the tally.
func (t *Tally) Free(mem *work.Memory) {
	for _, p := range t.ranges {
		c := &p.tallied
		for _, words := range [][]uint32{c.Groups, c.Labels, c.Counts, c.counts} {
			work.Free(mem, words)
		}
	}
	work.Free(mem, t.of)
	if t.found != nil {
		t.found.Free()
	}
	t.Fold.Free(mem)
}

// Keys returns the layout of groups and their packed keys, by number.
func (t *Tally) Keys() (*interval.Layout, []uint64) { return &t.Key, t.keys.Keys }

// Labels returns the layout of labels and their packed keys, by number, until
// the next call of Ranges.
func (t *Tally) Labels() (*interval.Layout, []uint64) { return &t.labels, t.found.Keys }

// Ranges returns what each range of groups has. It stays until the next call.
func (t *Tally) Ranges(r *work.Run) []*Tallied {
	t.number(r)
	out := make([]*Tallied, len(t.ranges))
	r.Tasks(len(t.ranges), func(i int) { out[i] = t.count(t.ranges[i]) })
	return out
}

// number numbers the labels that sources have now.
func (t *Tally) number(r *work.Run) {
	if t.found != nil {
		t.found.Free()
	}
	g := &Grouping{Name: t.Name, Key: t.labels}
	t.found = NewGroups(g, r, 0, g.IsDense(t.sources.N))
	size := r.Sizes.Vector
	cols := work.Vectors(len(t.values), size)
	packed, ids := make([]uint64, size*t.labels.Words), make([]uint32, size)
	at := make([]int, 0, size) // sources
	take := func() {
		t.labels.Pack(packed, cols, len(at))
		t.found.identify(packed, ids[:len(at)])
		for k, s := range at {
			t.of[s] = ids[k]
		}
		at = at[:0]
	}
	for s, is := range t.present {
		if is == 0 {
			continue
		}
		for i := range cols {
			cols[i][len(at)] = t.values[i].words[s]
		}
		if at = append(at, s); len(at) == size {
			take()
		}
	}
	take()
}

// count counts in the groups of a range.
func (t *Tally) count(p *foldRange) *Tallied {
	c := &p.tallied
	c.Groups, c.Labels, c.Counts = c.Groups[:0], c.Labels[:0], c.Counts[:0]
	if len(c.counts) < t.found.N {
		work.Free(c.mem, c.counts)
		c.counts = work.Alloc[uint32](c.mem, t.Name, t.found.N)
	}
	counts, all := c.counts, t.Fold.found == t.sources.N
	for i, g := range p.order {
		pairs, begin := p.of(i), len(c.Labels)
		room := begin + len(pairs)
		c.Labels = work.Regrow(c.mem, t.Name, c.Labels, room)
		for _, s := range pairs {
			if !all && t.present[s] == 0 {
				continue
			}
			l := t.of[s]
			if counts[l] == 0 {
				c.Labels = append(c.Labels, l)
			}
			counts[l]++
		}
		made := len(c.Labels)
		c.Groups = work.Regrow(c.mem, t.Name, c.Groups, made)
		c.Counts = work.Regrow(c.mem, t.Name, c.Counts, made)
		for _, l := range c.Labels[begin:] {
			c.Groups = append(c.Groups, g)
			c.Counts = append(c.Counts, counts[l])
			counts[l] = 0
		}
	}
	return c
}
