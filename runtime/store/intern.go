package store

import (
	"cmp"
	"hash/maphash"
	"math"
	goruntime "runtime"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// Interner numbers strings by first appearance, for one goroutine. Equal
// strings get one number, unless nearly all strings are different. Then most
// strings are not looked up, because lookups dominate the time of a long list,
// and some strings get several numbers. If memory is scarce, every string is
// looked up. Loaders have an interner for each worker and string column.
type Interner struct {
	// parts have partStrings strings each, except the last. They avoid copying
	// a long arena as it grows.
	parts []stringArena
	n     int
	ends  int64        // reserved for the ends of the first part
	table []internSlot // open addressing, at most half full
	held  int          // strings in the table
	// tried counts the strings that the current trial has looked up, and fresh
	// those that it did not find. unseen is how many strings are still to be
	// added without a lookup before the next trial.
	tried, fresh, unseen int
	// recent is a cache of short strings, by their bytes.
	recent [256]shortString
	// touched keeps the compiler from removing reads that only warm the
	// processor's caches.
	touched byte

	// pages has the parts that lie in a file, and tablePages the table. They
	// are nil while these are in memory.
	pages      *space
	tablePages *space

	// ledger reserves memory under the name what; nil allows everything. Once
	// it has refused, err is set and codes are invalid.
	ledger *Ledger
	what   string
	err    error
}

// internSlot is a code plus one, or zero if it is free, with the hash of its
// string. The hash avoids most comparisons, and hashing again when the table
// grows.
type internSlot struct {
	code, hash uint32
}

// The bytes of a slot, and of the end of a string.
const (
	slotBytes = 8
	endBytes  = 4
)

// shortString is a string of up to seven bytes with its code. Its word holds
// the bytes and, in the upper byte, the length plus one.
type shortString struct {
	word uint64
	code uint32
}

var hashSeed = maphash.MakeSeed()

// partStrings is the number of strings in a part of an interner.
const partStrings = 1 << 16

// A trial looks up trialStrings strings. If at most one in trialRepeats is a
// repeat, the next trialStrings*trialRepeats strings are added without a
// lookup. Strings of trials stay in the table, so a later trial detects that a
// column has begun to repeat itself.
const (
	trialStrings = 1 << 12
	trialRepeats = 16
)

// NewInterner returns an interner whose memory the ledger reserves under the
// name what; a nil ledger allows everything.
func NewInterner(ledger *Ledger, what string) *Interner {
	return &Interner{ledger: ledger, what: what}
}

// Err returns the error of the ledger, once it has refused memory.
func (t *Interner) Err() error { return t.err }

func (t *Interner) len() int          { return t.n }
func (t *Interner) at(i int) string   { return t.parts[i/partStrings].at(i % partStrings) }
func (t *Interner) sortedPrefix() int { return 0 }

// take reserves memory, and reports whether the ledger allows it.
func (t *Interner) take(bytes int64) bool {
	if t.ledger != nil && t.err == nil {
		t.err = t.ledger.Take(t.what, bytes)
	}
	return t.err == nil
}

// add appends a string, and reports whether there is memory for it.
func (t *Interner) add(s string) bool {
	if t.n%partStrings == 0 {
		var part stringArena
		if last := len(t.parts) - 1; last >= 0 {
			// The strings of most columns have about the same mean length
			// everywhere.
			size := len(t.parts[last].data)
			size += size / 16
			if !t.grown(&part, size) {
				return false
			}
		}
		t.parts = append(t.parts, part)
	}
	part := &t.parts[len(t.parts)-1]
	if n := len(part.ends); len(t.parts) == 1 && part.owner == nil && n >= 16 && n&(n-1) == 0 {
		if !t.take(endBytes * int64(n)) {
			return false
		}
		t.ends += endBytes * int64(n)
	}
	if size := part.wanted(s); size > 0 && !t.enlarge(part, size) {
		return false
	}
	part.add(s)
	t.n++
	return true
}

// grown gives a part room for partStrings strings and size bytes of text, and
// reports whether there is memory for it.
func (t *Interner) grown(part *stringArena, size int) bool {
	bytes := endBytes*partStrings + int64(size)
	if !t.ledger.spills(bytes) {
		if !t.take(bytes) {
			return false
		}
		part.grow(partStrings, size)
		return true
	}
	return t.enlargeInPages(part, size)
}

// enlarge gives the text of a part a capacity of size bytes, and reports
// whether there is memory for it.
func (t *Interner) enlarge(part *stringArena, size int) bool {
	if part.owner != nil || t.ledger.spills(int64(size)) {
		return t.enlargeInPages(part, size)
	}
	had := cap(part.data)
	if !t.take(int64(size)) {
		return false
	}
	part.enlarge(size)
	t.ledger.Give(int64(had))
	return true
}

// enlargeInPages moves a part to pages of a file, with a capacity for text.
func (t *Interner) enlargeInPages(part *stringArena, size int) bool {
	if t.pages == nil {
		t.pages = t.ledger.newSpace(math.MaxInt64 / 2)
	}
	data, err := newIn[byte](t.pages, size)
	if t.err = cmp.Or(t.err, err); t.err != nil {
		return false
	}
	if part.owner == nil {
		ends, err := newIn[uint32](t.pages, partStrings)
		if t.err = cmp.Or(t.err, err); t.err != nil {
			return false
		}
		reserved := endBytes * int64(cap(part.ends))
		if len(t.parts) > 0 && part == &t.parts[0] {
			reserved, t.ends = t.ends, 0
		}
		t.ledger.Give(int64(cap(part.data)) + reserved)
		part.owner, part.ends = t.pages, append(ends[:0], part.ends...)
	}
	part.data = append(data[:0], part.data...)
	return true
}

// bytes returns the memory of the strings that are not in pages of a file.
func (t *Interner) bytes() (n int64) {
	for i := range t.parts {
		if t.parts[i].owner == nil {
			n += t.parts[i].bytes()
		}
	}
	return n
}

// textBytes returns the total length of the strings.
func (t *Interner) textBytes() (n int64) {
	for i := range t.parts {
		n += int64(len(t.parts[i].data))
	}
	return n
}

// Code returns the number of a string. A new string is copied.
func (t *Interner) Code(s string) uint32 {
	code, _ := t.find(s, func(string) bool { return true })
	return code
}

// CodeOfText returns the number of text from outside. It refuses strings that
// are not valid UTF-8 or contain a zero byte.
func (t *Interner) CodeOfText(b []byte) (code uint32, ok bool) {
	return t.find(unsafe.String(unsafe.SliceData(b), len(b)), IsText)
}

// IsText reports whether a string is valid UTF-8 without a zero byte.
func IsText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// find returns the number of a string. A new one is added if admit returns
// true.
func (t *Interner) find(s string, admit func(string) bool) (code uint32, ok bool) {
	if len(s) >= 8 {
		return t.findAny(s, t.hashOf(s), admit)
	}
	word := uint64(len(s)+1) << 56
	for i := range len(s) {
		word |= uint64(s[i]) << (8 * i)
	}
	slot := t.recentSlot(word)
	if slot.word == word {
		return slot.code, true
	}
	if code, ok = t.findAny(s, t.hashOf(s), admit); ok {
		*slot = shortString{word, code}
	}
	return code, ok
}

// recentSlot returns the cache slot of a short string.
func (t *Interner) recentSlot(word uint64) *shortString {
	return &t.recent[scalar.Mix(word)%uint64(len(t.recent))]
}

// hashOf returns the hash of a string if findAny needs it.
func (t *Interner) hashOf(s string) uint64 {
	if t.unseen > 0 {
		return 0
	}
	return maphash.String(hashSeed, s)
}

// findAny is find for strings of any length. The hash may be 0 while strings
// are added without a lookup.
func (t *Interner) findAny(
	s string, hash uint64, admit func(string) bool,
) (code uint32, ok bool) {
	if t.err != nil {
		return 0, true
	}
	if t.unseen > 0 {
		t.unseen--
		if !admit(s) {
			return 0, false
		}
		if !t.add(s) {
			return 0, true
		}
		return uint32(t.n - 1), true
	}
	if t.held*2 >= len(t.table) && !t.grow() {
		return 0, true
	}
	t.tried++
	h := uint32(hash)
	mask := uint32(len(t.table) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		slot := &t.table[i]
		if slot.code == 0 {
			if !admit(s) {
				return 0, false
			}
			if !t.add(s) {
				return 0, true
			}
			code = uint32(t.n - 1)
			*slot = internSlot{code: code + 1, hash: h}
			t.held++
			t.fresh++
			break
		}
		if slot.hash == h && t.at(int(slot.code-1)) == s {
			code = slot.code - 1
			break
		}
	}
	if t.tried == trialStrings {
		if t.tried-t.fresh <= trialStrings/trialRepeats && !t.ledger.scarce() {
			t.unseen = trialStrings * trialRepeats
		}
		t.tried, t.fresh = 0, 0
	}
	return code, true
}

// grow doubles the table, and reports whether there is memory for it.
func (t *Interner) grow() bool {
	old := t.table
	slots := max(64, 2*len(old))
	was := t.tablePages
	t.tablePages = t.ledger.newSpace(slotBytes * int64(slots))
	if t.tablePages == nil && !t.take(slotBytes*int64(slots)) {
		return false
	}
	table, err := newIn[internSlot](t.tablePages, slots)
	if t.err = cmp.Or(t.err, err); t.err != nil {
		return false
	}
	t.table = table
	mask := uint32(len(t.table) - 1)
	for _, slot := range old {
		if slot.code == 0 {
			continue
		}
		i := slot.hash & mask
		for t.table[i].code != 0 {
			i = (i + 1) & mask
		}
		t.table[i] = slot
	}
	if was == nil {
		t.ledger.Give(slotBytes * int64(len(old)))
	}
	goruntime.KeepAlive(was)
	return true
}

// DropTable frees the memory that only lookups need.
func (t *Interner) DropTable() {
	if t.tablePages == nil {
		t.ledger.Give(slotBytes * int64(len(t.table)))
	}
	t.table, t.tablePages = nil, nil
}
