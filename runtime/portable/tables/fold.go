package tables

import (
	"math"
	"math/bits"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// Fold is a join whose rows are aggregated, for many sets of values: each of
// its pairs adds the value of a source to a group. The pairs stay, sorted by
// group, so that a group is a walk along a list without a hash table.
type Fold struct {
	*Grouping
	*FoldPairs
	ranges []*foldRange

	present []uint8 // whether a source has values now
	found   int     // sources that do
	values  []foldValues
}

// FoldPairs are the pairs of a fold, which do not change.
type FoldPairs struct {
	keys     *Groups // numbers of groups
	sources  *Groups // numbers of sources
	pairs    int
	starts   []uint32 // of each group's pairs in from, and the end
	from     []uint32 // sources
	degrees  []uint32 // pairs of each source
	isShared bool     // they belong to Kept
}

// foldRange is a range of the groups, for one worker at a time.
type foldRange struct {
	groups *Groups
	starts []uint32 // of each group's pairs in from, and the end
	from   []uint32 // sources, of all ranges
	most   int      // pairs of a group
	first  int      // number of the first group

	tallied Tallied // of a Tally
}

// foldValues are the values that go into one accumulator, by source.
type foldValues struct {
	words []int64
	// terms are the same floats as whole numbers of a unit, if split.
	terms []term
	unit  unit
	split bool
	// largest is the greatest magnitude of the words, as that of n for -n-1.
	largest  uint64
	negative bool // whether one is, as a signed word
}

const (
	// foldRanges is the number of ranges for each worker, so that all have
	// about the same work.
	foldRanges = 4
	// sparseFold is the share of the pairs that must have a value for a fold
	// to be worth it: one in that many.
	sparseFold = 8
)

// NewFold makes a fold of pairs.
func NewFold(r *work.Run, groups *Grouping, pairs *FoldPairs) *Fold {
	f := &Fold{Grouping: groups, FoldPairs: pairs}
	f.divide(r)
	f.present = work.Alloc[uint8](r.Mem, f.Name, f.sources.N)
	f.values = make([]foldValues, len(f.Accs))
	for i := range f.values {
		f.values[i].words = work.Alloc[int64](r.Mem, f.Name, f.sources.N)
	}
	return f
}

// NewFoldPairs makes pairs of parts, and empties these: their keys are sources,
// of the given layout, and their payloads groups.
func NewFoldPairs(r *work.Run, groups, sources *Grouping, parts []*Keyed) *FoldPairs {
	f := &FoldPairs{}
	for _, p := range parts {
		f.pairs += p.N
	}
	if f.pairs >= math.MaxUint32 {
		work.Abort(work.TooManyRows(groups.Name))
	}
	number := func(g *Grouping, words func(p *Keyed) []uint64) (*Groups, []uint32) {
		dense := g.Key.Words == 1 && g.Key.Bits <= mostDirectGroups && f.pairs >= 1<<g.Key.Bits/8
		t := NewGroups(g, r, 0, dense)
		ids := work.Alloc[uint32](r.Mem, g.Name, f.pairs)
		at := 0
		for _, p := range parts {
			r.Stop.Check()
			t.identify(words(p), ids[at:at+p.N])
			at += p.N
		}
		return t, ids
	}
	var from, to []uint32
	r.Tasks(2, func(i int) {
		if i == 0 { // without accumulators these are just numbers of keys
			f.keys, to = number(&Grouping{Name: groups.Name, Key: groups.Key},
				func(p *Keyed) []uint64 { return p.Pays })
		} else {
			f.sources, from = number(sources, func(p *Keyed) []uint64 { return p.Keys })
		}
	})
	for _, p := range parts {
		work.Free(r.Mem, p.Keys)
		work.Free(r.Mem, p.Pays)
		*p = Keyed{}
	}
	f.sort(r, groups.Name, to, from)
	return f
}

// identify returns the numbers of packed keys, a row each.
func (t *Groups) identify(keys []uint64, ids []uint32) {
	if t.agg.Key.Words > 0 {
		t.numberAll(keys, ids)
	} else if len(ids) > 0 {
		t.number(nil)
	}
}

// sort sorts the pairs by group and then by source, so that values are read in
// ascending order.
func (f *FoldPairs) sort(r *work.Run, name string, to, from []uint32) {
	starts, byFrom := scatter(r, name, from, f.sources.N, func(i int) uint32 { return to[i] })
	work.Free(r.Mem, from)
	work.Free(r.Mem, to)
	f.degrees = work.Alloc[uint32](r.Mem, name, f.sources.N)
	source, left := uint32(0), uint32(0)
	for s := range f.degrees {
		f.degrees[s] = starts[s+1] - starts[s]
	}
	work.Free(r.Mem, starts)
	f.starts, f.from = scatter(r, name, byFrom, f.keys.N, func(int) uint32 {
		for left == 0 {
			left = f.degrees[source]
			source++
		}
		left--
		return source - 1
	})
	work.Free(r.Mem, byFrom)
}

// divide divides the groups into ranges.
func (f *Fold) divide(r *work.Run) {
	room := max(r.Sizes.SerialRows, f.pairs/(foldRanges*r.Threads)+1)
	kw := f.Key.Words
	for g := 0; g < f.keys.N; {
		end := g + 1
		for end < f.keys.N && int(f.starts[end+1]-f.starts[g]) <= room {
			end++
		}
		part := &foldRange{starts: f.starts[g : end+1], from: f.from, first: g,
			groups: &Groups{agg: f.Grouping, kept: true, mem: r.Mem, N: end - g,
				Keys: f.keys.Keys[g*kw : end*kw]}}
		for _, s := range f.Accs {
			part.groups.Accs = append(part.groups.Accs, newAccumulator(s))
		}
		part.groups.reserve(end - g)
		for k := range end - g {
			part.most = max(part.most, int(part.starts[k+1]-part.starts[k]))
		}
		f.ranges = append(f.ranges, part)
		g = end
	}
}

// scatter returns a value of each row, sorted by a key below n of each, and
// where the values of each key start. Those of one key stay in order. value is
// called for one row after the other.
func scatter(r *work.Run, name string, key []uint32, n int, value func(row int) uint32) (starts,
	sorted []uint32) {
	starts = work.Alloc[uint32](r.Mem, name, n+2)
	for _, k := range key {
		starts[k+2]++
	}
	for k := 2; k < len(starts); k++ {
		starts[k] += starts[k-1]
	}
	sorted = work.Alloc[uint32](r.Mem, name, len(key))
	// Filling a run moves its start, one entry on, to its end.
	for i, k := range key {
		at := &starts[k+1]
		sorted[*at] = value(i)
		*at++
	}
	return starts[:n+1], sorted
}

// Free gives back the memory of the fold.
func (f *Fold) Free(mem *work.Memory) {
	for _, p := range f.ranges {
		mem.Release(p.groups.held)
	}
	for _, v := range f.values {
		work.Free(mem, v.words)
		work.Free(mem, v.terms)
	}
	work.Free(mem, f.present)
	f.FoldPairs.free(mem)
}

func (f *FoldPairs) free(mem *work.Memory) {
	if f.isShared {
		mem.Release(f.memory())
		return
	}
	work.Free(mem, f.starts)
	work.Free(mem, f.from)
	work.Free(mem, f.degrees)
	f.keys.Free()
	f.sources.Free()
}

// SourceKey is the layout of what sources are found by.
func (f *Fold) SourceKey() *interval.Layout { return &f.sources.agg.Key }

// Reset forgets the values. A source without one adds nothing.
func (f *Fold) Reset() {
	clear(f.present)
	f.found = 0
	for i, a := range f.Accs {
		words := f.values[i].words
		none := int64(0)
		if a.Fn != queryplan.Total {
			none = math.MaxInt64
		}
		for k := range words {
			words[k] = none
		}
	}
}

// Put sets the values of sources, given by packed keys that occur once, and
// returns how many are sources of a pair. Several workers may call it at once.
// Keys that are not valid are no sources; ids has room for the numbers.
func (f *Fold) Put(keys []uint64, valid []bool, ids []uint32, cols [][]int64) (found int) {
	f.sources.find(keys, valid, ids)
	for i := range f.values {
		words, col, a := f.values[i].words, cols[i], AccSpec{Fn: queryplan.Total}
		if len(f.Accs) > 0 { // a Tally keeps words as they are
			a = f.Accs[i]
		}
		flip := int64(0)
		if a.Fn == queryplan.Max {
			flip = -1
		}
		for k, id := range ids {
			switch {
			case id == none:
			case a.Fn == queryplan.Total:
				words[id] = col[k]
			default:
				words[id] = scalar.Ordered(a.Type.Kind, col[k]) ^ flip
			}
		}
	}
	for _, id := range ids {
		if id != none {
			f.present[id] = 1
			found++
		}
	}
	return found
}

// none stands for the number of a key that is not there.
const none = math.MaxUint32

// find returns the numbers of packed keys, none for those that are not there
// or not valid.
func (t *Groups) find(keys []uint64, valid []bool, ids []uint32) {
	kw := t.agg.Key.Words
	for i := range ids {
		ids[i] = none
		if t.N == 0 || valid != nil && !valid[i] {
			continue
		}
		switch {
		case kw == 0:
			ids[i] = 0
		case t.direct != nil:
			ids[i] = t.direct[keys[i]] - 1
		default:
			ids[i] = t.findHashed(keys[i*kw : i*kw+kw])
		}
	}
}

func (t *Groups) findHashed(key []uint64) uint32 {
	kw := len(key)
	word, h := key[0], work.HashKey(key)
	if kw > 1 {
		word = h
	}
	for at := h & t.mask; t.slots[at][slotNumber] != 0; at = (at + 1) & t.mask {
		if g := int(t.slots[at][slotNumber]); t.slots[at][slotWord] == word &&
			(kw == 1 || work.EqualWords(t.Keys[(g-1)*kw:g*kw], key)) {
			return uint32(g - 1)
		}
	}
	return none
}

// Found says how many sources have values, and reports whether the fold is
// worth it: if few pairs have values, it is not.
func (f *Fold) Found(sources int) bool {
	f.found = sources
	if f.found == f.sources.N {
		return true
	}
	pairs := 0
	for s, p := range f.present {
		pairs += int(p) * int(f.degrees[s])
	}
	return sparseFold*pairs >= f.pairs
}

// Ranges returns the groups of each range. They stay until the next call.
func (f *Fold) Ranges(r *work.Run) []*Groups {
	most := 0
	for _, p := range f.ranges {
		most = max(most, p.most)
	}
	for i, a := range f.Accs {
		switch v := &f.values[i]; {
		case a.Fn != queryplan.Total:
		case a.Type.Kind == scalar.Float:
			v.splitTerms(r, f.Name, most)
		default:
			v.measure()
		}
	}
	r.Tasks(len(f.ranges), func(i int) { f.fold(f.ranges[i]) })
	out := make([]*Groups, len(f.ranges))
	for i, p := range f.ranges {
		out[i] = p.groups
	}
	return out
}

// fold computes the groups of a range.
func (f *Fold) fold(p *foldRange) {
	t := p.groups
	for i, a := range t.Accs {
		a.(folder).fold(&f.values[i], p)
	}
	all := f.found == f.sources.N
	t.Taken = t.Taken[:0]
	if all && !f.Counts {
		return
	}
	for g := range t.N {
		count := int64(p.starts[g+1] - p.starts[g])
		if !all {
			count = 0
			for _, s := range p.of(g) {
				count += int64(f.present[s])
			}
		}
		if f.Counts {
			t.Counts[g] = count
		}
		if count == 0 {
			t.Taken = append(t.Taken, g)
		}
	}
}

// of returns the sources of a group.
func (p *foldRange) of(g int) []uint32 { return p.from[p.starts[g]:p.starts[g+1]] }

// folder is an accumulator that walks along the pairs of groups. It replaces
// what it has.
type folder interface {
	fold(v *foldValues, p *foldRange)
}

// Folds reports whether an accumulator can be part of a Fold.
func (s AccSpec) Folds() bool {
	_, ok := newAccumulator(s).(folder)
	return ok
}

func (a *extreme) fold(v *foldValues, p *foldRange) {
	for g := range a.best[:p.groups.N] {
		best := int64(math.MaxInt64)
		for _, s := range p.of(g) {
			best = min(best, v.words[s])
		}
		a.best[g] = best
	}
}

// measure finds the largest word.
func (v *foldValues) measure() {
	low, high := int64(0), int64(0)
	for _, w := range v.words {
		low, high = min(low, w), max(high, w)
	}
	v.largest, v.negative = uint64(max(high, -1-low)), low < 0
}

func (s *wholeSum) fold(v *foldValues, p *foldRange) {
	s.part = growTo(s.part, p.groups.N)
	over, room := bits.Mul64(v.largest+1, uint64(p.most))
	if over > 0 || room > math.MaxInt64 || s.unsigned && v.negative {
		s.wide = growTo(s.wide, 2*s.n)
		clear(s.part)
		for g := range p.groups.N {
			var lo, hi, carry uint64
			for _, from := range p.of(g) {
				w := v.words[from]
				lo, carry = bits.Add64(lo, uint64(w), 0)
				hi, _ = bits.Add64(hi, s.extension(w), carry)
			}
			s.wide[2*g], s.wide[2*g+1] = lo, hi
		}
		return
	}
	s.wide = nil
	s.limit = math.MaxInt64 // the part is all
	begin := p.starts[0]
	for g := range s.part {
		end, sum := p.starts[g+1], int64(0)
		for _, from := range p.from[begin:end] {
			sum += v.words[from]
		}
		s.part[g] = sum
		begin = end
	}
}
