package store

import (
	"hash/maphash"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// interner numbers different strings by first appearance, for one goroutine.
// Loaders have one per worker and string column.
type interner struct {
	arena stringArena
	// table is open addressing over codes + 1; hashes keeps the upper half of
	// each string's hash beside it, so that few strings are compared.
	table  []uint32
	hashes []uint32
	// recent remembers short strings, which come again and again, by their bytes.
	recent [256]shortString
}

// shortString is a string of up to seven bytes with its code. Its word holds the
// bytes and, in the upper byte, the length plus one.
type shortString struct {
	word uint64
	code uint32
}

var hashSeed = maphash.MakeSeed()

func newInterner() *interner { return &interner{} }

func (t *interner) len() int          { return t.arena.len() }
func (t *interner) at(i int) string   { return t.arena.at(i) }
func (t *interner) sortedPrefix() int { return 0 }

// code returns the number of a string, which is copied when it is new.
func (t *interner) code(s string) uint32 {
	code, _ := t.find(s, func(string) bool { return true })
	return code
}

// codeOfText returns the number of text from outside. It refuses strings that
// are not valid UTF-8 or contain a zero byte.
func (t *interner) codeOfText(b []byte) (code uint32, ok bool) {
	return t.find(unsafe.String(unsafe.SliceData(b), len(b)), isText)
}

func isText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// find returns the number of a string. A new one is added when admit says so.
func (t *interner) find(s string, admit func(string) bool) (code uint32, ok bool) {
	if len(s) >= 8 {
		return t.findAny(s, admit)
	}
	word := uint64(len(s)+1) << 56
	for i := range len(s) {
		word |= uint64(s[i]) << (8 * i)
	}
	slot := &t.recent[mix(word)%uint64(len(t.recent))]
	if slot.word == word {
		return slot.code, true
	}
	if code, ok = t.findAny(s, admit); ok {
		*slot = shortString{word, code}
	}
	return code, ok
}

func (t *interner) findAny(s string, admit func(string) bool) (code uint32, ok bool) {
	if t.arena.len()*2 >= len(t.table) {
		t.rehash()
	}
	h := maphash.String(hashSeed, s)
	mask := uint64(len(t.table) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		entry := t.table[i]
		if entry == 0 {
			if !admit(s) {
				return 0, false
			}
			t.arena.add(s)
			code := uint32(t.arena.len() - 1)
			t.table[i], t.hashes[i] = code+1, uint32(h>>32)
			return code, true
		}
		if t.hashes[i] == uint32(h>>32) && t.arena.at(int(entry-1)) == s {
			return entry - 1, true
		}
	}
}

func (t *interner) rehash() {
	size := max(64, 2*len(t.table))
	t.table, t.hashes = make([]uint32, size), make([]uint32, size)
	mask := uint64(size - 1)
	for c := range t.arena.len() {
		h := maphash.String(hashSeed, t.arena.at(c))
		i := h & mask
		for t.table[i] != 0 {
			i = (i + 1) & mask
		}
		t.table[i], t.hashes[i] = uint32(c)+1, uint32(h>>32)
	}
}

// dropTable gives up the memory that only finding strings needs.
func (t *interner) dropTable() { t.table, t.hashes = nil, nil }
