package tables

import (
	"math"
	"math/bits"
	"slices"

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

// FoldPairs are the pairs of a fold, which do not change. Where keys are
// addressed directly, groups and sources are numbered in the order of their
// keys, so that what a round reads and writes by number lies in sequence.
//
// A fold visits groups in another order: blocks of groups with neighbouring
// numbers, and in each of them groups of as many pairs one after the other.
// Loops over the pairs of a group then end where the processor expects it.
type FoldPairs struct {
	keys     *Groups // numbers of groups
	sources  *Groups // numbers of sources
	pairs    int
	blocks   []uint32 // the end of each block of groups
	order    []uint32 // groups as they are visited
	starts   []uint32 // of their pairs in from, in that order, and the end
	from     []uint32 // sources
	degrees  []uint32 // pairs of each source
	isShared bool     // they belong to Kept
}

// foldRange is a range of the groups, for one worker at a time.
type foldRange struct {
	groups *Groups
	order  []uint32 // groups as they are visited, by their numbers of all ranges
	starts []uint32 // of their pairs in from, and the end
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
	// blockGroups and blockPairs bound a block's groups and their pairs, in
	// vectors: its results stay in the cache while a fold visits it.
	blockGroups = 4
	blockPairs  = 64
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
		for _, p := range parts {
			t.mark(words(p))
		}
		t.numberMarked()
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

// mark marks keys for numberMarked, if they are addressed directly.
func (t *Groups) mark(keys []uint64) {
	if t.direct != nil {
		for _, k := range keys {
			t.direct[k] = 1
		}
	}
}

// numberMarked numbers the marked keys of an empty table in ascending order.
func (t *Groups) numberMarked() {
	for _, is := range t.direct {
		t.N += int(is)
	}
	t.Keys = work.Alloc[uint64](t.mem, t.agg.Name, t.N)
	n := uint32(0)
	for k, is := range t.direct {
		if is != 0 {
			t.Keys[n] = uint64(k)
			n++
			t.direct[k] = n
		}
	}
}

// sort sorts the pairs by the place of their group in the order of a fold, and
// then by source, so that values are read in ascending order.
func (f *FoldPairs) sort(r *work.Run, name string, to, from []uint32) {
	f.degrees = work.Alloc[uint32](r.Mem, name, f.sources.N)
	for _, s := range from {
		f.degrees[s]++
	}
	if !slices.IsSorted(from) { // as facts often are
		to = f.bySource(r, name, to, from)
	}
	work.Free(r.Mem, from)
	at := f.arrange(r, name, to)
	f.from = work.Alloc[uint32](r.Mem, name, f.pairs)
	i := 0
	for s, n := range f.degrees {
		for _, g := range to[i : i+int(n)] {
			f.from[at[g]] = uint32(s)
			at[g]++
		}
		i += int(n)
	}
	work.Free(r.Mem, at)
	work.Free(r.Mem, to)
}

// bySource returns the groups of pairs sorted by source, and frees to.
func (f *FoldPairs) bySource(r *work.Run, name string, to, from []uint32) []uint32 {
	at := work.Alloc[uint32](r.Mem, name, f.sources.N)
	sum := uint32(0)
	for s, n := range f.degrees {
		at[s] = sum
		sum += n
	}
	sorted := work.Alloc[uint32](r.Mem, name, f.pairs)
	for i, s := range from {
		sorted[at[s]] = to[i]
		at[s]++
	}
	work.Free(r.Mem, at)
	work.Free(r.Mem, to)
	return sorted
}

// arrange orders the groups of pairs, and returns where the pairs of each group
// start, by number.
func (f *FoldPairs) arrange(r *work.Run, name string, to []uint32) (at []uint32) {
	n := f.keys.N
	at = work.Alloc[uint32](r.Mem, name, n) // at first the pairs of each group
	for _, g := range to {
		at[g]++
	}
	f.order = work.Alloc[uint32](r.Mem, name, n)
	f.starts = work.Alloc[uint32](r.Mem, name, n+1)
	var block []uint64 // groups, below their numbers of pairs
	pairs, sum := 0, uint32(0)
	for g := range n {
		block = append(block, uint64(at[g])<<32|uint64(g))
		pairs += int(at[g])
		if g+1 < n && len(block) < blockGroups*r.Sizes.Vector &&
			pairs+int(at[g+1]) <= blockPairs*r.Sizes.Vector {
			continue
		}
		slices.Sort(block)
		for i, b := range block {
			k, of := g+1-len(block)+i, uint32(b)
			f.order[k], f.starts[k], at[of] = of, sum, sum
			sum += uint32(b >> 32)
		}
		f.blocks = append(f.blocks, uint32(g+1))
		block, pairs = block[:0], 0
	}
	f.starts[n] = sum
	return at
}

// divide divides the blocks of groups into ranges.
func (f *Fold) divide(r *work.Run) {
	room := max(r.Sizes.SerialRows, f.pairs/(foldRanges*r.Threads)+1)
	kw, begin := f.Key.Words, 0
	for i, end := range f.blocks {
		if i+1 < len(f.blocks) && int(f.starts[f.blocks[i+1]]-f.starts[begin]) <= room {
			continue
		}
		g, n := begin, int(end)-begin
		part := &foldRange{order: f.order[g:end], starts: f.starts[g : end+1], from: f.from,
			first: g, groups: &Groups{agg: f.Grouping, kept: true, mem: r.Mem, N: n,
				Keys: f.keys.Keys[g*kw : int(end)*kw]}}
		for _, s := range f.Accs {
			part.groups.Accs = append(part.groups.Accs, newAccumulator(s))
		}
		part.groups.reserve(n)
		for k := range n {
			part.most = max(part.most, int(part.starts[k+1]-part.starts[k]))
		}
		f.ranges = append(f.ranges, part)
		begin = int(end)
	}
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
	work.Free(mem, f.order)
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
	for i := range t.N {
		count := int64(p.starts[i+1] - p.starts[i])
		if !all {
			count = 0
			for _, s := range p.of(i) {
				count += int64(f.present[s])
			}
		}
		g := p.group(i)
		if f.Counts {
			t.Counts[g] = count
		}
		if count == 0 {
			t.Taken = append(t.Taken, g)
		}
	}
	slices.Sort(t.Taken)
}

// of returns the sources of the i-th group that is visited.
func (p *foldRange) of(i int) []uint32 { return p.from[p.starts[i]:p.starts[i+1]] }

// group returns the number of the i-th group that is visited, within the range.
func (p *foldRange) group(i int) int { return int(p.order[i]) - p.first }

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

// IsExtreme reports whether an accumulator is Min or Max of a type whose words
// order by scalar.Ordered.
func (s AccSpec) IsExtreme() bool {
	_, ok := newAccumulator(s).(*extreme)
	return ok
}

func (a *extreme) fold(v *foldValues, p *foldRange) {
	for i := range p.order {
		best := int64(math.MaxInt64)
		for _, s := range p.of(i) {
			best = min(best, v.words[s])
		}
		a.best[p.group(i)] = best
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
		for i := range p.order {
			var lo, hi, carry uint64
			for _, from := range p.of(i) {
				w := v.words[from]
				lo, carry = bits.Add64(lo, uint64(w), 0)
				hi, _ = bits.Add64(hi, s.extension(w), carry)
			}
			g := p.group(i)
			s.wide[2*g], s.wide[2*g+1] = lo, hi
		}
		return
	}
	s.wide = nil
	s.limit = math.MaxInt64 // the part is all
	begin := p.starts[0]
	for i, g := range p.order {
		end, sum := p.starts[i+1], int64(0)
		for _, from := range p.from[begin:end] {
			sum += v.words[from]
		}
		s.part[int(g)-p.first] = sum
		begin = end
	}
}
