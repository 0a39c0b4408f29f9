package tables

import (
	"math/bits"
	"sync/atomic"

	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// Token stands for the contents of an index. While an index has the same
// token, its runs only grow at their ends.
type Token struct{ _ byte }

// repeats remembers how many words of a run have extended a key. A rule of
// three atoms finds the same key and run once for each value of the variable
// that the first join drops. All but the words that have come since then make
// tuples that are in the table.
//
// It is a cache, which the workers share. An entry is one word: the key without
// the column of the runs, the key of the run, and the number of words. An entry
// may be older than its tuples, which another worker is still adding; they are
// there before the round ends.
type repeats struct {
	token   *Token
	shift   uint8
	entries []uint64
	lenBits uint // of an entry, the lowest
	hash    uint // what shifts a hash to the number of an entry
	stored  atomic.Int64
	useful  atomic.Bool
}

const (
	// leastRepeat is the shortest run that is worth an entry.
	leastRepeat = 24
	// leastLenBits is the room for the number of words. Of a longer run, the
	// first words are remembered.
	leastLenBits = 16
	minRepeats   = 1 << 12 // entries
	// keptRepeats is how many indexes a table remembers.
	keptRepeats = 8
)

// repeatsOf returns what the table remembers of the index of an extension, or
// nil if entries do not fit a word.
func (t *Table) repeatsOf(e *Extension) *repeats {
	used := uint(t.Layout.Bits) - uint(e.Bits) + uint(e.JoinBits)
	if t.set == nil || e.Token == nil || used+leastLenBits > 64 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.repeats {
		if p.token == e.Token && p.shift == e.Shift {
			return p
		}
	}
	p := &repeats{token: e.Token, shift: e.Shift, lenBits: 64 - used}
	p.resize(t, minRepeats)
	t.repeats = append(t.repeats, p)
	return p
}

// resize changes the number of entries, a power of two. Of entries that meet,
// one stays.
func (p *repeats) resize(t *Table, size int) {
	had := p.entries
	p.entries = work.Alloc[uint64](t.mem, t.Name, size)
	p.hash = uint(64 - bits.TrailingZeros(uint(size)))
	for _, v := range had {
		if v != 0 {
			*p.entry(v >> p.lenBits) = v
		}
	}
	work.Free(t.mem, had)
	p.stored.Store(0)
}

func (p *repeats) entry(tag uint64) *uint64 { return &p.entries[tag*work.MixA>>p.hash] }

// fitRepeats grows the memories that are full and useful, to half of the
// table's rows, and drops the oldest. No worker may run.
func (t *Table) fitRepeats() {
	for len(t.repeats) > keptRepeats {
		work.Free(t.mem, t.repeats[0].entries)
		t.repeats = append([]*repeats(nil), t.repeats[1:]...)
	}
	rows := t.old.rows + t.delta.rows
	for _, p := range t.repeats {
		if n := len(p.entries); p.useful.Load() && int(p.stored.Load()) > n/2 && 2*n <= rows/2 {
			p.resize(t, 2*n)
		}
	}
}

func (t *Table) freeRepeats() {
	for _, p := range t.repeats {
		work.Free(t.mem, p.entries)
	}
	t.repeats = nil
}

// The memory is tried for a few of many batches, and used for all while it
// finds an eighth of the runs.
const (
	repeatBatches = 64
	repeatTrials  = 2
)

// skipRepeats shortens the runs of n rows by the words that have extended the
// row's key before.
func (e *Extension) skipRepeats(t *Table, n int) {
	phase := e.batches % repeatBatches
	e.batches++
	if phase == 0 {
		e.tried, e.found = 0, 0
	}
	if phase >= repeatTrials && 8*e.found <= e.tried {
		return
	}
	p := t.repeatsOf(e)
	if p == nil {
		return
	}
	stored := 0
	most := uint64(1)<<p.lenBits - 1
	for i, c := range e.Runs.Count[:n] {
		if c < leastRepeat {
			continue
		}
		e.tried++
		tag := e.rest(e.Keys[i])<<e.JoinBits | e.Joins[i]
		entry := p.entry(tag)
		v, had := atomic.LoadUint64(entry), uint64(0)
		if v>>p.lenBits == tag {
			had = min(v&most, uint64(c))
		}
		if had > 0 {
			e.found++
		}
		// Half of the new tags replace another one: all of them together would
		// leave nothing of a cycle that is longer than the memory.
		if had < min(uint64(c), most) && (had > 0 || v == 0 || e.tried&1 == 0) {
			atomic.StoreUint64(entry, tag<<p.lenBits|min(uint64(c), most))
			stored++
		}
		e.Runs.Start[i] += uint32(had)
		e.Runs.Count[i] -= uint32(had)
	}
	p.stored.Add(int64(stored))
	if 8*e.found > e.tried {
		p.useful.Store(true)
	}
}
