package tables

import (
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"weak"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/runtime/portable/work"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Kept has indexes on columns of facts, for runs without a bound on memory. An
// index that a second run builds stays there until its columns are garbage. It
// is safe for concurrent use.
type Kept struct {
	mu      sync.Mutex
	indexes map[string]*keptIndex
}

// keptIndex is an index, or the pairs of a fold; nil until a second run has
// built it.
type keptIndex struct {
	cols  []weak.Pointer[store.Column] // of the key and then of the payload
	index *Index
	pairs *FoldPairs
}

const (
	// keptIndexes bounds the indexes that are kept.
	keptIndexes = 256
	// keptRows is the number of rows from which an index is.
	keptRows = 1 << 10
	// keptBytes is how many bytes for each row it may have.
	keptBytes = 64
)

// keyOf is what an index has in common with others that are equal, or pairs.
func keyOf(kind string, key, pay interval.Layout, cols []*store.Column) string {
	var b strings.Builder
	fmt.Fprint(&b, kind, key, pay)
	for _, c := range cols {
		fmt.Fprintf(&b, " %p", c)
	}
	return b.String()
}

// find returns the entry of an index, or nil.
func (k *Kept) find(key string, cols []*store.Column) *keptIndex {
	e := k.indexes[key]
	if e == nil || !slices.EqualFunc(e.cols, cols,
		func(w weak.Pointer[store.Column], c *store.Column) bool { return w.Value() == c }) {
		return nil // an address can be used again
	}
	return e
}

// Adopt makes an empty index that of columns, and reports whether it is kept.
func (k *Kept) Adopt(x *Index, cols []*store.Column) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.find(keyOf("index", x.Key, x.Pay, cols), cols)
	if e == nil || e.index == nil {
		return false
	}
	name, mem := x.Name, x.Mem
	mem.MustReserve(name, e.index.memory())
	*x = *e.index
	x.Name, x.Mem = name, mem
	return true
}

// Offer keeps a copy of an index on columns, if it is not the first one.
func (k *Kept) Offer(x *Index, cols []*store.Column) {
	if x.Rows < keptRows || x.memory() > keptBytes*int64(x.Rows) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if e := k.again(keyOf("index", x.Key, x.Pay, cols), cols); e != nil && e.index == nil {
		e.index = x.shared()
	}
}

// AdoptPairs returns the pairs of a fold on columns that are kept, nil if there
// are none.
func (k *Kept) AdoptPairs(mem *work.Memory, groups, sources *Grouping,
	cols []*store.Column) *FoldPairs {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.find(keyOf("pairs", sources.Key, groups.Key, cols), cols)
	if e == nil || e.pairs == nil {
		return nil
	}
	mem.MustReserve(groups.Name, e.pairs.memory())
	return e.pairs
}

// OfferPairs is Offer for the pairs of a fold.
func (k *Kept) OfferPairs(f *FoldPairs, groups, sources *Grouping, cols []*store.Column) {
	if f.pairs < keptRows || f.memory() > keptBytes*int64(f.pairs) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.again(keyOf("pairs", sources.Key, groups.Key, cols), cols)
	if e != nil && e.pairs == nil {
		e.pairs = f.shared()
	}
}

// again returns the entry of a key that a run has built before. The first run
// makes one.
func (k *Kept) again(key string, cols []*store.Column) *keptIndex {
	if e := k.find(key, cols); e != nil {
		return e
	}
	if k.indexes == nil || len(k.indexes) >= keptIndexes {
		k.indexes = map[string]*keptIndex{}
	}
	e := &keptIndex{}
	for _, c := range cols {
		e.cols = append(e.cols, weak.Make(c))
	}
	k.indexes[key] = e
	goruntime.AddCleanup(cols[0], k.drop, key)
	return nil
}

func (k *Kept) drop(key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.indexes, key)
}

// memory is what the arrays of an index take.
func (x *Index) memory() int64 {
	return 4*int64(len(x.offsets)+len(x.narrow)) + 8*int64(len(x.present)+len(x.slots.words)+
		len(x.keys)+len(x.filter)+len(x.broad))
}

// shared returns a copy of an index, whose arrays no run owns.
func (x *Index) shared() *Index {
	y := *x
	y.Mem, y.bits, y.isShared = nil, bitRows{}, true
	y.offsets, y.narrow = slices.Clone(x.offsets), slices.Clone(x.narrow)
	y.present, y.keys = slices.Clone(x.present), slices.Clone(x.keys)
	y.filter, y.broad = slices.Clone(x.filter), slices.Clone(x.broad)
	y.slots.words = slices.Clone(x.slots.words)
	return &y
}

// release gives back the arrays of an index.
func (x *Index) release() {
	if x.isShared {
		x.Mem.Release(x.memory())
		return
	}
	work.Free(x.Mem, x.offsets)
	work.Free(x.Mem, x.present)
	work.Free(x.Mem, x.slots.words)
	work.Free(x.Mem, x.keys)
	work.Free(x.Mem, x.filter)
	work.Free(x.Mem, x.narrow)
	work.Free(x.Mem, x.broad)
}

// memory is what the arrays of pairs take.
func (f *FoldPairs) memory() int64 {
	return 4*int64(len(f.order)+len(f.starts)+len(f.from)+len(f.degrees)) + f.keys.memory() +
		f.sources.memory()
}

// shared returns a copy of pairs, whose arrays no run owns.
func (f *FoldPairs) shared() *FoldPairs {
	return &FoldPairs{keys: f.keys.shared(), sources: f.sources.shared(), pairs: f.pairs,
		blocks: f.blocks, order: slices.Clone(f.order), starts: slices.Clone(f.starts),
		from:    slices.Clone(f.from),
		degrees: slices.Clone(f.degrees), isShared: true}
}

// memory is what the keys of groups and the way to them take.
func (t *Groups) memory() int64 {
	return 8*int64(len(t.Keys)) + 4*int64(len(t.direct)) + 16*int64(len(t.slots))
}

// shared returns a copy of groups without accumulators, which are only looked
// up.
func (t *Groups) shared() *Groups {
	agg := &Grouping{Name: t.agg.Name, Key: t.agg.Key}
	return &Groups{agg: agg, N: t.N, Keys: slices.Clone(t.Keys), direct: slices.Clone(t.direct),
		slots: slices.Clone(t.slots), mask: t.mask}
}

// Len returns how many indexes are kept.
func (k *Kept) Len() (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, e := range k.indexes {
		if e.index != nil || e.pairs != nil {
			n++
		}
	}
	return n
}
